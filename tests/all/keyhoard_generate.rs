//! `keyhoard generate`: every kind of key, read by the real gpg, gpg1 and sq as far as each supports it.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use harness::{Engine, Home, Output, Run};

harness::on_both_engines! {
    a_new_key_is_ultimately_trusted_and_undo_removes_it
}

/// What a version 4 key may be made of, as gpg lists the primary key and the subkey.
const GPG_READS: [(&str, &str, &str); 8] = [
    ("ed25519", "ed25519", "cv25519"),
    ("nistp256", "nistp256", "nistp256"),
    ("nistp384", "nistp384", "nistp384"),
    ("nistp521", "nistp521", "nistp521"),
    ("brainpoolP256r1", "brainpoolP256r1", "brainpoolP256r1"),
    ("brainpoolP384r1", "brainpoolP384r1", "brainpoolP384r1"),
    ("brainpoolP512r1", "brainpoolP512r1", "brainpoolP512r1"),
    ("rsa2048", "", ""),
];

/// When keys are made.
const MADE: &str = "20260101T000000!";

fn generate(home: &Home, arguments: &[&str]) -> Output {
    Run::keyhoard(home).arg("generate").args(["--faked-system-time", MADE]).args(arguments).output()
}

/// Makes a key without passphrase and returns its fingerprint.
#[track_caller]
fn made(home: &Home, arguments: &[&str]) -> String {
    let done = generate(home, &[&["--no-passphrase"], arguments].concat());
    assert_eq!(done.code, Some(0), "{}", done.errors());
    done.text().trim_end().to_owned()
}

fn exported(home: &Home, fingerprint: &str) -> Vec<u8> {
    Run::keyhoard(home).args(["export", fingerprint]).succeed().stdout
}

/// The files of a directory beside the database.
fn files(home: &Home, directory: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(home.path().join(directory)) else { return Vec::new() };
    entries.map(|entry| entry.expect("the home is readable").path()).collect()
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).expect("the file is there").permissions().mode() & 0o777
}

/// The fields of gpg's colon records that keys are compared by: all but validity and times of the listing.
fn keys_in(colons: &str) -> Vec<Vec<String>> {
    let wanted = colons.lines().filter(|line| ["pub", "sub", "fpr", "grp", "uid"].contains(&&line[..3]));
    wanted
        .map(|line| {
            let fields: Vec<&str> = line.split(':').collect();
            let places: &[usize] = if fields[0] == "uid" { &[0, 9] } else { &[0, 2, 3, 4, 5, 6, 9, 11, 16] };
            places.iter().map(|&place| fields.get(place).unwrap_or(&"").to_string()).collect()
        })
        .collect()
}

#[test]
fn gpg_reads_every_algorithm_and_agrees_on_keys_keygrips_and_flags() {
    for (algorithm, primary, subkey) in GPG_READS {
        let (home, gpg) = (Home::new(), Home::new());
        let fingerprint =
            made(&home, &["--algorithm", algorithm, "--expires", "2y", "Ann <ann@example.org>"]);
        Run::gpg(&gpg).arg("--import").stdin(exported(&home, &fingerprint)).succeed();
        let list = ["--with-colons", "--with-keygrip", "--list-keys"];
        let theirs = Run::gpg(&gpg).args(list).succeed().text().to_owned();
        let ours = Run::gpg_keyhoard(&home).args(list).succeed().text().to_owned();
        assert_eq!(keys_in(&theirs), keys_in(&ours), "{algorithm}");
        let curves: Vec<&str> = theirs
            .lines()
            .filter(|line| line.starts_with("pub") || line.starts_with("sub"))
            .map(|line| line.split(':').nth(16).expect("a curve"))
            .collect();
        assert_eq!(curves, [primary, subkey], "{algorithm}");
        let checked = Run::gpg(&gpg).arg("--check-signatures").output();
        assert!(checked.errors().contains("2 good signatures"), "{algorithm}: {}", checked.errors());
    }
}

#[test]
fn gpg_finds_its_own_preferences_in_a_compatible_key() {
    let (home, gpg) = (Home::new(), Home::new());
    let fingerprint = made(&home, &["ann@example.org"]);
    Run::gpg(&gpg).arg("--import").stdin(exported(&home, &fingerprint)).succeed();
    let show = ["--command-fd", "0", "--with-colons", "--edit-key", &fingerprint, "quit"];
    let text = Run::gpg(&gpg).args(show).output().text().to_owned();
    assert!(text.contains("S9 S8 S7 S2 H10 H9 H8 H11 H2 Z2 Z3 Z1,mdc,no-ks-modify"), "{text}");
}

#[test]
fn gpg1_reads_rsa_keys() {
    let (home, old) = (Home::new(), Home::new());
    let fingerprint = made(&home, &["--algorithm", "rsa2048", "ann@example.org"]);
    let gpg1 = |arguments: &[&str], stdin: Vec<u8>| {
        let place = old.path().join("input");
        std::fs::write(&place, stdin).expect("the home is writable");
        let mut command = Command::new("gpg1");
        command.arg("--homedir").arg(old.path()).args(["--batch", "--no-tty"]).args(arguments);
        command.env("LC_ALL", "C.UTF-8").stdin(std::fs::File::open(place).expect("it was written"));
        command.output().expect("gpg1 is installed")
    };
    assert!(gpg1(&["--import"], exported(&home, &fingerprint)).status.success());
    let listing = gpg1(&["--with-colons", "--fingerprint", "--check-sigs"], Vec::new());
    let text = String::from_utf8_lossy(&listing.stdout).into_owned();
    assert!(text.contains(&fingerprint), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("sig:!:")).count(), 2, "{text}");
}

#[test]
fn sq_reads_every_kind_of_key_of_both_versions() {
    let home = Home::new();
    let mut keys = vec![made(&home, &["--profile", "modern", "ann@example.org"])];
    for (algorithm, ..) in GPG_READS {
        keys.push(made(&home, &["--algorithm", algorithm, "ann@example.org"]));
    }
    for fingerprint in keys {
        let place = home.write("cert.pgp", exported(&home, &fingerprint));
        let output = Command::new("sq").arg("inspect").arg(&place).stdin(Stdio::null()).output();
        let output = output.expect("sq is installed");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        // An sq of before RFC 9580 shows a version 6 key as unknown packets.
        if fingerprint.len() == 40 || text.contains("Fingerprint") {
            assert!(text.contains(&fingerprint) && !text.contains("invalid"), "{text}");
            assert!(text.contains("ann@example.org"), "{text}");
        }
    }
}

#[test]
fn the_secret_keys_and_the_revocation_are_readable_by_their_owner_only() {
    let home = Home::new();
    let fingerprint = made(&home, &["ann@example.org"]);
    let secret = files(&home, "secret-keys");
    assert_eq!(secret.iter().filter(|path| path.extension().is_some_and(|end| end == "key")).count(), 2);
    let revocation = home.path().join("openpgp-revocs.d").join(format!("{fingerprint}.rev"));
    assert!(secret.iter().chain([&revocation]).all(|path| mode(path) == 0o600));
    for directory in ["secret-keys", "openpgp-revocs.d"] {
        assert_eq!(mode(&home.path().join(directory)), 0o700);
    }
}

#[test]
fn the_revocation_certificate_revokes_in_gpg_once_its_colon_is_gone() {
    let (home, gpg) = (Home::new(), Home::new());
    let fingerprint = made(&home, &["ann@example.org"]);
    let revocation = home.path().join("openpgp-revocs.d").join(format!("{fingerprint}.rev"));
    let text = std::fs::read_to_string(revocation).expect("it was written");
    Run::gpg(&gpg).arg("--import").stdin(exported(&home, &fingerprint)).succeed();
    Run::gpg(&gpg).arg("--import").stdin(text.clone()).output();
    let validity = |gpg: &Home| {
        let listing = Run::gpg(gpg).args(["--with-colons", "--list-keys"]).succeed().text().to_owned();
        listing.lines().find_map(|line| line.strip_prefix("pub:").map(|rest| rest[..1].to_owned()))
    };
    assert_ne!(validity(&gpg).as_deref(), Some("r"), "the colon keeps it from being used by mistake");
    // Without a trust database gpg ends with an error after it has imported a revocation.
    Run::gpg(&gpg).arg("--import").stdin(text.replace(":-----BEGIN", "-----BEGIN")).output();
    assert_eq!(validity(&gpg).as_deref(), Some("r"));
}

fn a_new_key_is_ultimately_trusted_and_undo_removes_it(engine: Engine) {
    let home = engine.home();
    let fingerprint = made(&home, &["ann@example.org"]);
    let trust = Run::gpg_keyhoard(&home).arg("--export-ownertrust").succeed();
    assert!(trust.text().contains(&format!("{fingerprint}:6:")), "{}", trust.text());
    Run::keyhoard(&home).arg("undo").succeed();
    assert_eq!(Run::keyhoard(&home).args(["list", "--json"]).output().text(), "");
}

#[test]
fn without_a_terminal_nothing_is_asked_and_the_error_names_the_option() {
    let home = Home::new();
    for (arguments, option) in
        [(&["ann@example.org"][..], "--no-passphrase"), (&["--no-passphrase"], "USER-ID"), (&[], "USER-ID")]
    {
        let refused = generate(&home, arguments);
        assert_eq!(refused.code, Some(2));
        let said = refused.errors().replace("user ID", "USER-ID");
        assert!(said.contains(option), "{said}");
    }
    assert!(files(&home, "secret-keys").is_empty(), "nothing was made");
}

#[test]
fn a_passphrase_locks_all_keys() {
    let home = Home::new();
    let place = home.write("passphrase", "correct horse\n");
    let place = place.to_str().expect("a plain path");
    for profile in ["compatible", "modern"] {
        let done = generate(&home, &["--passphrase-file", place, "--profile", profile, "ann@example.org"]);
        assert_eq!(done.code, Some(0), "{}", done.errors());
        let key = done.text().trim_end().to_owned();
        let add = |options: &[&str], user_id: &str| {
            let base = ["key", "add-user-id", "--faked-system-time", "20260102T000000!"];
            Run::keyhoard(&home).args(base).args(options).args([&key, user_id]).output()
        };
        let wrong = home.write("wrong", "incorrect\n");
        assert_eq!(
            add(&["--passphrase-file", wrong.to_str().expect("a plain path")], "b@example.org").code,
            Some(2)
        );
        let added = add(&["--passphrase-file", place], "b@example.org");
        assert_eq!(added.code, Some(0), "{}", added.errors());
    }
}

#[test]
fn the_users_own_profiles_are_found_and_errors_name_file_and_line() {
    let home = Home::new();
    let directory = home.path().join(".config/keyhoard");
    std::fs::create_dir_all(&directory).expect("the home is writable");
    let file = directory.join("profiles.toml");
    let write = |text: &str| std::fs::write(&file, text).expect("the home is writable");
    write("[work]\nalgorithm = \"nistp384\"\nuser-ids = [\"Work <work@example.org>\"]\n");
    made(&home, &["--profile", "work"]);
    let listing = Run::keyhoard(&home).args(["list", "work@example.org"]).succeed();
    assert!(listing.text().contains("nistp384"), "{}", listing.text());
    write("[work]\nalgorithm = \"nistp385\"\n");
    let refused = generate(&home, &["--no-passphrase", "--profile", "work", "a@example.org"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.errors().contains("profiles.toml: line 2: 'nistp385'"), "{}", refused.errors());
    let unknown = generate(&home, &["--no-passphrase", "--profile", "fast", "a@example.org"]);
    assert!(unknown.errors().contains("profiles.toml"), "a broken file is told first: {}", unknown.errors());
    write("");
    let unknown = generate(&home, &["--no-passphrase", "--profile", "fast", "a@example.org"]);
    assert!(unknown.errors().contains("compatible, modern, post-quantum, rsa4096"), "{}", unknown.errors());
}

#[test]
fn a_place_that_cannot_be_written_leaves_no_secret_key() {
    let home = Home::new();
    // Where the directory of revocation certificates would be, there is a file.
    home.write("openpgp-revocs.d", "");
    let refused = generate(&home, &["--no-passphrase", "ann@example.org"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.errors().contains("openpgp-revocs.d"), "{}", refused.errors());
    let keys = files(&home, "secret-keys");
    assert!(keys.iter().all(|path| path.extension().is_none_or(|end| end != "key")), "{keys:?}");
    assert_eq!(Run::keyhoard(&home).args(["list", "--json"]).output().text(), "");
}
