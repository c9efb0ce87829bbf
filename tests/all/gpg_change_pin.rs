//! `--change-pin` beside the real gpg.

use harness::{CardHome, Gnupg, Output, Run};

/// Answers the menu without a terminal.
fn changed(run: Run, answers: &str, number: &[&str]) -> Output {
    let words = ["--no-batch", "--no-tty", "--status-fd", "2", "--command-fd", "0", "--change-pin"];
    run.args(words.iter().chain(number)).stdin(answers).output()
}

/// The status lines and the messages about the card.
fn told(done: &Output) -> String {
    let errors = done.errors();
    let is_kept = |line: &&str| line.starts_with("[GNUPG:]") || line.contains("card");
    let masked = |line: &str| match line.split_once("PINENTRY_LAUNCHED ") {
        Some((start, _)) => format!("{start}PINENTRY_LAUNCHED\n"),
        None => format!("{line}\n"),
    };
    errors.lines().filter(is_kept).map(masked).collect()
}

/// Does the same with gpg and with gpg-keyhoard, each with a new card.
fn assert_same_change(gnupg: Gnupg, answers: &str, number: &[&str], pins: &[(&str, &str)]) -> CardHome {
    let mut home = CardHome::new();
    pins.iter().for_each(|(name, pin)| drop(home.home.write(name, pin)));
    let gpg = changed(home.gpg(gnupg), answers, number);
    let asked = home.questions();
    home.insert_new_card();
    let ours = changed(home.gpg_keyhoard(gnupg), answers, number);
    assert_eq!(told(&gpg), told(&ours), "{gnupg:?} {answers:?}");
    assert_eq!(gpg.code, ours.code, "{}", ours.errors());
    assert_eq!(asked, home.questions(), "{gnupg:?} {answers:?}");
    home
}

#[test]
fn pins_are_changed_by_a_menu_as_gpg_does() {
    for gnupg in Gnupg::ALL {
        let home = assert_same_change(gnupg, "1\nx\n3\n2\n4\nq\n", &[], &[("new-pin", "98765432")]);
        // The card takes the new PINs alone.
        home.home.write("pin", "98765432");
        home.home.write("admin-pin", "98765432");
        home.restart_agent();
        let verified = home
            .gpg_keyhoard(gnupg)
            .args(["--status-fd", "2", "--edit-card", "verify", "admin verify", "quit"])
            .output();
        assert!(!verified.errors().contains("SC_OP_FAILURE"), "{}", verified.errors());
        assert!(verified.errors().contains("Admin commands are allowed"), "{}", verified.errors());
    }
}

#[test]
fn a_pin_that_is_not_entered_or_not_there_is_a_failure_as_in_gpg() {
    for gnupg in Gnupg::ALL {
        // No Reset Code was set.
        assert_same_change(gnupg, "", &["1"], &[]);
        // No new PIN is entered.
        assert_same_change(gnupg, "1\nq\n", &[], &[]);
        assert_same_change(gnupg, "3\nq\n", &[], &[("new-pin", "1")]);
    }
}

#[test]
fn in_batch_mode_nothing_is_changed() {
    let home = CardHome::new();
    let words = ["--status-fd", "2", "--change-pin"];
    let [gpg, ours] =
        [home.gpg(Gnupg::V2_4), home.gpg_keyhoard(Gnupg::V2_4)].map(|run| run.args(words).output());
    assert_eq!(told(&gpg), told(&ours));
    assert_eq!((gpg.code, ours.code), (Some(2), Some(2)));
}
