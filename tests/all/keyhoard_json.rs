//! `keyhoard --json`: whatever is asked, standard output holds one JSON document a line, and nothing else.

use harness::{Home, Keyring, Output, OwnKey, Run};

const KEY: &str = "5E5C4B0E1AFD7325CF66500F962680C5305A9418";

#[test]
fn every_command_writes_a_json_document_a_line() {
    let home = Home::new();
    let file = home.path().join("out.asc");
    let [keyring, file] =
        [Keyring::Maintainers.path(), file].map(|path| path.to_str().expect("ASCII").to_owned());
    let key = home.write("key", OwnKey::new("Ann <ann@example.org>").certificate());
    let key = key.to_str().expect("ASCII");
    for line in [
        &["import", "--dry-run", &keyring][..],
        &["import", &keyring, key],
        &["import", "--verbose", &keyring],
        &["list"],
        &["list", "--signatures", "debian.org"],
        &["show", "ann@example.org"],
        &["search", "-n", "2", "debian"],
        &["export", "--output", &file, "ann@example.org"],
        &["log"],
        &["log", "1"],
        &["check"],
        &["check", "--signatures", "debian.org"],
        &["who-signed", "debian.org"],
        &["signed-by", "debian.org"],
        &["doctor"],
        &["doctor", "--rebuild"],
        &["sql", "SELECT * FROM signature LIMIT 100"],
        &["sql", "SELECT *, user_id AS \"a\"\"b\" FROM name, certificate LIMIT 100"],
        &["delete", "--yes", "ann@example.org"],
        &["undo", "--dry-run"],
        &["undo"],
        &["migrate", &file],
    ] {
        assert!(!run(&home, line).json_lines().is_empty(), "{line:?}");
    }
}

#[test]
fn errors_go_to_standard_error_and_documents_to_standard_output() {
    let home = Home::new();
    for line in [
        &["list"][..],
        &["sql", "SELECT 1"],
        &["import", "/nonexistent"],
        &["undo"],
        &["migrate", "/nonexistent"],
    ] {
        assert_told(&run(&home, line), 2, line);
    }
    Run::keyhoard(&home).arg("import").arg(Keyring::Nonupload.path()).succeed();
    for line in
        [&["show", "nobody@example.org"][..], &["delete", "--yes", "nobody@example.org"], &["log", "99"]]
    {
        assert_told(&run(&home, line), 1, line);
    }
    for line in [&["delete", KEY][..], &["undo", "99"], &["sql", "SELECT * FROM nowhere"], &["search", ""]] {
        assert_told(&run(&home, line), 2, line);
    }
}

fn run(home: &Home, line: &[&str]) -> Output {
    Run::keyhoard(home).arg("--json").args(line).output()
}

fn assert_told(done: &Output, code: i32, line: &[&str]) {
    assert_eq!((done.code, done.text()), (Some(code), String::new()), "{line:?}: {}", done.errors());
    let told = done.errors();
    assert!(told.starts_with("{\"error\":") || told.starts_with("{\"warning\":"), "{line:?}: {told}");
}
