//! Importing into keyring files of GnuPG's: `gpg-keyhoard` writes them as gpg does, and gpg and gpgv read what it wrote.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use harness::{Both, Home, Run, alice_and_bob, assert_same};

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
