//! Names of certificates, as all commands of `keyhoard` take them.

use harness::{Home, Output, OwnKey, Run};

const NOBODY: &str = "nobody@example.org";

fn run(home: &Home, arguments: &[&str]) -> Output {
    Run::keyhoard(home).args(arguments).stdin("text").output()
}

/// A database with the certificates of two keys of gpg's.
fn home_of_two() -> Home {
    let home = Home::new();
    for user_id in ["Ann <ann@example.org>", "Ben <ben@example.org>"] {
        Run::keyhoard(&home).args(["import", "--quiet"]).stdin(OwnKey::new(user_id).certificate()).succeed();
    }
    home
}

#[test]
fn a_name_without_a_match_has_exit_code_1_in_every_command() {
    let home = home_of_two();
    let commands: &[&[&str]] = &[
        &["list"],
        &["show"],
        &["export"],
        &["check"],
        &["who-signed"],
        &["signed-by"],
        &["delete", "--yes"],
        &["encrypt", "--to"],
        &["sign", "--by"],
        &["trust", "set", "full"],
        &["trust", "disable"],
        &["trust", "show"],
        &["trust", "explain"],
        &["trust", "graph"],
        &["tofu", "policy", "good"],
        &["key", "list"],
        &["key", "export"],
        &["key", "delete", "--yes"],
        &["key", "passphrase", "--remove"],
        &["key", "certify", "--yes"],
        &["key", "certify", "--yes", "ann@example.org", "--by"],
        &["key", "revoke", "--yes"],
        &["key", "revoke-certification"],
        &["key", "revocation-certificate"],
        &["key", "add-subkey", "--for", "sign"],
    ];
    for command in commands {
        let done = run(&home, &[command, &[NOBODY][..]].concat());
        let told = done.errors();
        assert_eq!((done.code, done.text().as_str()), (Some(1), ""), "{command:?}: {told}");
        assert!(told.contains(&format!("{NOBODY}: not found")), "{command:?}: {told}");
    }
    for command in [&["key", "add-user-id", NOBODY, "New One"], &["key", "set-expiry", NOBODY, "2y"]] {
        assert_eq!(run(&home, command).code, Some(1), "{command:?}");
    }
}

#[test]
fn owner_trust_and_policies_are_printed_when_set_as_they_are_listed() {
    let home = home_of_two();
    let documents = |arguments: &[&str]| {
        let done = run(&home, &[&["--json"], arguments].concat());
        assert_eq!(done.code, Some(0), "{arguments:?}: {}", done.errors());
        done.json_lines()
    };
    let set = documents(&["trust", "set", "full", "ann@example.org", "ben@example.org"]);
    assert_eq!(set.len(), 2);
    assert_eq!((&set[0]["owner_trust"], &set[0]["disabled"]), (&"full".into(), &false.into()));
    let disabled = documents(&["trust", "disable", "ann@example.org"]);
    assert_eq!((&disabled[0]["owner_trust"], &disabled[0]["disabled"]), (&"full".into(), &true.into()));
    assert!(documents(&["trust", "list"]).contains(&disabled[0]));
    let exported = run(&home, &["trust", "exchange", "export"]).stdout;
    let import = ["--json", "trust", "exchange", "import"];
    let imported = Run::keyhoard(&Home::new()).args(import).stdin(exported).succeed().json_lines();
    assert_eq!((imported.len(), &imported[0]["name"]), (2, &serde_json::Value::Null));
}

#[test]
fn owner_trust_is_read_from_standard_input_and_an_invalid_number_is_an_error_that_names_the_line() {
    let home = home_of_two();
    let key = "0123456789ABCDEF0123456789ABCDEF01234567";
    let import = |file: &str, text: String| {
        Run::keyhoard(&home).args(["trust", "exchange", "import", file]).stdin(text).output()
    };
    let export = || run(&home, &["trust", "exchange", "export"]).text();
    assert_eq!(import("-", format!("{key}:5:\n")).code, Some(0));
    assert_eq!(export(), format!("{key}:5:\n"));
    let wrong = format!("# from somewhere\n{key}:4:\n{key}:300:\n");
    let refused = import("-", wrong.clone());
    assert_eq!(refused.code, Some(2));
    assert!(refused.errors().contains("standard input: line 3: unknown owner trust"), "{}", refused.errors());
    let file = home.write("trust.txt", wrong);
    let refused = import(file.to_str().expect("text"), String::new());
    assert!(refused.errors().contains("trust.txt: line 3: unknown owner trust"), "{}", refused.errors());
    assert_eq!(export(), format!("{key}:5:\n"), "nothing was taken over");
}

#[test]
fn an_address_without_a_key_has_exit_code_1() {
    let home = home_of_two();
    for command in ["explain", "forget"] {
        let done = run(&home, &["tofu", command, NOBODY]);
        assert_eq!((done.code, done.text().as_str()), (Some(1), ""), "{command}");
        assert!(done.errors().contains(&format!("{NOBODY}: no key has this address")), "{}", done.errors());
        assert_eq!(run(&home, &["--json", "tofu", command, NOBODY]).code, Some(1));
    }
}

#[test]
fn without_an_ultimately_trusted_key_the_web_of_trust_is_empty_as_text_and_as_json() {
    let home = home_of_two();
    assert_eq!(run(&home, &["trust", "check"]).code, Some(1));
    let done = run(&home, &["--json", "trust", "check"]);
    assert_eq!((done.code, &done.json_lines()[0]["levels"]), (Some(1), &serde_json::json!([])));
}

#[test]
fn an_ambiguous_name_is_an_error_where_one_certificate_is_expected() {
    let home = home_of_two();
    let commands: &[&[&str]] = &[
        &["sign", "--by"],
        &["trust", "set", "full"],
        &["trust", "graph"],
        &["key", "certify", "--yes"],
        &["key", "revoke", "--yes"],
    ];
    for command in commands {
        let done = run(&home, &[command, &["example.org"][..]].concat());
        assert_eq!((done.code, done.text().as_str()), (Some(2), ""), "{command:?}");
        assert!(done.errors().contains("example.org: 2 certificates match"), "{}", done.errors());
    }
}

#[test]
fn commands_that_need_a_secret_key_have_exit_code_1_without_one() {
    let home = home_of_two();
    let commands: &[&[&str]] = &[
        &["sign"],
        &["key", "list"],
        &["key", "certify", "--yes", "ann@example.org"],
        &["key", "export", "ann@example.org"],
        &["key", "passphrase", "--remove", "ann@example.org"],
        &["key", "delete", "--yes", "ann@example.org"],
    ];
    for command in commands {
        let done = run(&home, command);
        assert_eq!((done.code, done.text().as_str()), (Some(1), ""), "{command:?}: {}", done.errors());
        assert!(done.errors().contains("no secret key"), "{command:?}: {}", done.errors());
    }
}
