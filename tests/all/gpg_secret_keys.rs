//! Secret keys in gpg-keyhoard beside the real gpg: listed, imported, exported, locked anew, deleted.

use std::fs;
use std::path::PathBuf;

use harness::{Both, Home, OwnKey, Run, assert_same};

use crate::agent_home::AgentHome;

/// What a program says when it gives a passphrase along.
const PASSPHRASE: [&str; 4] = ["--pinentry-mode", "loopback", "--passphrase", "abc"];

/// Keys that gpg made, with the home they come from.
struct Keys {
    home: Home,
    alice: String,
    bob: String,
}

impl Keys {
    /// Makes Alice's pair of RSA keys without a passphrase, and Bob's pair on Curve25519 with one.
    fn new() -> Keys {
        let home = Home::new();
        let make = |passphrase: &[&str], words: &[&str]| {
            let run = Run::gpg_with_agent(&home).at("20240101T000000!").args(passphrase);
            run.arg("--quick-generate-key").args(words).succeed();
        };
        make(&["--passphrase", ""], &["Alice <alice@example.org>", "rsa2048", "sign", "2y"]);
        make(&PASSPHRASE, &["Bob <bob@example.org>", "future-default", "default", "never"]);
        let listing = Run::gpg(&home).args(["--with-colons", "--list-keys"]).succeed().text();
        let primary = |name: &str| {
            let block = listing.split("\npub:").find(|block| block.contains(name)).expect("gpg made it");
            let line = block.lines().find(|line| line.starts_with("fpr:")).expect("a fingerprint");
            line.split(':').nth(9).expect("ten fields").to_owned()
        };
        let (alice, bob) = (primary("alice@"), primary("bob@"));
        let keys = Keys { home, alice, bob };
        keys.gpg(&["--passphrase", "", "--quick-add-key", &keys.alice, "rsa2048", "encr"]);
        keys
    }

    fn gpg(&self, words: &[&str]) {
        Run::gpg_with_agent(&self.home)
            .at("20240101T000000!")
            .args(["--pinentry-mode", "loopback"])
            .args(words)
            .succeed();
    }

    /// Writes secret keys to a file, as gpg exports them.
    fn file(&self, name: &str, words: &[&str]) -> PathBuf {
        let path = self.home.path().join(name);
        let run = Run::gpg_with_agent(&self.home).args(PASSPHRASE).arg("--output").arg(&path);
        run.args(words).succeed();
        path
    }

    /// Imports everything into both.
    fn in_both(&self) -> Both {
        let both = Both::with_agent();
        let all = self.file("all.asc", &["--armor", "--export-secret-keys"]);
        both.assert_same_reports(["--import".as_ref(), all.as_os_str()]);
        both
    }

    /// Returns the fingerprint of Alice's subkey.
    fn subkey_of_alice(&self) -> String {
        let done = Run::gpg(&self.home).args(["--with-colons", "--list-keys", &self.alice]).succeed();
        let text = done.text();
        let line = text.lines().rfind(|line| line.starts_with("fpr:")).expect("a subkey");
        line.split(':').nth(9).expect("ten fields").to_owned()
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.home.kill_agent();
    }
}

fn same_listings(both: &Both) {
    for words in [
        &["-K"][..],
        &["--list-secret-keys", "--with-colons"],
        &["-K", "--with-keygrip", "--with-subkey-fingerprint"],
        &["-K", "--fingerprint", "--fingerprint", "--keyid-format", "long"],
        &["-K", "--with-colons", "--with-keygrip", "--fixed-list-mode"],
        &["-k", "--with-colons", "--with-secret"],
        &["-k", "--with-colons"],
    ] {
        both.assert_same_output(words);
    }
}

#[test]
fn imported_secret_keys_are_counted_and_listed_as_gpg_does() {
    let keys = Keys::new();
    let both = Both::with_agent();
    let all = keys.file("all.asc", &["--armor", "--export-secret-keys"]);
    both.assert_same_reports(["--import".as_ref(), all.as_os_str()]);
    same_listings(&both);
    // A second time they are all unchanged.
    both.assert_same_reports(["--import".as_ref(), all.as_os_str()]);
    same_listings(&both);
}

#[test]
fn a_secret_key_with_an_older_binding_signature_changes_nothing_of_the_certificate_as_with_gpg() {
    let maker = AgentHome::with_keys("", &[("ed25519", "cv25519")]);
    let secret = Run::gpg_with_agent(&maker.home).arg("--export-secret-keys").succeed().stdout;
    let key = maker.fingerprints("ed25519@example.org")[0].clone();
    let later = Run::gpg_with_agent(&maker.home).at("20240301T000000!");
    later.args(["--quick-set-expire", &key, "2040-01-01", "*"]).succeed();
    let public = Run::gpg(&maker.home).arg("--export").succeed().stdout;
    let words = ["--status-fd", "2", "--import"];
    let [gpg, ours] = [Run::gpg_with_agent, Run::gpg_keyhoard].map(|program: fn(&Home) -> Run| {
        let home = AgentHome::empty();
        program(&home.home).arg("--import").stdin(public.clone()).succeed();
        let told = program(&home.home).args(words).stdin(secret.clone()).succeed().errors();
        let is_told = |line: &&str| !line.contains("KEY_CONSIDERED");
        told.lines().filter(is_told).map(str::to_owned).collect::<Vec<_>>()
    });
    assert!(gpg.iter().any(|line| line.ends_with(" not changed")), "{gpg:?}");
    assert_eq!(ours, gpg);
}

#[test]
fn a_stub_is_listed_as_a_stub_until_the_secret_key_is_imported() {
    let keys = Keys::new();
    let both = Both::with_agent();
    let subkeys = keys.file("subkeys.gpg", &["--export-secret-subkeys", &keys.alice]);
    both.assert_same_reports(["--import".as_ref(), subkeys.as_os_str()]);
    same_listings(&both);
    let listing = Run::gpg_keyhoard(&both.keyhoard).arg("-K").succeed().text();
    assert!(listing.contains("sec#  rsa2048"), "{listing}");
    let whole = keys.file("whole.gpg", &["--export-secret-keys", &keys.alice]);
    both.assert_same_reports(["--import".as_ref(), whole.as_os_str()]);
    same_listings(&both);
}

#[test]
fn secret_keys_are_listed_by_name_and_others_are_not_found() {
    let both = Keys::new().in_both();
    let other = OwnKey::new("Other <other@example.org>");
    let public = both.gpg.write("other.gpg", other.certificate());
    both.import(&public);
    for names in [&["alice"][..], &["=Bob <bob@example.org>"], &["nobody"], &["nobody", "bob"], &["other"]] {
        both.assert_same_status(["-K"].iter().chain(names));
        both.assert_same_status(["-K", "--with-colons"].iter().chain(names));
    }
    both.assert_same_output(["-K"]);
}

#[test]
fn gpg_and_gpg_keyhoard_import_each_others_exported_secret_keys() {
    let keys = Keys::new();
    let both = keys.in_both();
    let subkey = format!("{}!", keys.subkey_of_alice());
    for words in [
        &["--export-secret-keys"][..],
        &["--export-secret-keys", "bob"],
        &["--export-secret-subkeys", "bob"],
        &["--export-secret-keys", &subkey],
        &["--export-secret-subkeys", &subkey, "bob"],
        &["--armor", "--export-secret-keys", &keys.alice],
    ] {
        both.assert_same_reports(PASSPHRASE.iter().chain(&["--yes", "--output", "/dev/null"]).chain(words));
        let exported = Run::gpg_keyhoard(&both.keyhoard).args(words).succeed();
        let [expected, found] = [Both::with_agent(), Both::with_agent()];
        let theirs = Run::gpg_with_agent(&both.gpg).args(PASSPHRASE).args(words).succeed();
        for (pair, file) in [(&expected, theirs.stdout), (&found, exported.stdout)] {
            let file = pair.gpg.write("exported", file);
            pair.assert_same_reports(["--import".as_ref(), file.as_os_str()]);
            same_listings(pair);
        }
        let listing =
            |pair: &Both| Run::gpg_with_agent(&pair.gpg).args(["-K", "--with-colons"]).output().stdout;
        assert_same(&words.join(" "), &listing(&expected), &listing(&found));
    }
}

#[test]
fn an_export_of_no_secret_keys_is_reported() {
    let both = Keys::new().in_both();
    both.assert_same_reports(["--export-secret-keys", "nobody"]);
    let armored =
        Run::gpg_keyhoard(&both.keyhoard).args(["--armor", "--export-secret-keys", "bob"]).succeed();
    assert!(armored.text().starts_with("-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n"), "{}", armored.text());
}

#[test]
fn a_key_with_a_secret_part_is_deleted_only_after_it() {
    let keys = Keys::new();
    let both = keys.in_both();
    let (alice, bob) = (keys.alice.as_str(), keys.bob.as_str());
    let subkey = format!("{}!", keys.subkey_of_alice());
    for words in [
        &["--delete-keys", alice][..],
        &["--delete-secret-keys", "alice"],
        &["--yes", "--delete-secret-keys", "alice"],
        &["--delete-secret-keys", "nobody"],
        &["--pinentry-mode", "loopback", "--delete-secret-keys", alice],
        &["--yes", "--delete-secret-keys", &subkey],
        &["--yes", "--delete-secret-keys", alice],
        &["--yes", "--delete-secret-keys", alice],
        &["--delete-keys", alice],
        &["--yes", "--delete-secret-and-public-keys", "bob"],
        &["--yes", "--delete-secret-and-public-keys", bob],
        &["--yes", "--delete-secret-and-public-keys", bob],
        &["--delete-secret-keys"],
    ] {
        both.assert_same_reports(words);
        both.assert_same_output(["-K", "--with-colons"]);
        both.assert_same_output(["-k", "--with-colons"]);
    }
}

#[test]
fn another_passphrase_locks_all_keys_of_a_certificate() {
    let keys = Keys::new();
    let both = keys.in_both();
    let home = &both.keyhoard;
    let questions = ["--no-batch", "--no-tty", "--command-fd", "0", "--pinentry-mode", "loopback"];
    let words = questions.iter().chain(&["--status-fd", "1", "--passwd", "bob"]);
    let [gpg, done] = both.run_with_answers("abc\nnew\n", words.clone());
    let lines = |text: String| -> Vec<String> {
        text.lines().filter(|line| !line.contains("KEY_CONSIDERED")).map(str::to_owned).collect()
    };
    assert_eq!(lines(done.text()), lines(gpg.text()));
    let with = |passphrase: &str| {
        let given = ["--pinentry-mode", "loopback", "--passphrase", passphrase];
        Run::gpg_keyhoard(home).args(given).args(["--dry-run", "--passwd", "bob"]).output()
    };
    assert_eq!(with("new").code, Some(0));
    let refused = with("abc");
    assert_eq!(refused.code, Some(2));
    assert!(refused.errors().contains("error changing passphrase: Bad passphrase"), "{}", refused.errors());
    // gpg opens it with the new passphrase, too.
    let exported = Run::gpg_keyhoard(home).args(["--export-secret-keys", "bob"]).succeed();
    let other = Both::with_agent();
    let file = other.gpg.write("bob.gpg", exported.stdout);
    other.assert_same_reports(["--import".as_ref(), file.as_os_str()]);
    let given = ["--pinentry-mode", "loopback", "--passphrase", "new"];
    Run::gpg_with_agent(&other.gpg).args(given).args(["--dry-run", "--passwd", "bob"]).succeed();
    Run::gpg_with_agent(&other.gpg).args(given).arg("--sign").stdin("text").succeed();
}

#[test]
fn a_missing_passphrase_has_gpgs_error_code() {
    let both = Keys::new().in_both();
    for words in [
        &["--pinentry-mode", "loopback", "--passphrase", "bad", "--passwd", "bob"][..],
        &["--pinentry-mode", "error", "--passwd", "bob"],
        &["--pinentry-mode", "cancel", "--passwd", "bob"],
        &["--pinentry-mode", "loopback", "--passphrase", "bad", "--passwd", "nobody"],
    ] {
        let [gpg, done] = both.run(["--status-fd", "1"].iter().chain(words));
        // gpg 2.4 writes a last line where the exit code is another than 0, which it is here more often.
        let last = "[GNUPG:] FAILURE gpg-exit 33554433\n";
        let told = if gpg.code == Some(0) { done.text().replace(last, "") } else { done.text() };
        assert_eq!(told, gpg.text(), "{words:?}");
        assert_eq!(done.code, Some(2), "{words:?}");
    }
}

#[test]
fn a_passphrase_is_read_from_a_file_or_a_descriptor() {
    let both = Keys::new().in_both();
    let file = both.keyhoard.write("passphrase", "abc\nmore\n");
    let passwd = ["--dry-run", "--passwd", "bob"];
    let run = || Run::gpg_keyhoard(&both.keyhoard).args(["--pinentry-mode", "loopback"]);
    run().arg("--passphrase-file").arg(&file).args(passwd).succeed();
    run().args(["--passphrase-fd", "0"]).args(passwd).stdin("abc\nmore\n").succeed();
    let wrong =
        run().args(["--passphrase", "abc", "--passphrase-fd", "0"]).args(passwd).stdin("bad\n").output();
    assert_eq!(wrong.code, Some(2), "a descriptor counts more than --passphrase");
}

#[test]
fn a_secret_subkey_without_a_binding_signature_is_kept_if_the_stored_certificate_has_it() {
    let keys = Keys::new();
    let home = Home::new();
    let public = Run::gpg(&keys.home).args(["--export", &keys.alice]).succeed().stdout;
    Run::gpg_keyhoard(&home).arg("--import").stdin(public).succeed();
    let secret =
        std::fs::read(keys.file("secret", &["--export-secret-keys", &keys.alice])).expect("an export");
    // The subkey's signature is the last packet.
    let mut packets: Vec<&[u8]> =
        harness::packets::packets(&secret).into_iter().map(|packet| packet.raw).collect();
    packets.pop();
    Run::gpg_keyhoard(&home).arg("--import").stdin(packets.concat()).succeed();
    let listing = Run::gpg_keyhoard(&home).args(["--with-colons", "-K"]).succeed().text();
    let subkey = listing.lines().find(|line| line.starts_with("ssb:")).expect("a subkey");
    assert_eq!(subkey.split(':').nth(14), Some("+"), "its secret part is here: {subkey}");
}

#[test]
fn a_damaged_key_file_of_another_certificate_keeps_no_named_key_from_signing() {
    let home = Home::new();
    let run = || Run::gpg_keyhoard(&home).args(PASSPHRASE);
    for name in ["ann@example.org", "bob@example.org"] {
        run().args(["--passphrase", "", "--quick-generate-key", name, "ed25519", "sign,cert"]).succeed();
    }
    let carl = OwnKey::new("Carl");
    run().arg("--import").stdin(carl.certificate()).succeed();
    let listed = run().args(["--with-colons", "-K", "bob@example.org"]).succeed().text();
    let bob = listed.lines().find_map(|line| line.strip_prefix("fpr:::::::::")).expect("a fingerprint");
    let file = home.path().join("secret-keys").join(format!("{}.key", bob.trim_end_matches(':')));
    let whole = fs::read(&file).expect("a secret key in a file");
    let end = whole.len();
    let damaged = [Vec::new(), whole[..10].to_vec(), whole[..end - 5].to_vec(), vec![0xff; end]];
    for content in &damaged {
        fs::write(&file, content).expect("the test's own file");
        let signed = run().args(["-u", "ann@example.org", "-s"]).stdin("a text").succeed().stdout;
        assert_eq!(run().arg("-d").stdin(signed).succeed().text(), "a text");
        run().args(["-u", "ann@example.org", "--quick-sign-key", carl.fingerprint()]).succeed();
        let refused = run().args(["-u", "bob@example.org", "-s"]).stdin("a text").output();
        assert_eq!(refused.code, Some(2), "{}", refused.errors());
    }
    fs::write(&file, whole).expect("the test's own file");
    run().args(["-u", "bob@example.org", "-s"]).stdin("a text").succeed();
}
