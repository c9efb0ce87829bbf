//! Keys on a card sign and decrypt, by the agent.

use harness::{CardHome, Gnupg, Run};

/// Signs with gpg-keyhoard and verifies with gpg.
fn assert_signs(home: &CardHome, gnupg: Gnupg) {
    let signed = home.gpg_keyhoard(gnupg).args(["--local-user", "jane", "--sign"]).stdin("text").succeed();
    Run::gpg(&home.home).arg("--verify").stdin(signed.stdout).succeed();
}

/// Encrypts with gpg and decrypts with gpg-keyhoard.
fn assert_decrypts(home: &CardHome, gnupg: Gnupg) {
    let encrypted = Run::gpg(&home.home).args(["--recipient", "jane", "--encrypt"]).stdin("secret").succeed();
    let decrypted = home.gpg_keyhoard(gnupg).arg("--decrypt").stdin(encrypted.stdout).succeed();
    assert_eq!(decrypted.text(), "secret");
}

#[test]
fn a_card_signs_and_decrypts_and_the_agent_asks_for_the_pin_in_gpgs_words() {
    let home = CardHome::with_keys();
    for gnupg in Gnupg::ALL {
        home.restart_agent();
        assert_signs(&home, gnupg);
        assert_decrypts(&home, gnupg);
        let questions = home.questions();
        assert!(questions.contains("Number: FFFE 0000000F"), "{questions}");
    }
    let verbose = ["--status-fd", "2", "--local-user", "jane", "--detach-sign"];
    let signed = home.gpg_keyhoard(Gnupg::V2_4).args(verbose).stdin("text").succeed();
    assert!(signed.status_lines().contains("SIG_CREATED D 22 "), "{}", signed.errors());
}

#[test]
fn the_agent_asks_for_the_card_that_is_not_there() {
    let mut home = CardHome::with_keys();
    home.remove_card();
    home.restart_agent();
    let signed = home
        .gpg_keyhoard(Gnupg::V2_4)
        .args(["--status-fd", "2", "--local-user", "jane", "--sign"])
        .stdin("text")
        .output();
    assert_eq!(signed.code, Some(2), "{}", signed.errors());
    let questions = home.questions();
    assert!(questions.contains("Please insert the card with serial number"), "{questions}");
}

#[test]
fn keyhoard_shows_the_card_that_a_key_is_on() {
    let home = CardHome::with_keys();
    let listed = Run::keyhoard(&home.home).args(["key", "list"]).succeed().text();
    assert_eq!(listed.matches("card D276000124010304FFFE0000000F0000").count(), 3, "{listed}");
}
