//! What is written can be read by its owner only where it holds a secret, and replaces nothing unasked.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use harness::{Engine, Home, Run, on_both_engines};
use packet_builder::{Certificate, Key};

/// A home with Ann's secret key, and her fingerprint.
fn home_of_ann(engine: Engine) -> (Home, String) {
    let home = engine.home();
    let key = Key::ed25519("Ann");
    let mut certificate = Certificate::new(&key, "Ann <ann@example.org>");
    let subkey = Key::ed25519("Ann's subkey");
    certificate.add_subkey(&key, &subkey, 2);
    for packet in &mut certificate.packets {
        match packet.tag {
            6 => *packet = key.secret_packet(5),
            14 => *packet = subkey.secret_packet(7),
            _ => {}
        }
    }
    Run::gpg_keyhoard(&home).arg("--import").stdin(certificate.bytes()).succeed();
    (home, key.fingerprint_text())
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it was written").permissions().mode() & 0o777
}

fn exported_secret_keys_and_revocations_are_for_their_owner_only(engine: Engine) {
    let (home, fingerprint) = home_of_ann(engine);
    for command in
        ["--export-secret-keys", "--export-secret-subkeys", "--gen-revoke", "--generate-revocation"]
    {
        let out = home.path().join(command);
        let run = Run::gpg_keyhoard(&home).with_umask(0).arg("-o").arg(&out);
        let answers = "y\n1\n\ny\n";
        let run = run.args(["--no-batch", "--command-fd", "0", "--pinentry-mode", "loopback"]);
        let done = run.args([command, &fingerprint[..]]).stdin(answers).output();
        assert_eq!(done.code, Some(0), "{command}: {}", done.errors());
        assert_eq!(mode(&out), 0o600, "{command}");
    }
    let out = home.path().join("secret.key");
    let run = Run::keyhoard(&home).with_umask(0).args(["key", "export", "--output"]).arg(&out);
    run.arg(&fingerprint).succeed();
    assert_eq!(mode(&out), 0o600, "keyhoard key export");
}

#[test]
fn a_warning_about_a_database_that_others_can_write_shows_its_mode() {
    let (home, _) = home_of_ann(Engine::Sqlite);
    fs::set_permissions(home.path(), fs::Permissions::from_mode(0o777)).expect("the home is the test's own");
    fs::set_permissions(home.database(), fs::Permissions::from_mode(0o666))
        .expect("the home is the test's own");
    for run in [Run::keyhoard(&home).args(["key", "list"]), Run::keyhoard(&home).arg("list")] {
        let what = format!("{run:?}");
        let done = run.output();
        let said = done.errors();
        assert!(
            said.contains("keyhoard.db") || said.contains(&home.path().display().to_string()),
            "{what}: {said}"
        );
        assert!(said.contains("666") || said.contains("777"), "{what} does not name the mode: {said}");
    }
}

on_both_engines! { exported_secret_keys_and_revocations_are_for_their_owner_only }

#[test]
fn an_existing_output_file_is_not_replaced_without_consent() {
    let home = Home::new();
    let file = home.write("same.txt", "precious\n");
    let password = home.write("password", "open sesame\n");
    let certificate = Certificate::new(&Key::ed25519("Ann"), "Ann <ann@example.org>").bytes();
    Run::keyhoard(&home).arg("import").stdin(certificate).succeed();
    for run in [
        Run::keyhoard(&home)
            .args(["encrypt", "--password-file"])
            .arg(&password)
            .arg("--output")
            .arg(&file)
            .arg(&file),
        Run::keyhoard(&home).args(["export", "--output"]).arg(&file).arg("ann@example.org"),
        Run::gpg_keyhoard(&home).args(["--passphrase", "x", "-o"]).arg(&file).arg("-c").arg(&file),
        Run::gpg_keyhoard(&home).arg("-o").arg(&file).args(["--export", "ann@example.org"]),
    ] {
        let what = format!("{run:?}");
        let done = run.output();
        assert_ne!(done.code, Some(0), "{what}");
        assert_eq!(fs::read_to_string(&file).expect("it is still there"), "precious\n", "{what}");
    }
}

#[test]
fn a_new_keyring_file_is_made_as_gpg_makes_it_and_not_as_a_database() {
    let home = Home::new();
    let certificate = Certificate::new(&Key::ed25519("Ann"), "Ann <ann@example.org>").bytes();
    let ring = home.path().join("new.gpg");
    let run = Run::gpg_keyhoard(&home).args(["--no-default-keyring", "--keyring"]).arg(&ring).arg("--import");
    let done = run.stdin(certificate).output();
    let is_database = fs::read(&ring).is_ok_and(|bytes| bytes.starts_with(b"SQLite format 3"));
    assert!(!is_database, "{}", done.errors());
    assert_eq!(done.code, Some(0), "{}", done.errors());
    assert!(fs::read(&ring).is_ok_and(|bytes| bytes[8..12] == *b"KBXf"), "a keybox, as gpg makes it");
}

#[test]
fn encryption_without_a_passphrase_is_reported_as_gpg_reports_it() {
    let home = Home::new();
    let file = home.write("text", "text\n");
    let out = home.path().join("text.gpg");
    let run = Run::gpg_keyhoard(&home).args(["--status-fd", "2", "-o"]).arg(&out);
    let done = run.arg("-c").arg(file).output();
    assert_ne!(done.code, Some(0));
    for line in ["[GNUPG:] ERROR get_passphrase", "[GNUPG:] CANCELED_BY_USER"] {
        assert!(done.status_lines().contains(line), "{line} is missing: {}", done.errors());
    }
    assert!(!out.exists());
}
