//! Databases, homes, keyrings and configuration that somebody else could change, as all programs treat them.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;

use harness::{Home, Keyring, Output, OwnKey, Run};

fn set(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is the test's own");
}

/// A home with a certificate and its secret key.
fn with_key() -> Home {
    let home = Home::new();
    Run::keyhoard(&home).args(["generate", "--no-passphrase", "Ann <ann@example.org>"]).succeed();
    home
}

/// Asserts that a file, its mode and the command that mends it are told.
#[track_caller]
fn assert_told(done: &Output, path: &Path, mode: u32) {
    let (told, path) = (done.errors(), path.display());
    assert!(told.contains(&format!("{path}: others can change it (mode {mode:04o})")), "{told}");
    assert!(told.contains(&format!("`chmod go-w {path}`")), "{told}");
}

#[track_caller]
fn assert_silent(done: &Output) {
    assert!(!done.errors().contains("can change"), "{}", done.errors());
}

#[test]
fn both_programs_warn_of_a_database_that_others_can_change() {
    let home = Home::new();
    Run::keyhoard(&home).arg("import").arg(Keyring::Nonupload.path()).succeed();
    let run = || [Run::keyhoard(&home).arg("list"), Run::gpg_keyhoard(&home).arg("-k")].map(Run::succeed);
    run().iter().for_each(assert_silent);
    set(&home.database(), 0o664);
    run().iter().for_each(|done| assert_told(done, &home.database(), 0o664));
    set(&home.database(), 0o600);
    set(home.path(), 0o770);
    run().iter().for_each(|done| assert_told(done, home.path(), 0o770));
    set(home.path(), 0o700);
    run().iter().for_each(assert_silent);
}

#[test]
fn the_warning_is_printed_once_and_can_be_turned_off_in_gpg_keyhoard() {
    let home = Home::new();
    Run::keyhoard(&home).arg("import").arg(Keyring::Nonupload.path()).succeed();
    set(&home.database(), 0o666);
    let told = Run::keyhoard(&home).args(["trust", "list"]).output().errors();
    assert_eq!(told.matches("can change").count(), 1, "{told}");
    assert_silent(&Run::gpg_keyhoard(&home).args(["--no-permission-warning", "-k"]).succeed());
}

#[test]
fn both_programs_warn_of_a_database_of_another_user() {
    let home = Home::new();
    Run::keyhoard(&home).arg("import").arg(Keyring::Nonupload.path()).succeed();
    if let Err(error) = chown(home.database(), Some(1234), None) {
        let own = fs::metadata(home.database()).expect("it was made").uid();
        assert_ne!(own, 0, "the superuser cannot give a file away: {error}");
        println!("not tested: only the superuser can give a file away");
        return;
    }
    for run in [Run::keyhoard(&home).arg("list"), Run::gpg_keyhoard(&home).arg("-k")] {
        let told = run.succeed().errors();
        assert!(told.contains("keyhoard.db: belongs to user 1234 (mode 0600)"), "{told}");
        assert!(told.contains("`chown 0 "), "{told}");
    }
}

#[test]
fn secret_keys_are_not_used_where_others_can_change_the_database() {
    let home = with_key();
    let signers = || {
        let gpg = Run::gpg_keyhoard(&home).at("20270101T000000").args(["-o", "-", "-s"]);
        [Run::keyhoard(&home).arg("sign"), gpg].map(|run| run.stdin("text").output())
    };
    signers().iter().for_each(|done| assert_eq!(done.code, Some(0), "{}", done.errors()));
    for (path, before, mode) in [(home.database(), 0o600, 0o606), (home.path().to_owned(), 0o700, 0o733)] {
        set(&path, mode);
        for done in signers() {
            assert_eq!((done.code, done.stdout.is_empty()), (Some(2), true), "{}", done.errors());
            assert_told(&done, &path, mode);
        }
        assert_eq!(Run::keyhoard(&home).arg("list").output().code, Some(0), "certificates can be listed");
        set(&path, before);
    }
    signers().iter().for_each(|done| assert_eq!(done.code, Some(0), "{}", done.errors()));
}

#[test]
fn no_command_reads_or_makes_secret_keys_where_others_can_change_the_database() {
    let home = with_key();
    let encrypt = ["encrypt", "--to", "ann@example.org", "--trust-model", "always"];
    let message = Run::keyhoard(&home).args(encrypt).stdin("text").succeed().stdout;
    let run = |program: fn(&Home) -> Run, words: &[&str]| {
        let done = program(&home).args(words).stdin(message.clone()).output();
        (format!("{words:?}: {}", done.errors()), done)
    };
    let keyhoard: [&[&str]; 5] = [
        &["decrypt"],
        &["key", "export", "ann@example.org"],
        &["generate", "--no-passphrase", "Bea <bea@example.org>"],
        &["key", "add-user-id", "ann@example.org", "Ann <ann@example.com>"],
        &["key", "revocation-certificate", "ann@example.org"],
    ];
    let gpg: [&[&str]; 4] = [
        &["-d"],
        &["--export-secret-keys"],
        &["--passphrase", "", "--quick-generate-key", "Bea <bea@example.org>"],
        &["--passphrase", "", "--quick-add-uid", "ann@example.org", "Ann <ann@example.com>"],
    ];
    set(&home.database(), 0o606);
    for words in keyhoard {
        let (told, done) = run(Run::keyhoard, words);
        assert!(done.code == Some(2) && done.stdout.is_empty(), "{told}");
        assert_told(&done, &home.database(), 0o606);
    }
    for words in gpg {
        let (told, done) = run(Run::gpg_keyhoard, words);
        assert!(done.code == Some(2) && done.stdout.is_empty(), "{told}");
        assert_told(&done, &home.database(), 0o606);
    }
    set(&home.database(), 0o600);
    let (told, done) = run(Run::keyhoard, keyhoard[0]);
    assert!(done.code == Some(0) && done.stdout == b"text", "{told}");
}

#[test]
fn certificates_are_exported_also_where_secret_keys_are_not_used() {
    let home = with_key();
    let export = || Run::gpg_keyhoard(&home).arg("--export").succeed().stdout;
    let exported = export();
    set(&home.database(), 0o606);
    assert!(!exported.is_empty());
    assert_eq!(export(), exported);
}

#[test]
fn gpg_keyhoard_says_why_secret_keys_cannot_be_used() {
    let home = with_key();
    let secret_keys = home.path().join("secret-keys");
    set(&secret_keys, 0o755);
    for command in [&["-K"][..], &["-o", "-", "-s"], &["--export-secret-keys"]] {
        let done = Run::gpg_keyhoard(&home).at("20270101T000000").args(command).stdin("text").output();
        let told = done.errors();
        assert_eq!(done.code, Some(2), "{command:?}: {told}");
        assert!(told.contains(&format!("run `chmod 700 {}`", secret_keys.display())), "{command:?}: {told}");
    }
    set(&secret_keys, 0o700);
    for entry in fs::read_dir(&secret_keys).expect("a directory") {
        fs::write(entry.expect("a file").path(), "nonsense").expect("it is the test's own");
    }
    let run = Run::gpg_keyhoard(&home).at("20270101T000000").args(["-u", "ann@example.org", "-o", "-", "-s"]);
    let done = run.stdin("text").output();
    assert_eq!(done.code, Some(2));
    assert!(done.errors().contains("take the file from a backup"), "{}", done.errors());
}

#[test]
fn gpg_keyhoard_warns_of_a_keyring_file_that_others_can_change() {
    let key = OwnKey::new("Ann <ann@example.org>");
    let home = Home::new();
    let ring = home.write("ring.gpg", key.certificate());
    set(&ring, 0o666);
    let list = ["--no-default-keyring", "--keyring", "ring.gpg", "-k"];
    assert_told(&Run::gpg_keyhoard(&home).args(list).succeed(), &ring, 0o666);
    let sign = ["--pinentry-mode", "loopback", "--passphrase", "", "-o", "-", "-s"];
    let message =
        home.write("message", Run::gpg_with_agent(key.home()).args(sign).stdin("text").succeed().stdout);
    let verify = || {
        let words = [ring.as_os_str(), message.as_os_str()];
        Run::with_default_database("gpgv-keyhoard", &home).arg("--keyring").args(words).output()
    };
    assert_told(&verify(), &ring, 0o666);
    set(&ring, 0o644);
    assert_silent(&verify());
}

#[test]
fn gpg_keyhoard_warns_of_a_gpg_conf_that_others_can_change() {
    let home = Home::new();
    let file = home.path().join("gpg.conf");
    set(&file, 0o646);
    assert_told(&Run::gpg_keyhoard(&home).arg("-k").output(), &file, 0o646);
    assert_silent(&Run::gpg_keyhoard(&home).args(["--no-permission-warning", "-k"]).output());
    set(&file, 0o644);
    assert_silent(&Run::gpg_keyhoard(&home).arg("-k").output());
}

#[test]
fn configuration_of_keyhoard_that_others_can_change_is_refused() {
    let home = Home::new();
    let directory = home.path().join(".config/keyhoard");
    fs::create_dir_all(&directory).expect("space");
    let files = [
        ("config.toml", &["generate", "Ann"][..]),
        ("profiles.toml", &["generate", "--no-passphrase", "Ann"]),
    ];
    for (name, command) in files {
        let file = directory.join(name);
        fs::write(&file, "").expect("space");
        set(&file, 0o666);
        let done = Run::keyhoard(&home).args(command).output();
        assert_eq!(done.code, Some(2), "{}", done.errors());
        assert_told(&done, &file, 0o666);
        fs::remove_file(file).expect("it is the test's own");
    }
    assert!(!home.path().join("secret-keys").exists());
}
