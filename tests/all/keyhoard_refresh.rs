//! `keyhoard refresh`: asks real servers on loopback again for what is here.

use std::fs;

use crate::network_user::{User, ann, user_with_news, web_server_with};
use harness::web::Keyserver;
use packet_builder::{Certificate, Key, Packet, Signature, Signed};

#[test]
fn one_certificate_that_fails_among_a_thousand_is_named_and_the_others_are_refreshed() {
    let (user, server) = (User::new(), Keyserver::with(&[]));
    let user = user.with_network(&format!("keyservers = [\"{}\"]", server.hkp()));
    let keys: Vec<Key> = (0..1000).map(|number| Key::ed25519(&format!("Key {number}"))).collect();
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for (number, key) in keys.iter().enumerate() {
        let mut certificate = Certificate::new(key, "Old <old@example.org>");
        before.extend(certificate.bytes());
        if number % 100 == 0 {
            let revocation = Signature::by(key, 0x20).sign(key, &Signed::Key(key));
            certificate.packets.insert(1, revocation);
        } else {
            let signature = Signature::by(key, 0x13).sign(key, &Signed::UserId(key, b"New"));
            certificate.add(Packet::user_id("New")).add(signature);
        }
        after.extend(certificate.bytes());
    }
    user.import(before);
    server.add(&after);
    let failing = keys[1].fingerprint_text();
    server.fail_for(&failing);
    let done = user.run(&["refresh", "--json"]).output();
    assert_eq!(done.code, Some(1), "not everything was asked for: {}", done.errors());
    let naming = done.errors().lines().filter(|line| line.contains(&failing)).count();
    assert_eq!(naming, 1, "{}", done.errors());
    let lines = done.json_lines();
    let summary = lines.last().expect("a summary");
    assert_eq!(
        (&summary["asked"], &summary["failed"], &summary["changed"]),
        (&999.into(), &1.into(), &999.into())
    );
    assert_eq!((&summary["revoked"], &summary["complete"]), (&10.into(), &false.into()));
    let revoked = |line: &serde_json::Value| line["outcome"] == "changed" && line["new_revocations"] == 1;
    assert!(lines[..10].iter().all(revoked), "new revocations first: {:?}", &lines[..11]);
    assert!(!lines[10..].iter().any(revoked));
    // The next one asks for it alone.
    server.take_requests();
    server.fail_for("nothing");
    user.run(&["refresh"]).succeed();
    let requests = server.take_requests_for_keys();
    assert_eq!(requests.len(), 1, "{requests:?}");
    assert!(requests[0].contains(&failing));
}

#[test]
fn a_refresh_reports_new_revocations_first_and_can_be_taken_back() {
    let (user, server, keys) = user_with_news();
    let lines = user.run(&["refresh", "--json"]).succeed().json_lines();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert_eq!(lines[0]["fingerprint"], keys[1].fingerprint());
    assert_eq!((&lines[0]["new_revocations"], &lines[0]["outcome"]), (&1.into(), &"changed".into()));
    assert_eq!(
        (&lines[1]["fingerprint"], &lines[1]["new_user_ids"]),
        (&keys[0].fingerprint().into(), &1.into())
    );
    let sums = ["asked", "changed", "revoked", "unknown", "failed"].map(|name| lines[2][name].as_u64());
    assert_eq!(sums, [3, 2, 1, 1, 0].map(Some));
    let mut asked = server.take_requests_for_keys();
    asked.sort();
    let mut expected: Vec<String> = keys
        .iter()
        .map(|key| format!("/pks/lookup?op=get&options=mr&search=0x{}", key.fingerprint()))
        .collect();
    expected.sort();
    assert_eq!(asked, expected);
    user.run(&["undo"]).succeed();
    let shown = user.run(&["show", "--json", keys[0].fingerprint()]).succeed().json_lines();
    assert_eq!(shown[0]["user_ids"].as_array().map(Vec::len), Some(1), "the user ID is taken back");
    let shown = user.run(&["show", "--json", keys[1].fingerprint()]).succeed().json_lines();
    assert_eq!(shown[0]["standing"], "revoked", "a revocation stays unless its removal is requested");
}

#[test]
fn what_two_servers_know_is_counted_once() {
    let (user, server, keys) = user_with_news();
    let other = Keyserver::with(&[keys[0].certificate(), keys[1].certificate()].concat());
    let table = format!("keyservers = [\"{}\", \"{}\"]", server.hkp(), other.hkp());
    let user = user.with_network(&table);
    let lines = user.run(&["refresh", "--json"]).succeed().json_lines();
    assert_eq!(lines.len(), 3, "{lines:?}");
    let sums = ["asked", "changed", "revoked", "unchanged", "unknown", "failed"];
    assert_eq!(sums.map(|name| lines[2][name].as_u64()), [3, 2, 1, 0, 1, 0].map(Some));
    let lines = user.run(&["refresh", "--again", "--json"]).succeed().json_lines();
    assert_eq!(sums.map(|name| lines[0][name].as_u64()), [3, 0, 0, 2, 1, 0].map(Some));
    assert_eq!((server.take_requests_for_keys().len(), other.take_requests_for_keys().len()), (6, 6));
}

#[test]
fn a_refresh_does_not_say_where_a_certificate_came_from() {
    let (user, _server, keys) = user_with_news();
    user.run(&["refresh"]).succeed();
    for key in &keys {
        let shown = &user.run(&["show", "--json", key.fingerprint()]).succeed().json_lines()[0];
        let origin = &shown["origin"];
        assert_eq!((origin["kind"].as_u64(), origin["url"].as_str()), (Some(0), None), "{origin}");
        assert_eq!(origin["updated"], "2026-01-01T00:00:00Z");
    }
}

#[test]
fn a_refresh_without_keyservers_says_that_there_is_nobody_to_ask() {
    let (user, _server, _) = user_with_news();
    let user = user.with_network("keyservers = []");
    let done = user.run(&["refresh"]).output();
    assert_eq!(done.code, Some(1), "{}", done.errors());
    assert!(
        done.text().contains("3  without a server to ask: no keyserver is configured"),
        "{}",
        done.text()
    );
    assert!(!done.text().contains("nobody answered"), "{}", done.text());
    let user = user.with_network("refresh-pause = -1");
    assert_eq!(user.run(&["refresh"]).output().code, Some(2));
}

#[test]
fn a_refresh_asks_a_directory_for_the_address_and_takes_no_other() {
    let key = ann();
    key.add_user_id("20240201T000000!", "Ann elsewhere <ann@elsewhere.example>");
    let nginx = web_server_with(&key, &[]);
    let user = User::new().with_web_server(&nginx, &["openpgpkey.example.org"], "keyservers = []");
    user.run(&["fetch", "Ann@Example.org"]).succeed();
    // From now on the server offers the whole certificate, with a third user ID.
    key.add_user_id("20240301T000000!", "Ann at work <ann@work.example>");
    let files = nginx.root().join(".well-known/openpgpkey/example.org/hu");
    let file = fs::read_dir(&files).expect("a directory").next().expect("a file").expect("a file").path();
    fs::write(&file, key.certificate()).expect("the root is writable");
    let user_ids = || {
        let shown = &user.run(&["show", "--json", key.fingerprint()]).succeed().json_lines()[0];
        shown["user_ids"].as_array().map(Vec::len)
    };
    user.run(&["refresh", "--again", "--pause", "0"]).succeed();
    assert_eq!(user_ids(), Some(1));
    assert_eq!(nginx.requests().matches("?l=Ann HTTP").count(), 2, "{}", nginx.requests());
    // What else the certificate has is not told to this domain, nor is another domain asked.
    user.import(key.certificate());
    assert_eq!(user_ids(), Some(3));
    user.run(&["refresh", "--again", "--pause", "0"]).succeed();
    assert_eq!(nginx.requests().matches("?l=Ann HTTP").count(), 3, "{}", nginx.requests());
}

#[test]
fn nothing_is_asked_for_twice_a_day() {
    let (user, server, _) = user_with_news();
    user.run(&["refresh"]).succeed();
    assert_eq!(server.take_requests_for_keys().len(), 3);
    let again = user.run(&["refresh", "--json"]).at("20260101T235959").succeed().json_lines();
    assert_eq!((&again[0]["asked"], &again[0]["too_soon"]), (&0.into(), &3.into()));
    assert_eq!(server.take_requests_for_keys().len(), 0);
    user.run(&["refresh", "--again"]).succeed();
    assert_eq!(server.take_requests_for_keys().len(), 3);
    user.run(&["refresh"]).at("20260102T000001").succeed();
    assert_eq!(server.take_requests_for_keys().len(), 3);
}

#[test]
fn what_a_server_failed_to_answer_is_asked_for_again() {
    let (user, server, _) = user_with_news();
    let user = user.with_network(&format!("keyservers = [\"{}\", \"hkp://127.0.0.1:1\"]", server.hkp()));
    for asked in [3, 3] {
        user.run(&["refresh"]).output();
        assert_eq!(server.take_requests_for_keys().len(), asked);
    }
    let user = user.with_network(&format!("keyservers = [\"{}\"]", server.hkp()));
    user.run(&["refresh"]).succeed();
    assert_eq!(server.take_requests_for_keys().len(), 3);
    user.run(&["refresh"]).output();
    assert_eq!(server.take_requests_for_keys().len(), 0);
}

#[test]
fn an_undo_takes_back_where_a_certificate_came_from_and_not_that_it_was_asked_for() {
    let (user, server, keys) = user_with_news();
    let name = keys[0].fingerprint();
    let origin = || {
        let origin = &user.run(&["show", "--json", name]).succeed().json_lines()[0]["origin"];
        (origin["url"].as_str().map(str::to_owned), origin["updated"].as_str().map(str::to_owned))
    };
    let asked_today = Some("2026-01-01T00:00:00Z".to_owned());
    user.run(&["fetch", "--from", &server.hkp(), name]).succeed();
    assert_eq!(origin(), (Some(server.hkp()), asked_today.clone()));
    user.run(&["undo"]).succeed();
    assert_eq!(origin(), (None, asked_today));
    server.take_requests();
    user.run(&["refresh"]).succeed();
    let asked = server.take_requests_for_keys();
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert!(!asked.iter().any(|request| request.contains(name)), "{asked:?}");
}

#[test]
fn a_refresh_in_several_batches_is_taken_back_at_once() {
    let keys: Vec<Key> = (0..BATCH + 2).map(|number| Key::ed25519(&format!("Key {number}"))).collect();
    let (user, server) = (User::new(), Keyserver::with(&[]));
    let user = user.with_network(&format!("keyservers = [\"{}\"]", server.hkp()));
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for key in &keys {
        let mut certificate = Certificate::new(key, "Old <old@example.org>");
        before.extend(certificate.bytes());
        let name = "New <new@example.org>";
        let signature = Signature::by(key, 0x13).sign(key, &Signed::UserId(key, name.as_bytes()));
        certificate.add(Packet::user_id(name)).add(signature);
        after.extend(certificate.bytes());
    }
    user.import(before);
    server.add(&after);
    let imported = user.run(&["export"]).succeed().stdout;
    let lines = user.run(&["refresh", "--json"]).succeed().json_lines();
    assert_eq!(lines.last().map(|line| &line["changed"]), Some(&keys.len().into()));
    assert_eq!(user.run(&["log", "--json"]).succeed().json_lines().len(), 2);
    user.run(&["undo"]).succeed();
    assert_eq!(user.run(&["export"]).succeed().stdout, imported);
}

/// A refresh takes in so many answers at once.
const BATCH: usize = 256;

#[test]
fn keys_are_asked_for_in_another_order_each_time() {
    let (user, server, _) = user_with_news();
    let mut orders = std::collections::HashSet::new();
    for _ in 0..15 {
        user.run(&["refresh", "--again", "--quiet"]).succeed();
        orders.insert(server.take_requests_for_keys());
    }
    // Six orders are possible; fifteen times the same one is as likely as 1 in 10^10.
    assert!(orders.len() > 1, "{orders:?}");
}
