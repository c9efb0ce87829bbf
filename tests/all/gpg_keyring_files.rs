//! Keyring files of GnuPG's: `gpg-keyhoard` changes them as gpg does, and gpg and gpgv read what it wrote.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use harness::{Both, Gnupg, Home, Output, OwnKey, Run, alice_and_bob, assert_same};

const ONLY: [&str; 3] = ["--batch", "--no-default-keyring", "--keyring"];

/// Lists a keyring file with the real gpg.
fn listed_by_gpg(both: &Both, ring: &Path) -> Vec<u8> {
    let ring = ring.to_str().expect("a text");
    let run = both.run_of(true).args(["--with-colons", "--no-default-keyring", "--keyring", ring]);
    run.arg("--list-keys").output().stdout
}

fn import(both: &Both, gpg: bool, ring: &str, file: &Path) {
    let done = both.run_of(gpg).args(ONLY).arg(ring).arg("--import").arg(file).output();
    assert_eq!(done.code, Some(0), "{}", done.errors());
}

/// Writes the certificates of Alice and Bob to a file of packets, and that of Alice to another one.
fn inputs(both: &Both) -> [std::path::PathBuf; 2] {
    let whole = Run::gpg_keyhoard(&both.keyhoard);
    whole.args(["--batch", "--import"]).arg(alice_and_bob()).output();
    let export = |name: &str, words: &[&str]| {
        let done = Run::gpg_keyhoard(&both.keyhoard).arg("--export").args(words).succeed();
        both.keyhoard.write(name, done.stdout)
    };
    [export("both.pgp", &[]), export("alice.pgp", &["alice"])]
}

#[test]
fn a_new_file_has_the_format_that_its_name_asks_for() {
    let both = Both::with_agent();
    let [whole, _] = inputs(&both);
    for (prefix, begins) in [("", b"KBXf".as_slice()), ("gnupg-kbx:", b"KBXf"), ("gnupg-ring:", b"\x98")] {
        let names =
            ["of-gpg", "of-keyhoard"].map(|name| both.gpg.path().join(format!("{name}{}", prefix.len())));
        for (gpg, name) in [true, false].into_iter().zip(&names) {
            import(&both, gpg, &format!("{prefix}{}", name.display()), &whole);
        }
        let [expected, found] = names.each_ref().map(|name| listed_by_gpg(&both, name));
        assert!(!expected.is_empty());
        assert_same(prefix, &expected, &found);
        let bytes = fs::read(&names[1]).expect("it was written");
        let offset = if begins == b"KBXf" { 8 } else { 0 };
        assert!(bytes[offset..].starts_with(begins), "{prefix}");
        let modes = names.map(|name| fs::metadata(name).expect("it was written").permissions().mode());
        assert_eq!(modes[0], modes[1], "{prefix}");
    }
}

#[test]
fn a_file_is_merged_and_what_did_not_change_stays_byte_for_byte() {
    let both = Both::with_agent();
    let [whole, alice] = inputs(&both);
    for prefix in ["gnupg-ring:", "gnupg-kbx:"] {
        let file = both.gpg.path().join(format!("ring{}", prefix.len()));
        let ring = format!("{prefix}{}", file.display());
        import(&both, true, &ring, &alice);
        let mut before = fs::read(&file).expect("gpg wrote it");
        if prefix == "gnupg-kbx:" {
            // A blob of an unknown kind.
            before.extend([0, 0, 0, 9, 77, 1, 2, 3, 4]);
            fs::write(&file, &before).expect("the home is writable");
        }
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("the file is the test's own");
        import(&both, false, &ring, &whole);
        let after = fs::read(&file).expect("it was written");
        assert!(after.starts_with(&before), "{prefix}: what was there stays");
        assert!(after.len() > before.len(), "{prefix}: Bob is new");
        assert_eq!(
            fs::read(file.with_extension("~").with_file_name(format!("ring{}~", prefix.len()))).ok(),
            Some(before)
        );
        assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o640);
        assert!(listed_by_gpg(&both, &file).iter().filter(|byte| **byte == b'\n').count() > 4);
        // Nothing new: the file is not written.
        let written = fs::metadata(&file).and_then(|metadata| metadata.modified()).expect("there");
        import(&both, false, &ring, &whole);
        assert_eq!(fs::metadata(&file).and_then(|metadata| metadata.modified()).expect("there"), written);
        assert!(!both.gpg.path().join(format!("ring{}.lock", prefix.len())).exists());
    }
}

#[test]
fn gpgv_verifies_with_a_keyring_that_was_imported() {
    let both = Both::with_agent().now("20260201T000000!");
    let [whole, _] = inputs(&both);
    let file = both.gpg.path().join("trusted.gpg");
    import(&both, false, &format!("gnupg-ring:{}", file.display()), &whole);
    let loopback =
        ["--batch", "--pinentry-mode", "loopback", "--passphrase", "", "-u", "bob", "-b", "-o", "-"];
    let signature = both.run_of(false).args(loopback).stdin("text").output();
    let signature = both.gpg.write("text.sig", signature.stdout);
    let text = both.gpg.write("text", "text");
    let gpgv = Run::new(Path::new("gpgv"), both.gpg.path());
    let done = gpgv.arg("--keyring").arg(&file).arg(&signature).arg(&text).output();
    assert_eq!(done.code, Some(0), "{}", done.errors());
}

#[test]
fn a_home_gets_the_trust_database_of_a_new_home_once() {
    let homes = [Home::new(), Home::new()];
    let now = "20260131T000000!";
    Run::gpg(&homes[0]).at(now).args(["--trust-model", "pgp", "--check-trustdb"]).succeed();
    Run::gpg_keyhoard(&homes[1]).at(now).arg("--list-keys").output();
    let [gpg, keyhoard] = homes.each_ref().map(|home| home.path().join("trustdb.gpg"));
    assert!(!keyhoard.exists(), "who only reads writes nothing");
    Run::gpg_keyhoard(&homes[1]).at(now).arg("--import").arg(alice_and_bob()).output();
    assert_eq!(fs::read(&keyhoard).expect("it was made"), fs::read(&gpg).expect("gpg made it"));
    assert_eq!(fs::metadata(&keyhoard).expect("there").permissions().mode() & 0o777, 0o600);
    fs::write(&keyhoard, b"mine").expect("the home is writable");
    Run::gpg_keyhoard(&homes[1]).at(now).arg("--import").arg(alice_and_bob()).output();
    assert_eq!(fs::read(&keyhoard).expect("there"), b"mine");
}

/// The keyrings of homes that have the secret keys of Alice and Bob: `ring`, a file in each with these keys and Carl's.
struct Rings(Both);

impl Rings {
    fn new(gnupg: Gnupg, format: &str) -> Self {
        let rings = Self(Both::of_alice_and_bob_with(gnupg));
        let both = &rings.0;
        let ring = format!("{format}ring");
        let carl = both.gpg.write("carl", OwnKey::new("Carl <carl@example.org>").certificate());
        let whole = both.gpg.write("both", both.run_of(true).arg("--export").output().stdout);
        for gpg in [true, false] {
            import(both, gpg, &ring, &whole);
            import(both, gpg, &ring, &carl);
        }
        rings
    }

    fn files(&self) -> [PathBuf; 2] {
        [&self.0.gpg, &self.0.keyhoard].map(|home| home.path().join("ring"))
    }

    /// Runs a command on the keyring alone, and asserts that both have the same exit code and status lines, and the same
    /// certificates in their files then.
    #[track_caller]
    fn same(&self, words: &[&str], answers: &str) {
        const PROGRAM: [&str; 5] = ["--pinentry-mode", "loopback", "--passphrase", "", "--command-fd=0"];
        let status = ["--status-fd", "1", "--yes"];
        let words = [&ONLY[..], &["ring"], &PROGRAM, &status, words].concat();
        let what = words.join(" ");
        let [gpg, keyhoard] = self.0.run_with_answers(answers, words);
        let told = |done: &Output| {
            let text = done.text();
            let lines = text.split_inclusive('\n').filter(|line| line.starts_with("[GNUPG:] "));
            lines.filter(|line| !line.contains(" KEY_CONSIDERED ")).collect::<String>()
        };
        assert_same(&what, told(&gpg).as_bytes(), told(&keyhoard).as_bytes());
        assert_eq!(gpg.code, keyhoard.code, "{what}: {}", keyhoard.errors());
        let [gpg, keyhoard] = self.files().map(|file| {
            let file = file.to_str().expect("a text");
            let list = ["--with-colons", "--no-default-keyring", "--keyring", file, "--list-sigs"];
            self.0.run_of(true).args(list).output().text()
        });
        assert_same(&what, gpg.as_bytes(), keyhoard.as_bytes());
    }
}

#[test]
fn keys_in_a_file_are_edited_as_by_gpg() {
    for (gnupg, format) in Gnupg::ALL.into_iter().zip(["gnupg-ring:", "gnupg-kbx:"]) {
        let mut rings = Rings::new(gnupg, format);
        let steps: [(&[&str], &str); 8] = [
            (&["--quick-add-uid", "alice", "Alice <alice@example.net>"], ""),
            (&["--quick-set-expire", "51533D3D0D28361643870CC6356E432296C42478", "1y"], ""),
            (&["-u", "alice", "--quick-lsign-key", "bob"], ""),
            (&["-u", "alice", "--edit-key", "carl"], "uid 1\nsign\ny\nsave\n"),
            (&["--edit-key", "alice"], "uid 1\ndeluid\ny\nsave\n"),
            (&["--edit-key", "bob"], "uid 1\ndelsig\nn\nn\ny\nq\nsave\n"),
            (&["--edit-key", "nobody"], ""),
            (&["--edit-key", "carl"], "uid 1\nminimize\nquit\n"),
        ];
        for (day, (words, answers)) in (1..).zip(steps) {
            rings = Rings(rings.0.now(&format!("2026020{day}T000000!")));
            rings.same(words, answers);
        }
        let [_, file] = rings.files();
        assert!(file.with_file_name("ring~").exists() && !file.with_file_name("ring.lock").exists());
    }
}

#[test]
fn keys_in_a_file_are_deleted_as_by_gpg() {
    for (gnupg, format) in Gnupg::ALL.into_iter().zip(["gnupg-kbx:", "gnupg-ring:"]) {
        let rings = Rings::new(gnupg, format);
        let [_, file] = rings.files();
        let before = fs::read(&file).expect("it was written");
        rings.same(&["--delete-keys", "carl", "alice"], "");
        let after = fs::read(&file).expect("it is there");
        assert!(before.starts_with(&after) && after.len() < before.len(), "Carl was the last");
        rings.same(&["--delete-keys", "carl"], "");
        let name = "--delete-secret-and-public-key";
        let list = rings.0.run_of(false).args(["--with-colons", "-k", "bob"]).output().text();
        let bob = list.lines().find_map(|line| line.strip_prefix("fpr:::::::::")).expect("he is there");
        rings.same(&[name, bob.trim_end_matches(':')], "");
    }
}

#[test]
fn a_new_key_goes_into_the_file_and_is_trusted_in_the_home() {
    let home = Home::new();
    let ring = ["--no-default-keyring", "--keyring", "ring"];
    let generate = ["--batch", "--passphrase", "", "--quick-generate-key", "Ann <ann@example.org>"];
    Run::gpg_keyhoard(&home).args(ring).args(generate).succeed();
    let list = |run: Run| run.args(ring).args(["--with-colons", "-k"]).succeed().text();
    let listed = list(Run::gpg_keyhoard(&home));
    assert!(listed.contains("::u:::scESC:") && listed.contains("ann@example.org"), "{listed}");
    assert!(list(Run::gpg(&home)).contains("ann@example.org"), "gpg reads the file");
    assert_eq!(Run::gpg_keyhoard(&home).arg("-k").succeed().text(), "", "the database has the trust alone");
    let signed = Run::gpg_keyhoard(&home).args(ring).args(["--batch", "-s"]).stdin("text").succeed();
    assert!(!signed.stdout.is_empty());
}

#[test]
fn keys_of_a_file_beside_a_home_without_keys_are_changed_there() {
    let home = Home::new();
    let carl = OwnKey::new("Carl <carl@example.org>");
    let ring = ["--keyring", "ring"];
    Run::gpg_keyhoard(&home).args(ONLY).args(["ring", "--import"]).stdin(carl.certificate()).succeed();
    Run::gpg_keyhoard(&home).args(ring).args(["--batch", "--yes", "--delete-keys", "carl"]).succeed();
    let listed = Run::gpg_keyhoard(&home).args(ring).arg("-k").output();
    assert!(!listed.text().contains("carl"), "{}", listed.text());
    assert!(!home.database().exists());
}
