//! `keyhoard fetch`, `search --on`, `publish`, `refresh`: keys over the network, from real servers on loopback.

use std::fs;
use std::path::{Path, PathBuf};

use harness::web::{Keyserver, Nginx, Socks, Version2};
use harness::{Home, Output, OwnKey, Run, Terminal};
use packet_builder::{Certificate, Key, Packet, Signature, Signed, Subpacket};

/// A user with a configuration of the network.
struct User {
    home: Home,
    configuration: Home,
    authority: Option<PathBuf>,
}

impl User {
    fn new() -> User {
        User { home: Home::new(), configuration: Home::new(), authority: None }
    }

    /// Sets the table `network` of the configuration.
    fn with_network(self, table: &str) -> User {
        let directory = self.configuration.path().join("keyhoard");
        fs::create_dir_all(&directory).expect("the home is writable");
        fs::write(directory.join("config.toml"), format!("[network]\n{table}"))
            .expect("the home is writable");
        self
    }

    /// Trusts the authority of a web server, which these names stand for.
    fn with_web_server(mut self, server: &Nginx, names: &[&str], table: &str) -> User {
        let addresses: String =
            names.iter().map(|name| format!("\"{name}\" = \"127.0.0.1:{}\"\n", server.port())).collect();
        self.authority = Some(server.authority());
        self.with_network(&format!("{table}\n[network.addresses]\n{addresses}"))
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let run = Run::keyhoard(&self.home).at("20260101T000000").args(arguments);
        let run = run.env("XDG_CONFIG_HOME", self.configuration.path());
        match &self.authority {
            Some(authority) => run.env("SSL_CERT_FILE", authority),
            None => run,
        }
    }

    fn import(&self, certificates: Vec<u8>) {
        self.run(&["import"]).stdin(certificates).succeed();
    }

    fn count(&self) -> usize {
        self.run(&["list", "--json"]).output().text().lines().count()
    }
}

fn ann() -> OwnKey {
    OwnKey::new("Ann <ann@example.org>")
}

/// Makes a web server with the Web Key Directory of a key's addresses.
fn web_server_with(key: &OwnKey, options: &[&str]) -> Nginx {
    let names = ["example.org", "openpgpkey.example.org", "keys.example.org", "127.0.0.1"];
    let nginx = Nginx::start(&names, "");
    let publisher = User::new();
    publisher.import(key.certificate());
    let root = nginx.root();
    let root = root.to_str().expect("a path in UTF-8");
    publisher
        .run(&["publish", key.fingerprint(), "--wkd", root, "--domain", "example.org"])
        .args(options)
        .succeed();
    nginx
}

#[test]
fn an_address_is_found_in_the_directory_of_its_domain_with_its_own_user_ids_alone() {
    let key = ann();
    key.add_user_id("20240201T000000!", "Ann elsewhere <ann@elsewhere.example>");
    let nginx = Nginx::start(&["openpgpkey.example.org"], "");
    // A server that offers more than the address: the whole certificate.
    let directory = nginx.root().join(".well-known/openpgpkey/example.org/hu");
    fs::create_dir_all(&directory).expect("the root is writable");
    let publisher = User::new();
    publisher.import(key.certificate());
    let made = Home::new();
    let path = made.path().to_str().expect("a path in UTF-8");
    let written =
        publisher.run(&["publish", "--json", key.fingerprint(), "--wkd", path]).succeed().json_lines();
    assert_eq!(written.len(), 2, "a file for each address");
    let file = written.iter().find(|line| line["address"] == "ann@example.org").expect("the address");
    let name = Path::new(file["file"].as_str().expect("a path")).file_name().expect("a name").to_owned();
    fs::write(directory.join(&name), key.certificate()).expect("the root is writable");

    let user = User::new().with_web_server(&nginx, &["openpgpkey.example.org"], "");
    let done = user.run(&["fetch", "--json", "Ann@Example.org"]).succeed().json_lines();
    assert_eq!((&done[0]["result"], &done[0]["source"]), (&"answer".into(), &"wkd".into()));
    assert_eq!(done[0]["certificates"][0]["outcome"], "new");
    let shown = &user.run(&["show", "--json", key.fingerprint()]).succeed().json_lines()[0];
    let user_ids = shown["user_ids"].as_array().expect("user IDs");
    assert_eq!(user_ids.len(), 1, "{user_ids:?}");
    assert_eq!(user_ids[0]["text"], "Ann <ann@example.org>");
    assert_eq!((shown["origin"]["kind"].as_u64(), shown["origin"]["name"].as_str()), (Some(4), Some("WKD")));
    assert_eq!(shown["origin"]["updated"], "2026-01-01T00:00:00Z");
    let log = user.run(&["log"]).succeed().text();
    assert!(log.contains("fetch --json Ann@Example.org (from https://openpgpkey.example.org/"), "{log}");
    let requests = nginx.requests();
    let asked =
        format!("\"GET /.well-known/openpgpkey/example.org/hu/{}?l=Ann HTTP/1.1\" 200", name.display());
    assert!(requests.contains(&asked), "{requests}");
    // Neither a name of the program nor a page that led there.
    assert!(requests.lines().all(|line| line.ends_with("\"-\" \"-\"")), "{requests}");
    user.run(&["undo"]).succeed();
    assert_eq!(user.count(), 0, "undo takes it back");
}

#[test]
fn a_domain_without_a_server_for_keys_is_asked_itself() {
    let key = ann();
    let nginx = web_server_with(&key, &["--direct"]);
    assert!(nginx.root().join(".well-known/openpgpkey/policy").exists(), "there is a policy");
    let table = "[network.addresses]\n\"openpgpkey.example.org\" = \"none\"";
    let user = User { authority: Some(nginx.authority()), ..User::new() };
    let user = user.with_network(&format!("{table}\n\"example.org\" = \"127.0.0.1:{}\"", nginx.port()));
    user.run(&["fetch", "--no-keyserver", "ann@example.org"]).succeed();
    assert_eq!(user.count(), 1);
    // A server for keys that exists and does not have the key is the last word.
    let nginx = web_server_with(&key, &["--direct"]);
    let user = User::new().with_web_server(&nginx, &["example.org", "openpgpkey.example.org"], "");
    let done = user.run(&["fetch", "--no-keyserver", "ann@example.org"]).output();
    assert_eq!(done.code, Some(1), "{}", done.errors());
    assert!(done.errors().contains("ann@example.org: Web Key Directory: not found"), "{}", done.errors());
    assert!(!nginx.requests().contains("/.well-known/openpgpkey/hu/"), "{}", nginx.requests());
}

#[test]
fn a_key_is_found_on_a_keyserver_by_fingerprint_key_id_subkey_and_address() {
    let (key, other) = (ann(), OwnKey::new("Bob <bob@example.org>"));
    let server = Keyserver::with(&[key.certificate(), other.certificate()].concat());
    let listed = Run::gpg(key.home()).args(["--with-colons", "--list-keys"]).succeed().text();
    let subkey =
        listed.lines().filter_map(|line| line.strip_prefix("fpr:::::::::")).nth(1).expect("a subkey");
    let fingerprint = key.fingerprint();
    let names = [fingerprint, &fingerprint[24..], subkey.trim_end_matches(':'), "ann@example.org"];
    for name in names {
        for server in [server.hkp(), server.vks()] {
            let user = User::new();
            let done = user.run(&["fetch", "--no-wkd", "--from", &server, name]).succeed();
            assert!(done.text().starts_with(&format!("{fingerprint}  new")), "{name}: {}", done.text());
            assert_eq!(user.count(), 1, "{name}");
            let shown = &user.run(&["show", "--json", fingerprint]).succeed().json_lines()[0];
            assert_eq!(
                (&shown["origin"]["kind"], &shown["origin"]["url"]),
                (&1.into(), &server.as_str().into())
            );
        }
    }
    let user = User::new();
    let unknown = "0123456789ABCDEF0123456789ABCDEF01234567";
    let done = user.run(&["fetch", "--from", &server.hkp(), unknown, fingerprint]).output();
    assert_eq!(done.code, Some(1), "{}", done.errors());
    assert!(done.errors().contains(&format!("{unknown}: {}: not found", server.hkp())), "{}", done.errors());
    assert_eq!(user.count(), 1, "the other one is fetched nevertheless");
}

#[test]
fn the_paths_of_version_2_are_used_where_a_server_offers_them() {
    let key = ann();
    for version in [Version2::Separate, Version2::Joined] {
        let server = Keyserver::with(&key.certificate());
        server.offer(version);
        let address = server.hkp();
        let fingerprint = key.fingerprint();
        for name in [fingerprint, &fingerprint[24..], "ann@example.org"] {
            let user = User::new();
            user.run(&["fetch", "--no-wkd", "--from", &address, name]).succeed();
            assert_eq!(user.count(), 1, "{name}");
        }
        let user = User::new();
        user.import(key.certificate());
        let found =
            user.run(&["search", "--json", "--on", &address, "ann@example.org"]).succeed().json_lines();
        assert_eq!(found[0]["id"].as_str(), Some(fingerprint));
        assert_eq!(found[0]["user_ids"][0]["text"], "Ann <ann@example.org>");
        user.run(&["publish", "--yes", fingerprint, "--to", &address]).succeed();
        assert_eq!(server.take_uploads(), [user.run(&["export", fingerprint]).succeed().stdout]);
        // Nothing by the old paths.
        let requests = server.take_requests();
        let used =
            ["certs/by-vfingerprint/04", "certs/by-keyid/", "certs/by-identity/ann", "index/ann", "certs"];
        for path in used.map(|path| format!("/pks/v2/{path}")) {
            assert!(requests.iter().any(|request| request.starts_with(&path)), "{path}: {requests:?}");
        }
        assert!(requests.iter().all(|request| request.contains("/pks/v2/")), "{requests:?}");
    }
}

#[test]
fn what_a_server_does_not_find_by_version_2_it_is_asked_for_by_the_old_paths() {
    let key = ann();
    let server = Keyserver::with(&key.certificate());
    let address = server.hkp();
    let user = User::new();
    user.run(&["fetch", "--from", &address, key.fingerprint()]).succeed();
    let search = format!("/pks/lookup?op=get&options=mr&search=0x{}", key.fingerprint());
    let question = "OPTIONS /pks/v2/certs/by-vfingerprint".to_owned();
    assert_eq!(server.take_requests(), [question, search.clone()]);
    // One that fails for what it offers.
    server.offer(Version2::Separate);
    server.fail_for("/pks/v2/certs/by-vfingerprint/");
    user.run(&["fetch", "--from", &address, key.fingerprint()]).succeed();
    assert_eq!(server.take_requests().last(), Some(&search));
    // A server is asked once which paths it offers.
    let names = [key.fingerprint(); 3];
    user.run(&[&["fetch", "--from", &address], &names[..]].concat()).succeed();
    let questions = server.take_requests().iter().filter(|request| request.starts_with("OPTIONS")).count();
    assert_eq!(questions, 1);
}

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
fn a_keyserver_is_searched_without_taking_anything() {
    let (key, other) = (ann(), OwnKey::new("Bob: 100% <bob@example.org>"));
    let server = Keyserver::with(&[key.certificate(), other.certificate()].concat());
    let user = User::new();
    let found =
        user.run(&["search", "--json", "--on", &server.hkp(), "bob@example.org"]).succeed().json_lines();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["id"], other.fingerprint());
    assert_eq!(found[0]["user_ids"][0]["text"], "Bob: 100% <bob@example.org>");
    assert_eq!(found[0]["created"], "2024-01-01T00:00:00Z");
    let text = user.run(&["search", "--on", &server.hkp(), "example.org"]).succeed().text();
    assert!(text.contains(&format!("{}  2024-01-01", key.fingerprint())), "{text}");
    assert_eq!(user.run(&["search", "--on", &server.hkp(), "nobody"]).output().code, Some(1));
    assert!(!user.home.has_database(), "a search takes nothing");
}

#[test]
fn urls_and_files_are_fetched_as_they_are() {
    let key = ann();
    let nginx = Nginx::start(&["keys.example.org"], "");
    fs::write(nginx.root().join("ann.pgp"), key.certificate()).expect("the root is writable");
    let user = User::new().with_web_server(&nginx, &["keys.example.org"], "");
    user.run(&["fetch", "https://keys.example.org/ann.pgp"]).succeed();
    let shown = &user.run(&["show", "--json", key.fingerprint()]).succeed().json_lines()[0];
    assert_eq!(
        (&shown["origin"]["kind"], &shown["origin"]["url"]),
        (&5.into(), &"https://keys.example.org/ann.pgp".into())
    );
    let missing = user.run(&["fetch", "https://keys.example.org/bob.pgp"]).output();
    assert_eq!(missing.code, Some(1), "{}", missing.errors());
    let other = User::new();
    let path = other.home.write("ann.pgp", key.certificate());
    other.run(&["fetch", &format!("file://{}", path.display())]).succeed();
    assert_eq!(other.count(), 1);
    let refused = other.run(&["fetch", "http://keys.example.org/ann.pgp"]).output();
    assert_eq!(refused.code, Some(2));
    assert!(refused.errors().contains("only https: and file: are fetched"), "{}", refused.errors());
}

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

/// Makes a user with three certificates of which a server has news of two.
fn user_with_news() -> (User, Keyserver, [OwnKey; 3]) {
    let keys =
        ["Ann <ann@example.org>", "Bob <bob@example.org>", "Carol <carol@example.org>"].map(OwnKey::new);
    let user = User::new();
    user.import(keys.iter().flat_map(OwnKey::certificate).collect());
    keys[0].add_user_id("20240201T000000!", "Ann <ann@example.com>");
    let server = Keyserver::with(&keys[0].certificate());
    server.add(&[keys[1].certificate(), keys[1].revocation()].concat());
    let table = format!("keyservers = [\"{}\"]", server.hkp());
    (user.with_network(&table), server, keys)
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
    assert!(done.text().contains("3  with nobody to ask: no keyserver is configured"), "{}", done.text());
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
fn a_fetch_of_what_is_here_says_when_it_was_asked_for() {
    let (user, server, keys) = user_with_news();
    user.run(&["fetch", keys[0].fingerprint()]).succeed();
    let origin = |user: &User| {
        user.run(&["show", "--json", keys[0].fingerprint()]).succeed().json_lines()[0]["origin"].clone()
    };
    let first = origin(&user);
    user.run(&["fetch", keys[0].fingerprint()]).at("20260103T000000").succeed();
    let second = origin(&user);
    assert_eq!(second["updated"], "2026-01-03T00:00:00Z");
    assert_eq!((&second["kind"], &second["url"]), (&first["kind"], &first["url"]));
    let entries = user.run(&["log", "--json"]).succeed().json_lines().len();
    user.run(&["fetch", keys[0].fingerprint()]).succeed();
    assert_eq!(user.run(&["log", "--json"]).succeed().json_lines().len(), entries, "nothing to take back");
    drop(server);
}

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

#[test]
fn a_key_that_is_not_here_is_looked_up_for_a_message_only_where_that_is_configured() {
    let key = ann();
    let nginx = web_server_with(&key, &[]);
    let encrypt = |table: &str| {
        let user = User::new().with_web_server(&nginx, &["openpgpkey.example.org"], table);
        user.import(OwnKey::new("Bob <bob@example.org>").certificate());
        let words = ["encrypt", "--trust-model", "always", "--to", "ann@example.org"];
        let done = user.run(&words).stdin("secret").output();
        (done.code, user.count())
    };
    assert_eq!(encrypt(""), (Some(1), 1), "nobody can be asked without a terminal");
    assert_eq!(encrypt("unknown-recipients = \"never\""), (Some(1), 1));
    assert!(!nginx.requests().contains("GET"), "{}", nginx.requests());
    assert_eq!(encrypt("unknown-recipients = \"wkd\""), (Some(0), 2));
    assert!(nginx.requests().contains("GET"));
}

#[test]
fn what_is_looked_up_for_a_message_is_reported_beside_it() {
    let key = ann();
    let nginx = web_server_with(&key, &[]);
    for option in ["--quiet", "--json", "--armor"] {
        let table = "unknown-recipients = \"wkd\"";
        let user = User::new().with_web_server(&nginx, &["openpgpkey.example.org"], table);
        let words = ["encrypt", "--armor", "--trust-model", "always", "--to", "ann@example.org"];
        let words = if option == "--armor" { words.to_vec() } else { [&words[..], &[option]].concat() };
        let done = user.run(&words).stdin("secret").succeed();
        assert_eq!(user.count(), 1, "{option}: the key was looked up");
        let text = done.text();
        assert!(text.starts_with("-----BEGIN PGP MESSAGE-----\n"), "{option}: {text}");
        assert!(text.ends_with("-----END PGP MESSAGE-----\n"), "{option}: {text}");
        assert_eq!(text.matches("-----").count(), 4, "{option}: {text}");
        let decrypt = ["--pinentry-mode", "loopback", "--passphrase", "", "--decrypt"];
        let clear = Run::gpg_with_agent(key.home()).args(decrypt).stdin(text).succeed().stdout;
        assert_eq!(clear, b"secret", "{option}");
    }
}

#[test]
fn users_and_passwords_of_urls_are_kept_nowhere() {
    let key = ann();
    let nginx = Nginx::start(&["keys.example.org"], "");
    fs::write(nginx.root().join("ann.pgp"), key.certificate()).expect("the root is writable");
    let user = User::new().with_web_server(&nginx, &["keys.example.org"], "");
    let done = user.run(&["fetch", "https://somebody:geheim@keys.example.org/ann.pgp"]).succeed();
    let failed = user.run(&["fetch", "https://somebody:geheim@keys.example.org/index/"]).output();
    let server = "--from=hkps://somebody:geheim@keys.example.org";
    let unknown = user.run(&["fetch", server, key.fingerprint()]).output();
    let wrong = user.run(&["fetch", "https://somebody:gehe/im@keys.example.org/"]).output();
    let logged = user.run(&["log", "--json"]).succeed().text();
    let shown = user.run(&["show", "--json", key.fingerprint()]).succeed().text();
    assert!(shown.contains("https://keys.example.org/ann.pgp"), "{shown}");
    assert!(logged.contains("(from https://keys.example.org/ann.pgp)"), "{logged}");
    assert_eq!((unknown.code, wrong.code), (Some(1), Some(2)), "{}", wrong.errors());
    let errors = [done.errors(), failed.errors(), unknown.errors(), wrong.errors()];
    for text in errors.iter().chain([&logged, &shown]) {
        assert!(!text.contains("gehe") && !text.contains("somebody"), "{text}");
    }
    assert!(nginx.requests().contains("somebody"), "the server is told: {}", nginx.requests());
}

#[test]
fn through_tor_every_key_is_asked_for_under_another_name() {
    let (key, other) = (ann(), OwnKey::new("Bob <bob@example.org>"));
    let server = Keyserver::with(&[key.certificate(), other.certificate()].concat());
    let socks = Socks::to(([127, 0, 0, 1], server.port()).into());
    let table = format!("proxy = \"{}\"\nkeyservers = [\"hkp://keys.example.org\"]", socks.url());
    let user = User::new().with_network(&table);
    user.run(&["fetch", key.fingerprint(), other.fingerprint()]).succeed();
    user.run(&["refresh", "--again", "--pause", "0"]).succeed();
    let seen = socks.seen();
    assert_eq!(seen.len(), 4, "{seen:?}");
    assert_are_isolated(&seen);
}

#[test]
fn through_tor_every_url_is_asked_for_under_another_name() {
    let nginx = Nginx::start(&["keys.example.org"], "");
    fs::write(nginx.root().join("ann.pgp"), ann().certificate()).expect("the root is writable");
    let socks = Socks::to(([127, 0, 0, 1], nginx.port()).into());
    let user = User { authority: Some(nginx.authority()), ..User::new() };
    let user = user.with_network(&format!("proxy = \"{}\"", socks.url()));
    let url = "https://keys.example.org/ann.pgp";
    user.run(&["fetch", url, url]).succeed();
    let seen = socks.seen();
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert_are_isolated(&seen);
}

/// Asserts that each connection had a user name of its own.
#[track_caller]
fn assert_are_isolated(seen: &[(String, String)]) {
    assert!(seen.iter().all(|(user, host)| user.len() == 32 && host == "keys.example.org"), "{seen:?}");
    let users: std::collections::HashSet<_> = seen.iter().map(|(user, _)| user).collect();
    assert_eq!(users.len(), seen.len(), "{seen:?}");
}

#[test]
fn through_a_proxy_only_a_name_that_it_does_not_find_leads_to_the_domain_itself() {
    let key = ann();
    let nginx = web_server_with(&key, &["--direct"]);
    let target = ([127, 0, 0, 1], nginx.port()).into();
    let user = User { authority: Some(nginx.authority()), ..User::new() };
    let socks = Socks::without("openpgpkey.example.org", target);
    let user = user.with_network(&format!("proxy = \"{}\"", socks.url()));
    user.run(&["fetch", "--no-keyserver", "ann@example.org"]).succeed();
    let hosts: Vec<String> = socks.seen().into_iter().map(|(_, host)| host).collect();
    assert_eq!(hosts, ["openpgpkey.example.org", "example.org"]);

    // A server that shows a certificate for another name is there.
    let nginx = Nginx::start(&["example.org"], "");
    let socks = Socks::to(([127, 0, 0, 1], nginx.port()).into());
    let user = User { authority: Some(nginx.authority()), ..User::new() };
    let user = user.with_network(&format!("proxy = \"{}\"", socks.url()));
    let done = user.run(&["fetch", "--no-keyserver", "ann@example.org"]).output();
    assert_eq!(done.code, Some(2), "{}", done.errors());
    let hosts: Vec<String> = socks.seen().into_iter().map(|(_, host)| host).collect();
    assert_eq!(hosts, ["openpgpkey.example.org"]);
    assert_eq!(nginx.requests(), "");
}

#[test]
fn an_http_proxy_that_does_not_connect_leads_to_the_domain_itself() {
    // It knows no CONNECT.
    let proxy = Keyserver::with(&[]);
    let user = User::new().with_network(&format!("proxy = \"http://127.0.0.1:{}\"", proxy.port()));
    let done = user.run(&["fetch", "--no-keyserver", "ann@example.org"]).output();
    assert_eq!(done.code, Some(2));
    assert!(done.errors().contains("the proxy makes no connection"), "{}", done.errors());
    assert_eq!(proxy.take_requests(), ["openpgpkey.example.org:443", "example.org:443"]);
}

#[test]
fn names_are_resolved_here_for_socks5_and_without_a_proxy() {
    let key = ann();
    let nginx = web_server_with(&key, &["--direct"]);
    let socks = Socks::to(([127, 0, 0, 1], nginx.port()).into());
    let addresses = format!(
        "[network.addresses]\n\"openpgpkey.example.org\" = \"none\"\n\"example.org\" = \"127.0.0.1:{}\"",
        nginx.port()
    );
    let proxy = socks.url().replace("socks5h", "socks5");
    let fetch = |table: &str, variables: &[(&str, &str)]| {
        let user = User { authority: Some(nginx.authority()), ..User::new() };
        let user = user.with_network(&format!("{table}\n{addresses}"));
        let run = user.run(&["fetch", "--no-keyserver", "ann@example.org"]);
        variables.iter().fold(run, |run, (name, value)| run.env(name, value)).succeed();
    };
    fetch(&format!("proxy = \"{proxy}\""), &[]);
    let hosts: Vec<String> = socks.seen().into_iter().map(|(_, host)| host).collect();
    assert_eq!(hosts, ["[127, 0, 0, 1]"], "the domain itself, as a number");
    fetch("", &[("ALL_PROXY", &socks.url()), ("NO_PROXY", "example.org")]);
    assert_eq!(socks.seen().len(), 1, "an exception is not asked for through the proxy");
}

#[test]
fn international_domains_are_the_same_written_and_encoded() {
    let key = OwnKey::new("Ann <Ann@B\u{fc}cher.example>");
    let encoded = "xn--bcher-kva.example";
    let nginx = Nginx::start(&[&format!("openpgpkey.{encoded}")], "");
    let publisher = User::new();
    publisher.import(key.certificate());
    let root = nginx.root();
    let root = root.to_str().expect("a path in UTF-8");
    publisher
        .run(&["publish", key.fingerprint(), "--wkd", root, "--domain", "B\u{fc}cher.example"])
        .succeed();
    for name in ["Ann@b\u{fc}cher.example", "Ann@xn--bcher-kva.example"] {
        let user = User::new().with_web_server(&nginx, &[&format!("openpgpkey.{encoded}")], "");
        user.run(&["fetch", "--no-keyserver", name]).succeed();
        assert_eq!(user.count(), 1, "{name}");
    }
}

#[test]
fn a_search_on_a_server_has_nothing_to_do_with_validity() {
    let user = User::new();
    for option in [["--trust-model", "always"], ["--trusted-key", "0123456789ABCDEF"]] {
        let done = user.run(&["search", "--on", "hkp://127.0.0.1:1", "ann"]).args(option).output();
        assert_eq!(done.code, Some(2));
        assert!(done.errors().contains("cannot be used with"), "{}", done.errors());
    }
}

#[test]
fn the_environment_names_proxies_and_exceptions() {
    let key = ann();
    let server = Keyserver::with(&key.certificate());
    let socks = Socks::to(([127, 0, 0, 1], server.port()).into());
    let user = User::new();
    let fetch = |server: &str| {
        user.run(&["fetch", "--from", server, key.fingerprint()]).env("ALL_PROXY", socks.url())
    };
    fetch("hkp://keys.example.org").succeed();
    assert_eq!(socks.seen().len(), 1);
    fetch(&server.hkp()).env("NO_PROXY", "127.0.0.1").succeed();
    assert_eq!(socks.seen().len(), 1);
}

#[test]
fn no_other_command_uses_the_network() {
    let key = ann();
    let (server, user) = (Keyserver::with(&key.certificate()), User::new());
    let user = user.with_network(&format!(
        "keyservers = [\"{}\"]\nproxy = \"{}\"",
        server.hkp(),
        server.hkp().replace("hkp", "http")
    ));
    user.import(key.certificate());
    let file = user.home.write("file", "content");
    let file = file.to_str().expect("a path in UTF-8");
    let commands: &[&[&str]] = &[
        &["status"],
        &["import", file],
        &["export"],
        &["generate", "Bob <bob@example.org>", "--no-passphrase"],
        &["list"],
        &["show", "ann"],
        &["search", "nobody"],
        &["check"],
        &["who-signed", "ann"],
        &["signed-by", "ann"],
        &["encrypt", "--to", "nobody@example.org", file],
        &["decrypt", file],
        &["sign", file],
        &["verify", file],
        &["policy", file],
        &["delete", "--yes", "bob"],
        &["key", "list"],
        &["key", "export", "ann"],
        &["log"],
        &["undo", "--yes"],
        &["db", "status"],
        &["copy", file],
        &["doctor"],
        &["sql", "SELECT 1"],
        &["trust", "check"],
        &["trust", "explain", "ann"],
        &["tofu", "list"],
        &["migrate", file],
        &["bench", "--help"],
        &["sop", "version"],
        &["completions", "bash"],
        &["man"],
        &["help"],
    ];
    let help = user.run(&["--help=all"]).succeed().text();
    let names =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    for name in names.filter_map(|line| line.split_whitespace().next()) {
        let is_for_the_network = matches!(name, "fetch" | "refresh" | "publish");
        assert!(is_for_the_network || commands.iter().any(|command| command[0] == name), "{name}");
    }
    for command in commands {
        let Output { code, stderr, .. } = user.run(command).stdin("").output();
        assert!(code.is_some(), "{command:?}: {}", String::from_utf8_lossy(&stderr));
        assert_eq!(server.take_requests(), Vec::<String>::new(), "{command:?}");
    }
    for command in
        [&["--list-keys"][..], &["--check-sigs"], &["-er", "nobody@example.org"], &["--verify", file]]
    {
        let run = Run::gpg_keyhoard(&user.home).at("20260101T000000").args(command).stdin("");
        let done = run
            .env("XDG_CONFIG_HOME", user.configuration.path())
            .env("ALL_PROXY", server.hkp().replace("hkp", "http"));
        assert!(done.output().code.is_some(), "{command:?}");
        assert_eq!(server.take_requests(), Vec::<String>::new(), "{command:?}");
    }
}
