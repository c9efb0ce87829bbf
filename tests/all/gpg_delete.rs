//! `gpg-keyhoard --delete-keys` deletes what gpg deletes, by its rules for batch mode.

use harness::{Both, Keyring, OwnKey, Run};

const KEY: &str = "5E5C4B0E1AFD7325CF66500F962680C5305A9418";
const SUBKEY: &str = "FF48015CC0546A0877360445ECD466E56E11EE07";

#[test]
fn gpg_delete_in_batch_mode_needs_a_fingerprint_or_yes() {
    let both = with_members();
    both.assert_same_status(["--delete-keys", &KEY[24..]]);
    both.assert_same_status(["--delete-keys", "kaare@debian.org"]);
    both.assert_same_status(["--yes", "--delete-keys", "kaare@debian.org"]);
    both.assert_same_output(["--list-keys"]);
}

#[test]
fn gpg_delete_stops_at_the_first_key_that_cannot_be_deleted() {
    let both = with_members();
    both.assert_same_status(["--delete-keys", KEY, KEY, SUBKEY]);
    both.assert_same_output(["--list-keys"]);
    both.assert_same_status(["--delete-keys", "nobody@example.org"]);
    both.assert_same_status(["--delete-keys", ""]);
    both.assert_same_status(["--delete-keys"]);
}

#[test]
fn gpg_delete_removes_a_single_subkey_that_is_named_with_an_exclamation_mark() {
    let both = with_members();
    both.assert_same_status(["--delete-keys".to_owned(), format!("{SUBKEY}!")]);
    both.assert_same_output(["--with-colons", "--list-sigs"]);
    both.import(Keyring::Nonupload.path());
    both.assert_same_output(["--with-colons", "--list-sigs"]);
}

#[test]
fn gpg_delete_with_dry_run_changes_nothing() {
    let both = with_members();
    both.assert_same_status(["--dry-run", "--delete-keys", KEY]);
    both.assert_same_output(["--list-keys", KEY]);
}

#[test]
fn gpg_a_deleted_key_can_be_imported_again() {
    let both = with_members();
    both.assert_same_status(["--delete-keys", KEY]);
    both.import(Keyring::Nonupload.path());
    both.assert_same_output(["--with-colons", "--list-sigs"]);
}

#[test]
fn gpg_delete_refuses_a_key_with_a_secret_key_unless_expert_is_given() {
    let key = OwnKey::new("Own <own@example.org>");
    let home = key.home();
    Run::gpg_keyhoard(home).arg("--import").stdin(key.certificate()).succeed();
    let done =
        Run::gpg_keyhoard(home).args(["--status-fd", "2", "--delete-keys", key.fingerprint()]).output();
    assert_eq!(done.code, Some(2));
    assert!(done.status_lines().contains("[GNUPG:] DELETE_PROBLEM 2\n"), "{}", done.errors());
    Run::gpg_keyhoard(home).args(["--expert", "--delete-keys", key.fingerprint()]).succeed();
    assert_eq!(Run::gpg_keyhoard(home).arg("-k").succeed().text(), "");
}

#[test]
fn gpg_delete_asks_the_calling_program_what_gpg_asks() {
    for answer in ["y\n", "n\n", ""] {
        let both = with_members();
        let [gpg, keyhoard] = [Run::gpg(&both.gpg), Run::gpg_keyhoard(&both.keyhoard)].map(|run| {
            let line =
                ["--no-batch", "--no-tty", "--command-fd", "0", "--status-fd", "2", "--delete-keys", KEY];
            run.args(line).stdin(answer).output()
        });
        assert_eq!(gpg.code, keyhoard.code, "{answer:?}");
        let questions =
            |lines: String| lines.matches("[GNUPG:] GET_BOOL delete_key.okay\n[GNUPG:] GOT_IT\n").count();
        assert_eq!(questions(gpg.status_lines()), questions(keyhoard.status_lines()), "{answer:?}");
        both.assert_same_output(["--list-keys"]);
    }
}

fn with_members() -> Both {
    let both = Both::new();
    both.import(Keyring::Nonupload.path());
    both
}
