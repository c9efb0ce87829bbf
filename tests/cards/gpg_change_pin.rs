//! `--change-pin` beside the real gpg.

use harness::{CardHome, Gnupg, Output, assert_same};

/// In batch mode gpg changes nothing.
const WORDS: [&str; 6] = ["--no-batch", "--no-tty", "--status-fd", "2", "--command-fd", "0"];

fn statuses(done: &Output) -> String {
    let text = done.status_lines();
    text.split_inclusive('\n').filter(|line| !line.contains("PINENTRY_LAUNCHED")).collect()
}

/// Runs both with a new card each and asserts that they say the same and leave the card with the same tries; returns ours.
fn same(gnupg: Gnupg, before: impl Fn(&CardHome), words: &[&str], answers: &str) -> CardHome {
    let [(_, gpg, gpg_card), (home, ours, our_card)] = [true, false].map(|is_gpg| {
        let home = CardHome::new();
        before(&home);
        let run = if is_gpg { home.gpg(gnupg) } else { home.gpg_keyhoard(gnupg) };
        let done = run.args(WORDS).args(words).stdin(answers).output();
        let card = home.gpg(gnupg).args(["--with-colons", "--card-status"]).output().text();
        (home, done, card)
    });
    let what = format!("{gnupg:?} {words:?} {answers:?}");
    assert_same(&what, statuses(&gpg).as_bytes(), statuses(&ours).as_bytes());
    assert_eq!(gpg.code, ours.code, "{what}: {}", ours.errors());
    assert_same(&what, gpg_card.as_bytes(), our_card.as_bytes());
    home
}

/// Returns whether the card takes a PIN: `verify`, or `admin verify` for that of the administrator.
fn takes(home: &CardHome, file: &str, pin: &str, command: &str) -> bool {
    home.restart_agent();
    home.home.write(file, pin);
    let done = home.gpg(Gnupg::V2_4).args(["--status-fd", "2", "--edit-card", "-", command]).output();
    assert!(done.status_lines().contains("CARDCTRL 3"), "no card was found: {}", done.errors());
    !done.status_lines().contains("SC_OP_FAILURE")
}

#[test]
fn the_pin_is_changed() {
    for gnupg in Gnupg::ALL {
        let home =
            same(gnupg, |home| drop(home.home.write("new-pin", "654321")), &["--change-pin"], "1\nq\n");
        assert!(takes(&home, "pin", "654321", "verify"));
        assert!(!takes(&home, "pin", "123456", "verify"));
    }
}

#[test]
fn the_admin_pin_is_changed() {
    for gnupg in Gnupg::ALL {
        let new = |home: &CardHome| drop(home.home.write("new-pin", "87654321"));
        let home = same(gnupg, new, &["--change-pin"], "3\nq\n");
        assert!(takes(&home, "admin-pin", "87654321", "admin verify"));
        assert!(!takes(&home, "admin-pin", "12345678", "admin verify"));
    }
}

#[test]
fn a_pin_is_unblocked_by_the_admin_pin_and_by_the_reset_code() {
    for gnupg in Gnupg::ALL {
        let new = |home: &CardHome| drop(home.home.write("new-pin", "87654321"));
        let home = same(gnupg, new, &["--change-pin"], "2\n4\nq\n");
        assert!(takes(&home, "pin", "87654321", "verify"));
        // The Reset Code is that of the new PIN now.
        home.restart_agent();
        home.home.write("new-pin", "246810");
        let done =
            home.gpg_keyhoard(gnupg).args(WORDS).args(["--edit-card"]).stdin("unblock\nquit\n").output();
        assert!(done.status_lines().contains("SC_OP_SUCCESS"), "{}", done.errors());
        assert!(takes(&home, "pin", "246810", "verify"));
    }
}

#[test]
fn a_wrong_pin_changes_nothing() {
    for gnupg in Gnupg::ALL {
        let wrong = |home: &CardHome| {
            home.home.write("pin", "000000");
            home.home.write("new-pin", "654321");
        };
        let home = same(gnupg, wrong, &["--change-pin"], "1\nq\n");
        assert!(takes(&home, "pin", "123456", "verify"));
    }
}

#[test]
fn in_loopback_mode_the_pin_is_the_passphrase_that_was_given() {
    for gnupg in Gnupg::ALL {
        for (passphrase, verifies) in [("123456", true), ("000000", false)] {
            let loopback = ["--pinentry-mode", "loopback", "--passphrase", passphrase, "--edit-card"];
            let home = same(
                gnupg,
                |home| drop(std::fs::remove_file(home.home.path().join("pin"))),
                &loopback,
                "verify\nquit\n",
            );
            assert_eq!(home.questions(), "");
            let signed = home.gpg_keyhoard(gnupg).args(["--with-colons", "--card-status"]).output().text();
            assert_eq!(signed.contains("pinretry:3:"), verifies, "{signed}");
        }
    }
}

#[test]
fn in_loopback_mode_keys_on_a_card_sign_with_the_passphrase_of_a_descriptor() {
    let home = CardHome::with_keys();
    std::fs::remove_file(home.home.path().join("pin")).expect("it was there");
    for gnupg in Gnupg::ALL {
        home.restart_agent();
        let words = ["--pinentry-mode", "loopback", "--passphrase-fd", "0", "--local-user", "jane"];
        let text = home.home.write("text", "text");
        let output = home.home.path().join("text.gpg");
        let _ = std::fs::remove_file(&output);
        let done = home.gpg_keyhoard(gnupg).args(words).arg("--sign").arg(&text).stdin("123456\n").output();
        assert_eq!(done.code, Some(0), "{}", done.errors());
        home.gpg(gnupg).arg("--verify").arg(&output).succeed();
        assert_eq!(home.questions(), "");
    }
}

#[test]
fn in_batch_mode_nothing_is_changed() {
    let home = CardHome::new();
    let words = ["--status-fd", "2", "--change-pin"];
    let [gpg, ours] =
        [home.gpg(Gnupg::V2_4), home.gpg_keyhoard(Gnupg::V2_4)].map(|run| run.args(words).output());
    assert_eq!(gpg.status_lines(), ours.status_lines());
    assert_eq!((gpg.code, ours.code), (Some(2), Some(2)));
    assert_eq!(home.questions(), "");
}
