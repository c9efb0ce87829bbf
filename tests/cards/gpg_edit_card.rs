//! `--edit-card` beside the real gpg: the same answers ask the same questions, write the same status lines and leave the
//! same card.

use std::fs;

use harness::{CardHome, Gnupg, Output, assert_same, mask};

/// The status lines that count, and the messages about the card.
fn told(done: &Output) -> String {
    let errors = done.errors();
    let is_status = |line: &str| line.starts_with("[GNUPG:]") && !line.contains("KEY_CONSIDERED");
    let is_message =
        |line: &str| line.starts_with("gpg: ") && (line.contains("card") || line.contains("error"));
    let masked = |line: &str| match line.split_once("PINENTRY_LAUNCHED ") {
        Some((start, _)) => format!("{start}PINENTRY_LAUNCHED\n"),
        None => format!("{line}\n"),
    };
    errors.lines().filter(|line| is_status(line) || is_message(line)).map(masked).collect()
}

/// Runs both with the words and answers, each with a new card, and asserts that they say the same and leave the same card.
fn same_edits(gnupg: Gnupg, words: &[&str], answers: &str) -> CardHome {
    let mut home = CardHome::new();
    let arguments = || ["--status-fd", "2", "--command-fd", "0"].iter().chain(words);
    let gpg = home.gpg(gnupg).args(arguments()).stdin(answers).output();
    let asked = home.questions();
    let card = home.gpg(gnupg).args(["--with-colons", "--card-status"]).output().text();
    home.insert_new_card();
    let ours = home.gpg_keyhoard(gnupg).args(arguments()).stdin(answers).output();
    let what = format!("{gnupg:?} {words:?} {answers:?}");
    assert_same(&what, told(&gpg).as_bytes(), told(&ours).as_bytes());
    assert_same(&what, &mask(&gpg.stdout, &home.home), &mask(&ours.stdout, &home.home));
    assert_eq!(gpg.code, ours.code, "{what}: {}", ours.errors());
    assert_eq!(asked, home.questions(), "{what}");
    let found = home.gpg(gnupg).args(["--with-colons", "--card-status"]).output().text();
    assert_same(&what, card.as_bytes(), found.as_bytes());
    home
}

#[test]
fn the_holders_data_is_changed() {
    for gnupg in Gnupg::ALL {
        let answers = "admin\nname\nDoe\nJane\nlang\ndeen\nsalutation\nf\nurl\nhttps://example.org/k.asc\n\
                       login\njane doe+%\ncafpr 1\n01234567890123456789 01:23:45:67:89 0123456789\ncafpr 2\n\
                       0123456789012345678901234567890123456788\nprivatedo 1\nfor any use\nlist\nquit\n";
        let home = same_edits(gnupg, &["--with-colons", "--edit-card"], answers);
        let shown = home.gpg_keyhoard(gnupg).arg("--card-status").succeed().text();
        assert!(shown.contains("Name of cardholder: Jane Doe\n"), "{shown}");
        assert!(shown.contains("Login data .......: jane doe+%\n"), "{shown}");
    }
}

#[test]
fn certificates_are_written_to_and_read_from_files() {
    let home = CardHome::new();
    let [written, read] = ["written", "read"].map(|name| home.home.path().join(name));
    fs::write(&written, [7; 900]).expect("the home is writable");
    let (write, save) =
        (format!("writecert 3 < {}", written.display()), format!("readcert 3 > {}", read.display()));
    let done = home
        .gpg_keyhoard(Gnupg::V2_4)
        .args(["--status-fd", "2", "--edit-card", "-", "admin", &write, &save, "quit"])
        .succeed();
    assert_eq!(done.status_lines().matches("SC_OP_SUCCESS").count(), 2, "{}", done.errors());
    assert_eq!(fs::read(read).expect("it was written"), [7; 900]);
}

#[test]
fn without_commands_batch_mode_edits_nothing() {
    let home = CardHome::new();
    let [gpg, ours] = [home.gpg(Gnupg::V2_4), home.gpg_keyhoard(Gnupg::V2_4)]
        .map(|run| run.args(["--status-fd", "2", "--edit-card"]).output());
    assert_eq!((told(&gpg), gpg.code), (told(&ours), ours.code));
}

#[test]
fn commands_that_change_the_card_need_admin_and_come_from_the_command_line_too() {
    for gnupg in Gnupg::ALL {
        let answers = "name\nforcesig\nhelp\n\n# no command\nadmin\nadmin off\nlang\nq\n";
        same_edits(gnupg, &["--edit-card"], answers);
        same_edits(gnupg, &["--edit-card", "admin", "forcesig", "verify"], "");
        same_edits(gnupg, &["--edit-card", "-", "admin", "forcesig", "verify"], "");
        same_edits(gnupg, &["--card-edit", "-", "admin verify", "list", "openpgp", "quit"], "");
    }
}
