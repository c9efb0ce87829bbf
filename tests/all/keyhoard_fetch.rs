//! `keyhoard fetch` and `search --on`: keys over the network, from real servers on loopback.

use std::fs;
use std::path::Path;

use crate::network_user::{User, ann, user_with_news, web_server_with};
use harness::web::{Keyserver, Nginx, Version2};
use harness::{Home, Output, OwnKey, Run};

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
    // The rest of a description is further right.
    let names = names.filter(|line| !line.starts_with("   "));
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
