//! What gpg-keyhoard does without a command, beside the real gpg.

use std::fs;

use harness::{Both, Output, assert_same};

const NONUPLOAD: &str = "/usr/share/keyrings/debian-nonupload.gpg";
const TEXT: &[u8] = b"a line\nand another one\n";

/// Runs one of the programs.
fn run(both: &Both, gpg: bool, words: &[&str], stdin: &[u8]) -> Output {
    let quietly = ["--no-symkey-cache", "--pinentry-mode", "loopback", "--status-fd", "2"];
    both.run_of(gpg).args(quietly).args(words).stdin(stdin).output()
}

fn status_lines(done: &Output) -> String {
    let lines = done.status_lines();
    let told = |line: &&str| !line.contains("KEY_CONSIDERED") && !line.contains("KEYEXPIRED");
    lines.split_inclusive('\n').filter(told).collect()
}

/// Asserts that both write the same, tell programs the same and exit alike; returns the code.
fn same(both: &Both, words: &[&str], stdin: &[u8]) -> Option<i32> {
    let [gpg, keyhoard] = [true, false].map(|gpg| run(both, gpg, words, stdin));
    let what = words.join(" ");
    assert_same(&what, &gpg.stdout, &keyhoard.stdout);
    assert_same(&what, status_lines(&gpg).as_bytes(), status_lines(&keyhoard).as_bytes());
    assert_eq!(gpg.code, keyhoard.code, "{what}: {}", keyhoard.errors());
    gpg.code
}

#[test]
fn keys_are_listed_packet_by_packet() {
    let both = Both::of_alice_and_bob();
    let keys = [
        run(&both, true, &["--export"], b"").stdout,
        run(&both, true, &["--armor", "--export", "bob"], b"").stdout,
        fs::read(NONUPLOAD).expect("Debian's keys"),
    ];
    for options in [
        &[][..],
        &["--verbose"],
        &["--with-colons"],
        &["--with-colons", "--verbose"],
        &["--with-colons", "--with-fingerprint"],
        &["--keyid-format", "long"],
        &["--keyid-format", "0xshort", "--with-fingerprint", "--with-fingerprint"],
        &["--fast-list-mode", "--with-colons", "--verbose"],
        &["--legacy-list-mode"],
        &["--list-options", "no-show-usage"],
    ] {
        for keys in &keys {
            assert_eq!(same(&both, options, keys), Some(0));
        }
    }
    assert!(!run(&both, false, &[], &keys[0]).stdout.is_empty());
}

#[test]
fn photographs_are_listed_and_secret_keys_are_not() {
    let both = Both::of_alice_and_bob();
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/all/testdata");
    let photograph = fs::read(format!("{directory}/bob-with-photograph.pgp")).expect("it is there");
    for options in [&[][..], &["--with-colons"]] {
        assert_eq!(same(&both, options, &photograph), Some(0));
    }
    assert_eq!(same(&both, &[harness::alice_and_bob().to_str().expect("a name")], b""), Some(0));
}

#[test]
fn a_damaged_key_is_reported_and_its_intact_packets_and_the_other_keys_are_listed() {
    let both = Both::of_alice_and_bob();
    let keys = run(&both, true, &["--export"], b"").stdout;
    let cut = run(&both, false, &[], &keys[..keys.len() - 1]);
    assert_eq!(cut.code, Some(2));
    assert!(cut.text().contains("Alice") && cut.text().contains("Bob"), "{}", cut.text());
    assert_eq!(cut.text(), run(&both, true, &[], &keys[..keys.len() - 1]).text());
    assert!(cut.errors().contains("NODATA 3"), "{}", cut.errors());
}

#[test]
fn everything_else_is_read_as_a_message() {
    let both = Both::of_alice_and_bob();
    let letter = both.gpg.write("letter", TEXT);
    let letter = letter.to_str().expect("a name");
    for words in [
        &["--passphrase", "", "-u", "bob", "-s"][..],
        &["--passphrase", "", "-u", "bob", "--clear-sign"],
        &["-r", "alice", "-e"],
        &["--passphrase", "x", "-a", "-c"],
        &["--store"],
    ] {
        let message = run(&both, true, &[words, &["-o", "-", letter]].concat(), b"");
        assert_eq!(message.code, Some(0), "{}", message.errors());
        let passphrase = if words.contains(&"-e") { "" } else { "x" };
        let read = ["--passphrase", passphrase, "--yes", "--output", "-"];
        assert_eq!(same(&both, &read, &message.stdout), Some(0), "{words:?}");
    }
    assert_eq!(same(&both, &[], TEXT), Some(2));
    assert_eq!(same(&both, &["--quiet"], b""), Some(2));
}
