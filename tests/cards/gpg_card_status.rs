//! `--card-status` beside the real gpg, which reads the same card by the same agent.

use harness::{CardHome, Gnupg, Output, assert_same, mask};

/// Runs both with these words, and asserts that they say the same.
fn assert_same_status(home: &CardHome, gnupg: Gnupg, words: &[&str]) -> Output {
    let words = || ["--status-fd", "1"].iter().chain(words);
    let gpg = home.gpg(gnupg).args(words()).output();
    let ours = home.gpg_keyhoard(gnupg).args(words()).output();
    let what = format!("{gnupg:?} {:?}", words().collect::<Vec<_>>());
    assert_same(&what, &mask(&gpg.stdout, &home.home), &mask(&ours.stdout, &home.home));
    assert_eq!(gpg.code, ours.code, "{what}: {}", ours.errors());
    ours
}

#[test]
fn a_new_card_is_shown_as_gpg_shows_it() {
    let home = CardHome::new();
    for gnupg in Gnupg::ALL {
        home.restart_agent();
        for words in [&["--card-status"][..], &["--with-colons", "--card-status"], &["--card-status", "all"]]
        {
            let shown = assert_same_status(&home, gnupg, words);
            assert!(shown.text().contains("D276000124010304FFFE0000000F0000"), "{}", shown.errors());
        }
        assert_same_status(&home, gnupg, &["--card-status", "D276000124010304FFFE000000000000"]);
        assert_same_status(&home, gnupg, &["--card-status", "one", "two"]);
    }
}

#[test]
fn a_card_with_keys_is_shown_with_their_certificate() {
    let home = CardHome::with_keys();
    for gnupg in Gnupg::ALL {
        home.restart_agent();
        for words in [
            &["--card-status"][..],
            &["--with-keygrip", "--card-status"],
            &["--with-colons", "--card-status"],
            &["--keyid-format", "0xshort", "--card-status"],
        ] {
            assert_same_status(&home, gnupg, words);
        }
    }
    let shown = home.gpg_keyhoard(Gnupg::V2_4).arg("--card-status").succeed().text();
    assert!(shown.contains("Jane Doe <jane@example.org>\nsec>  ed25519/"), "{shown}");
    assert!(shown.contains("card-no: FFFE 0000000F"), "{shown}");
}

#[test]
fn without_a_card_the_reason_and_the_exit_code_are_gpgs() {
    let home = CardHome::without_card();
    for gnupg in Gnupg::ALL {
        home.restart_agent();
        for words in [&["--card-status"][..], &["--with-colons", "--card-status"]] {
            let words = || ["--status-fd", "1"].iter().chain(words);
            let gpg = home.gpg(gnupg).args(words()).output();
            let ours = home.gpg_keyhoard(gnupg).args(words()).output();
            assert_eq!((gpg.text(), gpg.code), (ours.text(), ours.code), "{}", ours.errors());
            let reasons = |done: &Output| -> Vec<String> {
                let errors = done.errors();
                errors.lines().filter(|line| line.contains("card")).map(str::to_owned).collect()
            };
            assert_eq!(reasons(&gpg), reasons(&ours));
        }
    }
}

#[test]
fn stubs_of_a_card_are_made_by_its_status_and_listed_as_gpg_lists_them() {
    let home = CardHome::with_keys();
    for gnupg in Gnupg::ALL {
        home.restart_agent();
        std::fs::remove_dir_all(home.home.path().join("private-keys-v1.d")).expect("gpg has made stubs");
        let listed = || home.gpg_keyhoard(gnupg).args(["--list-secret-keys"]).output().text();
        assert_eq!(listed(), "");
        home.gpg_keyhoard(gnupg).arg("--card-status").succeed();
        for words in [
            &["--list-secret-keys"][..],
            &["--with-subkey-fingerprint", "--list-secret-keys"],
            &["--with-colons", "--list-secret-keys"],
        ] {
            let gpg = home.gpg(gnupg).args(words).succeed();
            let ours = home.gpg_keyhoard(gnupg).args(words).succeed();
            let records = |done: &Output| -> String {
                let text = done.text();
                let is_kept = |line: &&str| line.starts_with(['s', ' ', 'f', 'g']) && !line.contains("uid");
                text.split_inclusive('\n').filter(is_kept).collect()
            };
            assert_eq!(records(&gpg), records(&ours), "{words:?}");
        }
        assert!(listed().contains("sec>  ed25519 "), "{}", listed());
    }
}
