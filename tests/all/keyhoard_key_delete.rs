//! `keyhoard key delete`: secret keys in files and in gpg-agent, and what is said of them.

use harness::{Home, Run, Terminal};
use packet_builder::{Certificate, Key, bytes};

use crate::agent_home::{AgentHome, key_files};

/// A home with a key for each of the user IDs, in files.
fn with_own_keys(user_ids: &[&str]) -> Home {
    let home = Home::new();
    for user_id in user_ids {
        Run::keyhoard(&home).args(["generate", "--no-passphrase", user_id]).succeed();
    }
    home
}

fn secret_keys(home: &Home) -> usize {
    Run::keyhoard(home).args(["--json", "key", "list"]).output().json_lines().len()
}

#[test]
fn a_deletion_deletes_the_secret_keys_of_the_agent_too() {
    for option in [&[][..], &["--secret-only"]] {
        let home = AgentHome::with_keys("", &[("ed25519", "cv25519")]);
        assert_eq!(key_files(home.home.path()), 2);
        let delete = Run::keyhoard(&home.home).args(["key", "delete", "--yes"]).args(option);
        let done = delete.arg("ed25519@example.org").succeed();
        assert!(done.errors().contains("2 secret keys deleted"), "{}", done.errors());
        assert_eq!(key_files(home.home.path()), 0, "{option:?}");
        let listed = Run::gpg_with_agent(&home.home).args(["--with-colons", "-K"]).output();
        assert_eq!(listed.text(), "", "{option:?}");
        let certificates = Run::keyhoard(&home.home).args(["--json", "list"]).output().json_lines().len();
        assert_eq!(certificates, option.len(), "--secret-only keeps the certificate");
    }
}

#[test]
fn a_name_that_several_certificates_have_deletes_nothing() {
    let home = with_own_keys(&["Ann <ann@example.org>", "Anna <anna@example.org>"]);
    let done = Run::keyhoard(&home).args(["key", "delete", "--yes", "ann"]).output();
    assert_eq!(done.code, Some(2), "{}", done.errors());
    assert!(done.errors().contains("2 certificates match"), "{}", done.errors());
    assert_eq!(secret_keys(&home), 4);
    Run::keyhoard(&home).args(["key", "delete", "--yes", "<ann@example.org>"]).succeed();
    assert_eq!(secret_keys(&home), 2, "Anna's stay");
}

#[test]
fn the_question_names_the_user_ids_of_the_keys() {
    let home = with_own_keys(&["Ann <ann@example.org>"]);
    let mut terminal = Terminal::new(&home, "$KEYHOARD key delete ann@example.org");
    terminal.answer("Only a back-up brings a secret key back. [y/N] ", b"n\n");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(1), "{shown}");
    assert!(shown.contains("Ann <ann@example.org>") && shown.contains("nothing was deleted"), "{shown}");
    assert_eq!(secret_keys(&home), 2);
}

#[test]
fn undo_of_a_deletion_says_that_the_secret_keys_do_not_come_back() {
    let home = with_own_keys(&["Ann <ann@example.org>"]);
    Run::keyhoard(&home).args(["key", "export", "--all", "--output"]).arg(home.path().join("FILE")).succeed();
    Run::keyhoard(&home).args(["key", "delete", "--yes", "ann@example.org"]).succeed();
    let undone = Run::keyhoard(&home).arg("undo").succeed().errors();
    assert!(
        undone.contains("its secret keys are not") && undone.contains("`keyhoard import FILE`"),
        "{undone}"
    );
    Run::keyhoard(&home).current_dir(home.path()).args(["import", "FILE"]).succeed();
    assert_eq!(secret_keys(&home), 2);
    // A deletion without the secret keys brings everything back.
    Run::keyhoard(&home).args(["delete", "--yes", "--despite-secret-key", "ann@example.org"]).succeed();
    let undone = Run::keyhoard(&home).arg("undo").succeed().errors();
    assert!(!undone.contains("secret keys"), "{undone}");
}

/// A certificate of Mallory's that claims Ann's subkey, which anybody can, and Ann's secret keys.
fn with_claimed_subkey() -> Home {
    let (ann, mallory, subkey) = (Key::ed25519("ann"), Key::ed25519("mallory"), Key::rsa2048());
    let mut claiming = Certificate::with_flags(&mallory, "Mallory <mallory@example.org>", 3);
    claiming.add_subkey(&mallory, &subkey, 12);
    let mut own = Certificate::with_flags(&ann, "Ann <ann@example.org>", 3);
    own.add_subkey(&ann, &subkey, 12);
    let mut secret = own.packets.clone();
    (secret[0], secret[3]) = (ann.secret_packet(5), subkey.secret_packet(7));
    let home = Home::new();
    Run::keyhoard(&home).arg("import").stdin(claiming.bytes()).succeed();
    Run::keyhoard(&home).arg("import").stdin(bytes(&secret)).succeed();
    assert_eq!(secret_keys(&home), 2);
    home
}

#[test]
fn a_certificate_that_claims_somebodys_subkey_has_none_of_the_secret_keys() {
    let home = with_claimed_subkey();
    let done = Run::keyhoard(&home).args(["key", "delete", "--yes", "mallory@example.org"]).output();
    assert_eq!(done.code, Some(1), "{}", done.errors());
    assert!(done.errors().contains("it has no secret key here"), "{}", done.errors());
    assert_eq!(secret_keys(&home), 2);
    let listed = Run::keyhoard(&home).args(["--json", "list", "--secret"]).succeed().text();
    assert!(listed.contains("ann@example.org") && !listed.contains("mallory"), "{listed}");
    let done = Run::keyhoard(&home).args(["trust", "check"]).output();
    assert!(!done.errors().contains(&Key::ed25519("mallory").fingerprint_text()), "{}", done.errors());
    Run::keyhoard(&home).args(["key", "delete", "--yes", "ann@example.org"]).succeed();
    assert_eq!(secret_keys(&home), 0);
}

#[test]
fn a_secret_key_that_another_own_certificate_needs_stays() {
    let (old, new, subkey) = (Key::ed25519("old"), Key::ed25519("new"), Key::rsa2048());
    let home = Home::new();
    for (key, user_id) in [(&old, "Old <old@example.org>"), (&new, "New <new@example.org>")] {
        let mut own = Certificate::with_flags(key, user_id, 3);
        own.add_subkey(key, &subkey, 12);
        let mut secret = own.packets.clone();
        (secret[0], secret[3]) = (key.secret_packet(5), subkey.secret_packet(7));
        Run::keyhoard(&home).arg("import").stdin(bytes(&secret)).succeed();
    }
    assert_eq!(secret_keys(&home), 4, "the subkey is listed with each certificate");
    let done = Run::keyhoard(&home).args(["key", "delete", "--yes", "old@example.org"]).succeed();
    assert!(done.errors().contains("stays"), "{}", done.errors());
    assert_eq!(secret_keys(&home), 2, "the new one has both of its secret keys");
    Run::keyhoard(&home).args(["key", "delete", "--yes", "new@example.org"]).succeed();
    assert_eq!(secret_keys(&home), 0);
}
