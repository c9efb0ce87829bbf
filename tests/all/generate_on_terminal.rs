//! New keys, asked for on a terminal: what is missing is asked, passphrases are not shown.

use std::fs;

use harness::{Home, Run, Terminal};

/// The protection of each secret key.
fn protections(home: &Home) -> Vec<String> {
    let listed = Run::keyhoard(home).args(["key", "list", "--json"]).succeed().json_lines();
    listed.iter().map(|key| key["protection"].as_str().expect("a word").to_owned()).collect()
}

#[test]
fn keyhoard_asks_for_name_address_and_passphrase() {
    let home = Home::new();
    let mut terminal = Terminal::new(&home, "\"$KEYHOARD\" generate");
    terminal.answer("Name (may be empty): ", b"Ann\r");
    terminal.answer("Mail address (may be empty): ", b"ann@example.org\r");
    terminal.answer("(empty for none): ", b"correct horse\r");
    terminal.answer("Once more: ", b"correct horse\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains("horse"), "{shown}");
    assert!(shown.contains("Ann <ann@example.org>"), "whose passphrase it is: {shown}");
    assert_eq!(protections(&home), ["passphrase", "passphrase"]);
}

#[test]
fn keyhoard_does_not_ask_for_what_the_options_give() {
    let home = Home::new();
    let command = "\"$KEYHOARD\" generate --no-passphrase ann@example.org";
    let (code, shown) = Terminal::new(&home, command).end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains("empty"), "{shown}");
    assert_eq!(protections(&home), ["none", "none"]);
}

#[test]
fn ctrl_c_at_the_passphrase_makes_no_key() {
    let home = Home::new();
    let command = "trap : INT; \"$KEYHOARD\" generate ann@example.org; echo \"ended: $?\"";
    let mut terminal = Terminal::new(&home, command);
    terminal.answer("(empty for none): ", b"hors\x03");
    let (_, shown) = terminal.end();
    assert!(shown.contains("ended: 130"), "{shown}");
    assert!(!shown.contains("hors"), "{shown}");
    let kept = fs::read_dir(home.path().join("secret-keys")).map_or(0, Iterator::count);
    assert_eq!(kept, 0, "no secret key was kept");
}

#[test]
fn gpg_keyhoard_asks_what_gpg_asks() {
    let home = Home::new();
    let mut terminal = Terminal::new(&home, "\"$GPG\" --expert --full-generate-key");
    // ECC, sign and encrypt; Curve 25519.
    terminal.answer("Your selection? ", b"9\r");
    terminal.answer("Your selection? ", b"1\r");
    terminal.answer("Key is valid for? (0) ", b"1y\r");
    terminal.answer("Is this correct? (y/N) ", b"y\r");
    terminal.answer("Real name: ", b"Ann Other\r");
    terminal.answer("Email address: ", b"ann@example.org\r");
    terminal.answer("Comment: ", b"\r");
    terminal.answer("Change (N)ame, (C)omment, (E)mail or (O)kay/(Q)uit? ", b"o\r");
    terminal.answer("(empty for none): ", b"correct horse\r");
    terminal.answer("Once more: ", b"correct horse\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains("horse"), "{shown}");
    assert!(shown.contains("ed25519") && shown.contains("cv25519"), "the new key is shown: {shown}");
    assert_eq!(protections(&home), ["passphrase", "passphrase"]);
}
