//! `gpg-keyhoard`'s commands that use the network, beside gpg with dirmngr, both before the same keyserver on loopback.

use std::fs;

use harness::web::{Keyserver, Liar, Lie};
use harness::{Both, Gnupg, Home, Output, OwnKey, Run, assert_same};

/// A gpg with its dirmngr, which is stopped with the value, and `gpg-keyhoard`.
pub(crate) fn both(gnupg: Gnupg) -> Both {
    Both::with_agent().with(gnupg)
}

/// Returns what a program says to people, but for what it says of its own files and its clock.
fn messages(done: &Output) -> String {
    const OWN: [&str; 8] = [
        "running with faked system time",
        "created",
        "checking the trustdb",
        "marginals needed",
        "depth: ",
        "next trustdb check",
        "no ultimately trusted keys",
        "[GNUPG:]",
    ];
    let text = done.errors();
    let lines = text.split_inclusive('\n').filter(|line| !OWN.iter().any(|own| line.contains(own)));
    lines.collect()
}

/// Asserts that both write the same output, status lines and messages, and have the same exit code.
#[track_caller]
pub(crate) fn assert_same_words(both: &Both, arguments: &[&str], answers: &str) {
    let run = [&["--status-fd", "2"], arguments].concat();
    let [gpg, keyhoard] = both.run_with_answers(answers, &run);
    let what = arguments.join(" ");
    assert_same(&what, &gpg.stdout, &keyhoard.stdout);
    let status = |done: &Output| {
        let lines = done.status_lines();
        let lines = lines.split_inclusive('\n').filter(|line| !line.contains("KEY_CONSIDERED"));
        lines.collect::<String>()
    };
    assert_same(&what, status(&gpg).as_bytes(), status(&keyhoard).as_bytes());
    assert_same(&what, messages(&gpg).as_bytes(), messages(&keyhoard).as_bytes());
    assert_eq!(gpg.code, keyhoard.code, "{what}: {}", keyhoard.errors());
}

pub(crate) fn ann_and_bob() -> [OwnKey; 2] {
    ["Ann <ann@example.org>", "Bob <bob@example.org>"].map(OwnKey::new)
}

fn server_with(keys: &[OwnKey]) -> Keyserver {
    Keyserver::with(&keys.iter().flat_map(OwnKey::certificate).collect::<Vec<u8>>())
}

pub(crate) const UNKNOWN: &str = "0123456789ABCDEF0123456789ABCDEF01234567";

#[test]
fn oracle_keys_are_received_as_gpg_receives_them() {
    for gnupg in Gnupg::ALL {
        let keys = ann_and_bob();
        let (server, both) = (server_with(&keys), both(gnupg));
        let server = server.hkp();
        let [ann, bob] = [keys[0].fingerprint(), keys[1].fingerprint()];
        let receive = |names: &[&str]| {
            assert_same_words(&both, &[&["--keyserver", &server, "--recv-keys"], names].concat(), "");
        };
        receive(&[]);
        receive(&[UNKNOWN]);
        receive(&["ann@example.org"]);
        receive(&[ann]);
        receive(&[ann]);
        receive(&[UNKNOWN, ann]);
        receive(&["ann@example.org", &bob[24..]]);
        receive(&[ann, bob]);
        receive(&[&ann[32..]]);
        both.assert_same_output(["--list-keys"]);
        // dirmngr cannot be reached anywhere else.
        assert_same_words(&both, &["--keyserver", "hkp://127.0.0.1:1", "--recv-keys", ann], "");
    }
}

#[test]
fn oracle_keys_are_searched_and_chosen_as_with_gpg() {
    for gnupg in Gnupg::ALL {
        let keys = ann_and_bob();
        let (server, both) = (server_with(&keys), both(gnupg));
        let server = server.hkp();
        let search = |options: &[&str], text: &[&str], answers: &str| {
            let words = [options, &["--keyserver", &server, "--search-keys"], text].concat();
            assert_same_words(&both, &words, answers);
        };
        search(&["--with-colons"], &["example.org"], "");
        search(&[], &["nobody"], "");
        search(&[], &[], "");
        let asked = ["--no-batch", "--no-tty", "--command-fd", "0"];
        search(&asked, &["example.org"], "q\n");
        search(&asked, &["example.org"], "n\n");
        search(&asked, &["example.org"], "2\n");
        search(&asked, &["ann@example.org"], "1\n");
        both.assert_same_output(["--list-keys"]);
    }
}

#[test]
fn oracle_keys_are_sent_as_gpg_sends_them() {
    for gnupg in Gnupg::ALL {
        let keys = ann_and_bob();
        let both = both(gnupg);
        let file = both.gpg.write("keys.pgp", keys.iter().flat_map(OwnKey::certificate).collect::<Vec<u8>>());
        both.import(&file);
        let server = Keyserver::with(&[]);
        let address = server.hkp();
        let send = |names: &[&str]| {
            assert_same_words(&both, &[&["--keyserver", &address, "--send-keys"], names].concat(), "");
        };
        send(&[]);
        send(&[UNKNOWN]);
        send(&["ann@example.org"]);
        send(&[keys[0].fingerprint()]);
        send(&[&keys[1].fingerprint()[24..]]);
        assert_eq!(server.take_requests_for_keys().len(), 4, "each program has sent two keys");
        assert_same_words(
            &both,
            &["--keyserver", "hkp://127.0.0.1:1", "--send-keys", keys[0].fingerprint()],
            "",
        );
        // What gpg-keyhoard sent is the key.
        let server = Keyserver::with(&[]);
        let run = Run::gpg_keyhoard(&both.keyhoard);
        run.args(["--keyserver", &server.hkp(), "--send-keys", keys[0].fingerprint()]).succeed();
        let other = Home::new();
        let run = Run::gpg_keyhoard(&other).args(["--keyserver", &server.hkp()]);
        run.args(["--recv-keys", keys[0].fingerprint()]).succeed();
        let exported = Run::gpg_keyhoard(&other).arg("--export").succeed().stdout;
        assert_same("--export", &keys[0].certificate(), &exported);
    }
}

#[test]
fn oracle_keys_are_refreshed_as_with_gpg() {
    for gnupg in Gnupg::ALL {
        let keys = ann_and_bob();
        let both = both(gnupg);
        let file = both.gpg.write("keys.pgp", keys.iter().flat_map(OwnKey::certificate).collect::<Vec<u8>>());
        both.import(&file);
        keys[0].add_user_id("20240201T000000!", "Ann <ann@example.com>");
        let server = server_with(&keys);
        server.add(&[keys[1].certificate(), keys[1].revocation()].concat());
        let address = server.hkp();
        let refresh = |names: &[&str]| {
            assert_same_words(&both, &[&["--keyserver", &address, "--refresh-keys"], names].concat(), "");
        };
        refresh(&["nobody"]);
        refresh(&["ann@example.org"]);
        refresh(&[]);
        refresh(&[]);
        both.assert_same_output(["--list-keys"]);
    }
}

#[test]
fn oracle_keys_are_fetched_as_gpg_fetches_them() {
    for gnupg in Gnupg::ALL {
        let keys = ann_and_bob();
        let (server, both) = (server_with(&keys), both(gnupg));
        let base = format!("http://127.0.0.1:{}", server.port());
        let key = format!("{base}/pks/lookup?op=get&search=0x{}", keys[0].fingerprint());
        let fetch = |urls: &[&str]| assert_same_words(&both, &[&["--fetch-keys"], urls].concat(), "");
        fetch(&[]);
        fetch(&[&format!("{base}/nothing")]);
        fetch(&["file:///nothing"]);
        fetch(&[&key]);
        fetch(&[&key]);
        both.assert_same_output(["--list-keys"]);
    }
}

#[test]
fn oracle_addresses_are_located_where_an_option_says() {
    for gnupg in Gnupg::ALL {
        let keys = ann_and_bob();
        let (server, both) = (server_with(&keys), both(gnupg));
        let server = server.hkp();
        let locate = |places: &str, command: &str, name: &str| {
            let words = ["--keyserver", &server, "--auto-key-locate", places, command, name];
            assert_same_words(&both, &words, "");
        };
        locate("local", "--locate-keys", "ann@example.org");
        locate("keyserver", "--locate-keys", "ann@example.org");
        locate("keyserver", "--locate-keys", "ann@example.org");
        locate("keyserver", "--locate-external-keys", "ann@example.org");
        locate("keyserver", "--locate-external-keys", "nobody@example.org");
        locate("local,keyserver", "--locate-keys", "nobody@example.org");
        locate(&server, "--locate-external-keys", "bob@example.org");
        locate("bogus", "--locate-keys", "bob@example.org");
        both.assert_same_output(["--list-keys"]);
    }
}

#[test]
fn oracle_a_recipient_is_located_where_an_option_says() {
    for gnupg in Gnupg::ALL {
        let keys = ann_and_bob();
        let (server, both) = (server_with(&keys), both(gnupg));
        let server = server.hkp();
        let file = both.gpg.write("text", "text");
        let file = file.to_str().expect("a path in UTF-8");
        let encrypt = |places: &str, name: &str| {
            let words = [
                "--keyserver",
                &server,
                "--auto-key-locate",
                places,
                "--yes",
                "-o",
                "/dev/null",
                "-e",
                "-r",
                name,
                file,
            ];
            assert_same_words(&both, &words, "");
        };
        encrypt("local", "ann@example.org");
        encrypt("local,keyserver", "ann@example.org");
        encrypt("local,keyserver", "nobody@example.org");
        both.assert_same_output(["--list-keys"]);
    }
}

#[test]
fn oracle_the_key_of_a_signature_is_retrieved_where_an_option_says() {
    for gnupg in Gnupg::ALL {
        let keys = ann_and_bob();
        let (server, both) = (server_with(&keys), both(gnupg));
        let server = server.hkp();
        let text = keys[0].home().write("text", "text");
        let sign = ["--yes", "--pinentry-mode", "loopback", "--passphrase", "", "--detach-sign"];
        Run::gpg_with_agent(keys[0].home()).at("20250101T000000!").args(sign).arg(&text).succeed();
        let signature = format!("{}.sig", text.display());
        let text = text.to_str().expect("a path in UTF-8");
        let verify = |options: &[&str]| {
            let words = [&["--keyserver", &server], options, &["--verify", &signature, text]].concat();
            assert_same_words(&both, &words, "");
        };
        verify(&[]);
        verify(&["--auto-key-retrieve", "--no-auto-key-retrieve"]);
        verify(&["--auto-key-retrieve"]);
        verify(&["--auto-key-retrieve"]);
        both.assert_same_output(["--list-keys"]);
    }
}

#[test]
fn oracle_dirmngrs_configuration_names_the_keyserver() {
    for gnupg in Gnupg::ALL {
        let keys = ann_and_bob();
        let (server, both) = (server_with(&keys), both(gnupg));
        for home in [&both.gpg, &both.keyhoard] {
            fs::write(home.path().join("dirmngr.conf"), format!("keyserver {}\n", server.hkp()))
                .expect("writable");
        }
        assert_same_words(&both, &["--recv-keys", keys[0].fingerprint()], "");
        assert_same_words(&both, &["--refresh-keys"], "");
        assert_same_words(&both, &["--send-keys", keys[0].fingerprint()], "");
    }
}

#[test]
fn what_was_not_asked_for_is_not_received() {
    let keys = ann_and_bob();
    let (liar, home) = (Liar::telling(Lie::Bytes(keys[0].certificate())), Home::new());
    let run = || Run::gpg_keyhoard(&home).args(["--keyserver", &liar.hkp()]);
    let done = run().args(["--recv-keys", keys[1].fingerprint()]).output();
    assert_eq!(done.code, Some(2));
    assert!(done.errors().contains("keyserver receive failed: No data"), "{}", done.errors());
    let words = ["--auto-key-locate", "keyserver", "--locate-keys", "bob@example.org"];
    assert_eq!(run().args(words).output().code, Some(2));
    assert_eq!(Run::gpg_keyhoard(&home).arg("--list-keys").succeed().text(), "");
}

#[test]
fn the_network_is_not_used_unasked() {
    let keys = ann_and_bob();
    let (server, home) = (server_with(&keys), Home::new());
    let run = |arguments: &[&str]| {
        Run::gpg_keyhoard(&home).args(["--keyserver", &server.hkp()]).args(arguments).output()
    };
    let text = home.write("text", "text");
    let text = text.to_str().expect("a path in UTF-8");
    run(&["--list-keys", "ann@example.org"]);
    run(&["--locate-keys", "ann@example.org"]);
    assert_eq!(run(&["-o", "/dev/null", "-e", "-r", "ann@example.org", text]).code, Some(2));
    assert_eq!(run(&["--disable-dirmngr", "--recv-keys", keys[0].fingerprint()]).code, Some(2));
    assert_eq!(server.take_requests(), Vec::<String>::new());
}

#[test]
fn where_a_key_came_from_is_recorded() {
    let keys = ann_and_bob();
    let (server, home) = (server_with(&keys), Home::new());
    let words = ["--keyserver", &server.hkp(), "--recv-keys", keys[0].fingerprint()];
    Run::gpg_keyhoard(&home).args(words).succeed();
    let shown = &Run::keyhoard(&home).args(["show", "--json", "ann"]).succeed().json_lines()[0];
    let url = format!("http://127.0.0.1:{}", server.port());
    assert_eq!((&shown["origin"]["kind"], &shown["origin"]["url"]), (&1.into(), &url.into()));
    let log = Run::keyhoard(&home).arg("log").succeed().text();
    assert!(log.contains(&format!("gpg-keyhoard --receive-keys (from {})", server.hkp())), "{log}");
    Run::keyhoard(&home).arg("undo").succeed();
    assert_eq!(Run::gpg_keyhoard(&home).arg("--list-keys").succeed().text(), "");
}
