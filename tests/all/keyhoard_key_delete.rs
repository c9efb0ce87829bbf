//! `keyhoard key delete`: secret keys in files and in gpg-agent, and what is said of them.

use harness::{Home, Run, Terminal};

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
