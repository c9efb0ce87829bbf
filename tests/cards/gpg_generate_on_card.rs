//! A card makes keys, and a certificate is made of them: `generate` and `kdf-setup` of `--edit-card`, and the algorithm
//! `card`, beside the real gpg. Which keys a card makes depends on what it did before, so that fingerprints do not count.

use harness::{CardHome, Gnupg, Output, assert_same};

use crate::gpg_key_to_card::secret_key;

/// Has the card make keys on Curve25519.
const CURVES: &str = "admin\nkey-attr\n2\n1\n2\n1\n2\n1\n";

/// In batch mode gpg makes no keys on cards, and with the trust model of the home it has no file of trust to note them in.
const WORDS: [&str; 8] =
    ["--no-batch", "--no-tty", "--trust-model", "pgp", "--status-fd", "2", "--command-fd", "0"];

fn told(done: &Output) -> String {
    let errors = done.errors();
    let counts = |line: &&str| match line.strip_prefix("[GNUPG:] ") {
        Some(status) => {
            !["KEY_CONSIDERED", "PINENTRY_LAUNCHED", "PROGRESS"].iter().any(|word| status.starts_with(word))
        }
        None => {
            line.starts_with("gpg: ")
                && ["card", "failed", "no usable"].iter().any(|word| line.contains(word))
        }
    };
    errors.lines().filter(counts).map(|line| format!("{line}\n")).collect()
}

/// Replaces key IDs, fingerprints and keygrips.
fn shape(text: &str) -> String {
    let is_digit = |letter: char| letter.is_ascii_digit() || ('A'..='F').contains(&letter);
    let is_name = |word: &str| word.len() >= 16 && word.chars().all(is_digit);
    let words = text.split_inclusive(|letter: char| !is_digit(letter));
    words
        .map(|word| match word.char_indices().next_back() {
            Some((end, last)) if !is_digit(last) && is_name(&word[..end]) => format!("X{last}"),
            _ if is_name(word) => "X".to_owned(),
            _ => word.to_owned(),
        })
        .collect()
}

/// Runs both with a new card each; returns what they said, and their homes.
fn both(gnupg: Gnupg, arguments: &[&str], answers: &str) -> [(CardHome, Output); 2] {
    both_in(CardHome::new, gnupg, arguments, answers)
}

fn both_in(
    new: impl Fn() -> CardHome,
    gnupg: Gnupg,
    arguments: &[&str],
    answers: &str,
) -> [(CardHome, Output); 2] {
    [true, false].map(|is_gpg| {
        let home = new();
        let run = if is_gpg { home.gpg(gnupg) } else { home.gpg_keyhoard(gnupg) };
        let done = run.args(WORDS).args(arguments).stdin(answers).output();
        (home, done)
    })
}

/// Asserts that both say the same, and returns their homes.
fn same(gnupg: Gnupg, arguments: &[&str], answers: &str) -> [CardHome; 2] {
    let [(gpg_home, gpg), (home, ours)] = both(gnupg, arguments, answers);
    let what = format!("{gnupg:?} {arguments:?} {answers:?}");
    assert_same(&what, shape(&told(&gpg)).as_bytes(), shape(&told(&ours)).as_bytes());
    assert_eq!(gpg.code, ours.code, "{what}: {}", ours.errors());
    let [expected, found] = [&gpg_home, &home]
        .map(|home| shape(&home.gpg(gnupg).args(["--with-colons", "--card-status"]).output().text()));
    assert_same(&what, expected.as_bytes(), found.as_bytes());
    [gpg_home, home]
}

#[test]
fn a_card_makes_its_keys_and_their_certificate() {
    for gnupg in Gnupg::ALL {
        let answers = format!("{CURVES}generate\nn\n1y\nJane Doe\njane@example.org\na comment\nquit\n");
        let [gpg, ours] = same(gnupg, &["--edit-card"], &answers);
        let words = ["--with-colons", "--list-secret-keys"];
        let listed = |text: String| {
            let lines = text.lines().filter(|line| !line.starts_with("tru:"));
            lines.map(|line| shape(line) + "\n").collect::<String>()
        };
        let expected = listed(gpg.gpg(gnupg).args(words).succeed().text());
        let found = listed(ours.gpg_keyhoard(gnupg).args(words).succeed().text());
        assert!(expected.contains("ssb:"), "{expected}");
        assert_same("the certificates", expected.as_bytes(), found.as_bytes());
        let signed =
            ours.gpg_keyhoard(gnupg).args(["--local-user", "jane", "--sign"]).stdin("text").succeed();
        let certificate = ours.gpg_keyhoard(gnupg).args(["--export", "jane"]).succeed().stdout;
        gpg.gpg(gnupg).arg("--import").stdin(certificate).succeed();
        gpg.gpg(gnupg).arg("--verify").stdin(signed.stdout).succeed();
    }
}

#[test]
fn keys_that_are_on_the_card_are_replaced_only_on_request() {
    for gnupg in Gnupg::ALL {
        let answers = format!("{CURVES}generate\nn\n0\nJane Doe\njane@example.org\n\ngenerate\nn\nn\nquit\n");
        same(gnupg, &["--edit-card"], &answers);
    }
}

#[test]
fn a_backup_of_the_encryption_key_goes_onto_another_card() {
    for gnupg in Gnupg::ALL {
        let home = CardHome::new();
        home.home.write("new-pin", "a long passphrase 1");
        home.home.write("passphrase", "a long passphrase 1");
        let answers = format!("{CURVES}generate\n\n0\nJane Doe\njane@example.org\n\nquit\n");
        let made = home.gpg_keyhoard(gnupg).args(WORDS).arg("--edit-card").stdin(answers).succeed();
        let status = made.status_lines();
        let line = status.lines().find(|line| line.contains("BACKUP_KEY_CREATED")).expect("a backup");
        let file = line.rsplit('/').next().expect("a path").to_owned();
        let certificate = home.gpg_keyhoard(gnupg).args(["--export", "jane"]).succeed().stdout;
        home.gpg(gnupg).arg("--import").stdin(certificate).succeed();
        let encrypted =
            home.gpg(gnupg).args(["--recipient", "jane", "--encrypt"]).stdin("secret").succeed().stdout;
        let decrypted = home.gpg_keyhoard(gnupg).arg("--decrypt").stdin(encrypted.clone()).succeed();
        assert_eq!(decrypted.text(), "secret");

        let mut home = home;
        home.insert_new_card();
        let words = ["--status-fd", "2", "--command-fd", "0", "--edit-key", "jane"];
        let put =
            home.gpg_keyhoard(gnupg).args(words).stdin(format!("bkuptocard {file}\n2\nsave\n")).output();
        assert_eq!(put.code, Some(0), "{}", put.errors());
        let decrypted = home.gpg_keyhoard(gnupg).arg("--decrypt").stdin(encrypted).succeed();
        assert_eq!(decrypted.text(), "secret");
    }
}

#[test]
fn what_a_card_compares_is_derived_from_the_pins_as_it_is_told() {
    for gnupg in Gnupg::ALL {
        let [_, home] = same(gnupg, &["--edit-card"], "kdf-setup\nadmin\nkdf-setup\nverify\nquit\n");
        let shown = home.gpg_keyhoard(gnupg).arg("--card-status").succeed().text();
        assert!(shown.contains("KDF setting ......: on"), "{shown}");
        same(gnupg, &["--edit-card"], "admin\nkdf-setup single\nverify\nkdf-setup off\nverify\nquit\n");
    }
}

#[test]
fn keys_that_are_on_a_card_become_a_certificate() {
    for gnupg in Gnupg::ALL {
        let answers = format!("{CURVES}generate\nn\n0\nJane Doe\njane@example.org\n\nquit\n");
        let done = [true, false].map(|is_gpg| {
            let home = CardHome::new();
            home.gpg(gnupg).args(WORDS).arg("--edit-card").stdin(answers.as_bytes()).succeed();
            let run = || if is_gpg { home.gpg(gnupg) } else { home.gpg_keyhoard(gnupg) };
            let words = [
                "--trust-model",
                "pgp",
                "--status-fd",
                "2",
                "--quick-generate-key",
                "john@example.org",
                "card",
            ];
            let made = run().args(words).output();
            let exported = run().args(["--export", "john"]).succeed().stdout;
            (told(&made), made.code, exported)
        });
        let [gpg, ours] = done;
        assert_same(&format!("{gnupg:?}"), gpg.0.as_bytes(), ours.0.as_bytes());
        assert_eq!(gpg.1, ours.1);
        assert!(!gpg.2.is_empty() && !ours.2.is_empty());
        if gnupg == Gnupg::V2_4 {
            assert_eq!(gpg.2, ours.2, "the certificates differ");
        }
    }
}

#[test]
fn without_a_card_or_a_key_on_it_no_certificate_is_made() {
    for gnupg in Gnupg::ALL {
        for new in [CardHome::new, CardHome::without_card] {
            let words = ["--batch", "--quick-generate-key", "john@example.org", "card"];
            let [(_, gpg), (_, ours)] = both_in(new, gnupg, &words, "");
            assert_same(&format!("{gnupg:?}"), told(&gpg).as_bytes(), told(&ours).as_bytes());
            assert_eq!(gpg.code, ours.code);
            assert!(gpg.code != Some(0) && !told(&gpg).is_empty(), "{}", gpg.errors());
        }
    }
}

#[test]
fn a_key_of_the_card_is_chosen_from_the_menu_and_becomes_a_certificate() {
    for gnupg in Gnupg::ALL {
        let made = [true, false].map(|is_gpg| {
            let home = CardHome::new();
            let answers = format!("{CURVES}generate\nn\n0\nJane Doe\njane@example.org\n\nquit\n");
            home.gpg(gnupg).args(WORDS).arg("--edit-card").stdin(answers).succeed();
            // The card keeps its keys, and nobody has a certificate of them.
            std::fs::remove_file(home.home.path().join("pubring.kbx")).expect("gpg has made it");
            std::fs::remove_dir_all(home.home.path().join("openpgp-revocs.d")).expect("gpg has made it");
            let run = || if is_gpg { home.gpg(gnupg) } else { home.gpg_keyhoard(gnupg) };
            // The fourteenth kind: an existing key of a card; a key that is not there, and the first one.
            let answers = "14\n9\n1\n0\nJohn Doe\njohn@example.org\n\n";
            let made = run().args(WORDS).arg("--full-generate-key").stdin(answers).output();
            let listed = run().args(["--with-colons", "--list-secret-keys", "john"]).output().text();
            let lines =
                listed.lines().filter(|line| !line.starts_with("tru:")).map(|line| shape(line) + "\n");
            (shape(&told(&made)), made.code, lines.collect::<String>())
        });
        let [gpg, ours] = made;
        assert_same(&format!("{gnupg:?}"), gpg.0.as_bytes(), ours.0.as_bytes());
        assert_eq!(gpg.1, ours.1);
        assert!(gpg.2.contains("John Doe"), "{}", gpg.2);
        assert_same(&format!("{gnupg:?}"), gpg.2.as_bytes(), ours.2.as_bytes());
    }
}

#[test]
fn a_key_of_the_card_is_chosen_from_the_menu_and_becomes_a_subkey() {
    for gnupg in Gnupg::ALL {
        // A key that is not there, and the one that decrypts.
        chosen_as_subkey(gnupg, &[], "14\n9\n2\n");
    }
}

#[test]
fn experts_choose_what_a_key_of_the_card_is_for_as_a_subkey() {
    for gnupg in Gnupg::ALL {
        for chosen in ["1\na\nq\n", "1\ns\nq\n", "2\ne\nq\n"] {
            chosen_as_subkey(gnupg, &["--expert"], &format!("14\n{chosen}"));
        }
    }
}

/// Makes keys on a card, of which nobody has a certificate.
fn home_with_keys_on_card(gnupg: Gnupg) -> CardHome {
    let home = CardHome::new();
    let generate = format!("{CURVES}generate\nn\n0\nJane Doe\njane@example.org\n\nquit\n");
    home.gpg(gnupg).args(WORDS).arg("--edit-card").stdin(generate).succeed();
    std::fs::remove_file(home.home.path().join("pubring.kbx")).expect("gpg has made it");
    home
}

/// Makes keys on a card, which `addkey` makes a subkey of by these answers; gpg and gpg-keyhoard say and list the same.
fn chosen_as_subkey(gnupg: Gnupg, options: &[&str], chosen: &str) {
    let made = [true, false].map(|is_gpg| {
        let home = home_with_keys_on_card(gnupg);
        let run = || if is_gpg { home.gpg(gnupg) } else { home.gpg_keyhoard(gnupg) };
        run().arg("--import").stdin(secret_key()).succeed();
        let answers = format!("addkey\n{chosen}0\nsave\n");
        let edit = run().args(WORDS).args(options).args(["--edit-key", "jane"]).stdin(answers);
        let made = edit.output();
        let listed = run().args(["--with-colons", "--list-secret-keys", "jane"]).output().text();
        let lines = listed.lines().filter(|line| !line.starts_with("tru:")).map(|line| shape(line) + "\n");
        (shape(&told(&made)), made.code, lines.collect::<String>())
    });
    let [gpg, ours] = made;
    let answers = format!("{gnupg:?} {options:?} {chosen:?}");
    assert_same(&answers, gpg.0.as_bytes(), ours.0.as_bytes());
    assert_eq!(gpg.1, ours.1);
    assert_eq!(gpg.2.matches("ssb:").count(), 4, "{} {}", gpg.0, gpg.2);
    assert_same(&answers, gpg.2.as_bytes(), ours.2.as_bytes());
}

#[test]
fn whether_the_card_asks_for_the_pin_with_each_signature_is_as_before_once_it_has_made_keys() {
    for gnupg in Gnupg::ALL {
        let forced = ["", "forcesig\n"].map(|toggle| {
            let answers = format!("{CURVES}{toggle}generate\nn\n0\nJane Doe\njane@example.org\n\nquit\n");
            let [_, home] = same(gnupg, &["--edit-card"], &answers);
            let card = home.gpg(gnupg).args(["--with-colons", "--card-status"]).output().text();
            card.lines().find(|line| line.starts_with("forcepin:")).expect("a flag").to_owned()
        });
        assert_eq!(forced, ["forcepin:1:::", "forcepin:0:::"]);
    }
}

/// scdaemon prepares what a key on Ed25519 for authentication signs in a wrong way, so that no such signature verifies.
#[test]
fn a_key_of_the_card_for_authentication_does_not_become_a_subkey_that_signs() {
    let gnupg = Gnupg::V2_4;
    let subkeys = [true, false].map(|is_gpg| {
        let home = home_with_keys_on_card(gnupg);
        let run = || if is_gpg { home.gpg(gnupg) } else { home.gpg_keyhoard(gnupg) };
        run().arg("--import").stdin(secret_key()).succeed();
        let answers = "addkey\n14\n3\n0\nsave\n";
        let made = run().args(WORDS).args(["--edit-key", "jane"]).stdin(answers).output();
        let listed = run().args(["--with-colons", "--list-secret-keys", "jane"]).output().text();
        let subkeys = listed.matches("ssb:").count();
        if is_gpg {
            let key = listed.rsplit("fpr:::::::::").next().and_then(|rest| rest.split(':').next());
            let key = format!("{}!", key.expect("the new subkey is listed last"));
            let signed = run().args(["--local-user", &key, "--sign"]).stdin("text").succeed();
            let verified = run().arg("--verify").stdin(signed.stdout).output();
            assert!(verified.errors().contains("BAD signature"), "{}", verified.errors());
        } else {
            assert_eq!(made.code, Some(2), "{}", made.errors());
            assert!(made.errors().contains("does not verify"), "{}", made.errors());
        }
        subkeys
    });
    assert_eq!(subkeys, [4, 3]);
}
