//! Both programs before a real keyserver, SKS: `keyhoard`, and `gpg-keyhoard` beside gpg with dirmngr.

use crate::gpg_network::{UNKNOWN, ann_and_bob, assert_same_words, both};
use crate::network_user::User;
use harness::web::Sks;
use harness::{Gnupg, OwnKey, Run};

fn certificates(keys: &[OwnKey]) -> Vec<u8> {
    keys.iter().flat_map(OwnKey::certificate).collect()
}

#[test]
fn a_key_is_fetched_from_a_real_keyserver_by_fingerprint_key_id_and_address() {
    let keys = ann_and_bob();
    let server = Sks::with(&certificates(&keys));
    let fetch = |user: &User, names: &[&str]| {
        user.run(&[&["fetch", "--no-wkd", "--from", &server.hkp()], names].concat()).output()
    };
    let ann = keys[0].fingerprint();
    for name in [ann, &ann[24..], "ann@example.org"] {
        let user = User::new();
        let done = fetch(&user, &[name]);
        assert_eq!(done.code, Some(0), "{name}: {}", done.errors());
        assert_eq!(user.run(&["export"]).succeed().stdout, keys[0].certificate(), "{name}");
    }
    let user = User::new();
    let done = fetch(&user, &[UNKNOWN, "nobody@example.org", keys[1].fingerprint()]);
    assert_eq!(done.code, Some(1), "{}", done.errors());
    assert_eq!(done.errors().matches("not found").count(), 2, "{}", done.errors());
    assert_eq!(user.count(), 1);
    // This server knows no keys of version 6, and does not say so: nor is it said that there is no such key.
    let done = fetch(&user, &[&UNKNOWN.repeat(2)[..64]]);
    assert_eq!(done.code, Some(2), "{}", done.errors());
    assert!(!done.errors().contains(": not found"), "{}", done.errors());
}

#[test]
fn a_real_keyserver_is_searched_without_taking_anything() {
    let keys = ann_and_bob();
    let (server, user) = (Sks::with(&certificates(&keys)), User::new());
    let search = |text: &str| user.run(&["search", "--json", "--on", &server.hkp(), text]).output();
    let found = search("example.org");
    assert_eq!(found.code, Some(0), "{}", found.errors());
    let mut ids: Vec<String> =
        found.json_lines().iter().filter_map(|line| Some(line["id"].as_str()?.to_owned())).collect();
    ids.sort_unstable();
    let mut expected = keys.each_ref().map(|key| key.fingerprint().to_owned());
    expected.sort_unstable();
    assert_eq!(ids, expected);
    let ann = &search("ann@example.org").json_lines()[0];
    assert_eq!((&ann["algorithm_number"], &ann["created"]), (&22.into(), &"2024-01-01T00:00:00Z".into()));
    assert_eq!(ann["user_ids"][0]["text"], "Ann <ann@example.org>");
    assert_eq!(search("nobody").code, Some(1));
    assert_eq!(user.count(), 0);
}

#[test]
fn what_is_published_on_a_real_keyserver_comes_back_and_a_refresh_brings_what_is_new() {
    let (keys, server) = (ann_and_bob(), Sks::with(&[]));
    let [publisher, reader] = [User::new(), User::new()]
        .map(|user| user.with_network(&format!("keyservers = [\"{}\"]\nrefresh-pause = 0", server.hkp())));
    let publish = |keys: &[OwnKey]| {
        publisher.import(certificates(keys));
        for key in keys {
            publisher.run(&["publish", "--yes", key.fingerprint(), "--to", &server.hkp()]).succeed();
        }
    };
    publish(&keys);
    reader.run(&["fetch", keys[0].fingerprint(), keys[1].fingerprint()]).succeed();
    assert_eq!(reader.run(&["export"]).succeed().stdout, certificates(&keys));
    keys[0].add_user_id("20240201T000000!", "Ann <ann@example.com>");
    publisher.import(keys[1].revocation());
    publish(&keys);
    let refresh = reader.run(&["refresh", "--again", "--json"]).succeed().json_lines();
    assert_eq!(refresh[0]["fingerprint"], keys[1].fingerprint());
    assert_eq!(refresh[0]["new_revocations"], 1);
    assert_eq!(
        (&refresh[1]["fingerprint"], &refresh[1]["new_user_ids"]),
        (&keys[0].fingerprint().into(), &1.into())
    );
    let sums = ["asked", "changed", "unknown", "failed"].map(|name| refresh[2][name].as_u64());
    assert_eq!(sums, [2, 2, 0, 0].map(Some));
}

#[test]
fn a_key_of_version_6_keeps_no_other_from_being_refreshed() {
    let (keys, user) = (ann_and_bob(), User::new());
    user.import(certificates(&keys));
    let secret = user.run(&["sop", "generate-key", "--profile=rfc9580", "Six <six@example.org>"]).succeed();
    user.import(user.run(&["sop", "extract-cert"]).stdin(secret.stdout).succeed().stdout);
    keys[0].add_user_id("20240201T000000!", "Ann <ann@example.com>");
    let server = Sks::with(&certificates(&keys));
    let done = user.run(&["refresh", "--json", "--pause", "0", "--from", &server.hkp()]).output();
    assert_eq!(done.code, Some(1), "{}", done.errors());
    let said = "the server does not say whether it offers keys of version 6";
    assert_eq!(done.errors().matches(said).count(), 1, "{}", done.errors());
    let lines = done.json_lines();
    let sums = ["asked", "changed", "unknown", "failed"];
    let sums = sums.map(|name| lines.last().and_then(|line| line[name].as_u64()));
    assert_eq!(sums, [2, 1, 0, 1].map(Some));
    // With gpg-keyhoard.
    keys[1].add_user_id("20240201T000000!", "Bob <bob@example.com>");
    let server = Sks::with(&certificates(&keys));
    let refresh = Run::gpg_keyhoard(&user.home).args(["--keyserver", &server.hkp(), "--refresh-keys"]);
    let done = refresh.succeed();
    assert!(done.errors().contains(said) && done.errors().contains("new user IDs: 1"), "{}", done.errors());
}

#[test]
fn oracle_a_real_keyserver_is_used_as_gpg_uses_it() {
    for gnupg in Gnupg::ALL {
        let (keys, both) = (ann_and_bob(), both(gnupg));
        let server = Sks::with(&[]);
        let address = server.hkp();
        let same = |arguments: &[&str], answers: &str| {
            assert_same_words(&both, &[&["--keyserver", &address], arguments].concat(), answers);
        };
        let [ann, bob] = [keys[0].fingerprint(), keys[1].fingerprint()];
        let receive = |names: &[&str]| same(&[&["--recv-keys"], names].concat(), "");
        let search = |options: &[&str], text: &str, answers: &str| {
            same(&[options, &["--search-keys", text]].concat(), answers);
        };
        let asked = ["--no-batch", "--no-tty", "--command-fd", "0"];
        // An empty server.
        receive(&[ann]);
        search(&["--with-colons"], "example.org", "");
        search(&asked, "example.org", "q\n");
        let file = both.gpg.write("keys.pgp", certificates(&keys));
        both.import(&file);
        same(&["--send-keys", ann, bob], "");
        same(&["--refresh-keys"], "");
        // The server has news.
        keys[0].add_user_id("20240201T000000!", "Ann <ann@example.com>");
        let changed = [keys[0].certificate(), keys[1].certificate(), keys[1].revocation()].concat();
        let sender = User::new();
        sender.import(changed);
        for key in [ann, bob] {
            sender.run(&["publish", "--yes", key, "--to", &address]).succeed();
        }
        same(&["--refresh-keys", "bob@example.org"], "");
        same(&["--refresh-keys"], "");
        receive(&[UNKNOWN]);
        receive(&[ann, UNKNOWN, &bob[24..]]);
        search(&asked, "ann@example.org", "1\n");
        search(&asked, "nobody", "q\n");
        both.assert_same_output(["--list-keys"]);
    }
}
