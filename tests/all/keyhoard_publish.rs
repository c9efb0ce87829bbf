//! `keyhoard publish`: sends keys to real servers on loopback, and writes Web Key Directories.

use std::fs;
use std::path::Path;

use crate::network_user::{User, ann};
use harness::web::Keyserver;
use harness::{Home, OwnKey, Run, Terminal};
use packet_builder::{Certificate, Key, Packet, Signature, Signed, Subpacket};

#[test]
fn a_certificate_is_published_without_what_is_not_exportable() {
    let (key, bob) = (ann(), OwnKey::new("Bob <bob@example.org>"));
    bob.import(key.certificate());
    bob.certify_locally("20240301T000000!", key.fingerprint());
    let user = User::new();
    let with_local = bob.certificate_with_local_signatures_of(key.fingerprint());
    user.run(&["import", "--local-signatures"]).stdin(with_local).succeed();
    let server = Keyserver::with(&[]);
    let unasked = user.run(&["publish", key.fingerprint(), "--to", &server.hkp()]).output();
    assert_eq!(unasked.code, Some(2));
    assert!(unasked.errors().contains("use --yes"), "{}", unasked.errors());
    assert_eq!(server.take_requests(), Vec::<String>::new());
    let exported = user.run(&["export"]).succeed().stdout;
    let with_local = user.run(&["export", "--local-signatures"]).succeed().stdout;
    assert_ne!(exported, with_local, "there is a local signature");
    user.run(&["publish", "--yes", key.fingerprint(), "--to", &server.hkp()]).succeed();
    assert_eq!(server.take_requests_for_keys(), ["/pks/add"]);
    assert_eq!(uploaded(&server), exported);
    let other = User::new();
    other.run(&["fetch", "--from", &server.hkp(), key.fingerprint()]).succeed();
    assert_eq!(other.run(&["export"]).succeed().stdout, key.certificate());

    let server = Keyserver::with(&[]);
    let sent = user.run(&["key", "publish", "--yes", "--json", key.fingerprint(), "--to", &server.vks()]);
    let sent = sent.succeed().json_lines();
    let addresses = sent[0]["addresses"].as_array().expect("addresses");
    assert!(
        addresses.iter().any(|one| one["address"] == "ann@example.org" && one["state"] == "pending"),
        "{sent:?}"
    );
    assert_eq!(server.take_requests(), ["/vks/v1/upload", "/vks/v1/request-verify"]);
    assert_eq!(uploaded(&server), exported);
}

#[test]
fn a_server_that_read_another_key_than_was_sent_is_asked_for_no_mail() {
    let (key, user, server) = (ann(), User::new(), Keyserver::with(&[]));
    user.import(key.certificate());
    server.mistake_uploads();
    let sent = user.run(&["publish", "--yes", key.fingerprint(), "--to", &server.vks()]).output();
    assert_eq!(sent.code, Some(2));
    assert!(sent.errors().contains("the key that was sent"), "{}", sent.errors());
    assert_eq!(server.take_requests(), ["/vks/v1/upload"]);
}

#[test]
fn nothing_is_sent_to_a_server_before_the_user_has_agreed() {
    let (key, user, server) = (ann(), User::new(), Keyserver::with(&[]));
    user.import(key.certificate());
    let command = format!("$KEYHOARD publish ann@example.org --to {}", server.hkp());
    let question = format!("Send 1 certificate to {}? It cannot be taken back. [y/N] ", server.hkp());
    for (answer, code, requests) in
        [("\n", 1, &[][..]), ("n\n", 1, &[]), ("y\n", 0, &["OPTIONS /pks/v2/certs", "/pks/add"])]
    {
        let mut terminal = Terminal::new(&user.home, &command);
        terminal.answer(&question, answer.as_bytes());
        let (ended, shown) = terminal.end();
        assert_eq!(ended, Some(code), "{shown}");
        assert_eq!(server.take_requests(), requests);
    }
}

/// Returns the one certificate that was sent to a server, as it came.
fn uploaded(server: &Keyserver) -> Vec<u8> {
    let uploads = server.take_uploads();
    assert_eq!(uploads.len(), 1);
    Run::gpg(&Home::new()).arg("--dearmor").stdin(uploads[0].clone()).succeed().stdout
}

#[test]
fn what_cannot_be_read_and_user_ids_with_local_signatures_alone_are_not_published() {
    let key = Key::ed25519("Ann");
    let mut certificate = Certificate::new(&key, "Ann <ann@example.org>");
    let public = User::new();
    public.import(certificate.bytes());
    let public = public.run(&["export"]).succeed().stdout;
    let local = "Ann at home <ann@home.example>";
    let signature = Signature::by(&key, 0x13).with(Subpacket::exportable(false));
    certificate
        .add(Packet::new(2, [9, 1, 2, 3]))
        .add(Packet::user_id(local))
        .add(signature.sign(&key, &Signed::UserId(&key, local.as_bytes())));
    let user = User::new();
    user.run(&["import", "--local-signatures"]).stdin(certificate.bytes()).succeed();
    let exported = user.run(&["export", "--local-signatures"]).succeed().stdout;
    let contains = |part: &[u8]| exported.windows(part.len()).any(|window| window == part);
    assert!(contains(&[9, 1, 2, 3]), "the signature of a version to come is here");
    assert!(contains(local.as_bytes()), "the user ID is here");
    for address in [Keyserver::hkp, Keyserver::vks] {
        let server = Keyserver::with(&[]);
        user.run(&["publish", "--yes", &key.fingerprint_text(), "--to", &address(&server)]).succeed();
        assert_eq!(uploaded(&server), public);
    }
    let made = Home::new();
    let path = made.path().to_str().expect("a path in UTF-8");
    let written =
        user.run(&["publish", "--json", &key.fingerprint_text(), "--wkd", path]).succeed().json_lines();
    assert_eq!(written.len(), 1, "{written:?}");
    let file = written[0]["file"].as_str().expect("a path");
    assert_eq!(fs::read(file).expect("a file"), public);
}

#[test]
fn a_directory_has_a_policy_and_no_user_id_of_another_address_or_that_was_revoked() {
    let key = ann();
    key.add_user_id("20240201T000000!", "Ann at home <ann@home.example>");
    key.add_user_id("20240202T000000!", "Ann as was <old@example.org>");
    key.revoke_user_id("20240301T000000!", "Ann as was <old@example.org>");
    let (user, made) = (User::new(), Home::new());
    user.import(key.certificate());
    let path = made.path().to_str().expect("a path in UTF-8");
    let written = user.run(&["publish", "--json", key.fingerprint(), "--wkd", path]).succeed().json_lines();
    let addresses: Vec<&str> = written.iter().filter_map(|line| line["address"].as_str()).collect();
    assert_eq!(addresses, ["ann@example.org", "ann@home.example"]);
    for line in &written {
        let file = Path::new(line["file"].as_str().expect("a path"));
        let domain = file.ancestors().nth(2).expect("a directory of the domain");
        assert_eq!(fs::read(domain.join("policy")).expect("a policy"), b"");
        let listed = Run::gpg(&Home::new()).args(["--with-colons", "--show-keys"]).arg(file).succeed().text();
        let user_ids: Vec<&str> = listed.lines().filter(|line| line.starts_with("uid:")).collect();
        assert_eq!(user_ids.len(), 1, "{listed}");
        assert!(user_ids[0].contains(line["address"].as_str().expect("an address")), "{listed}");
    }
    let both = user.run(&["publish", key.fingerprint(), "--direct", "--wkd", path]).output();
    assert_eq!(both.code, Some(2));
    assert!(both.errors().contains("home.example"), "{}", both.errors());
}
