//! A name is a value in SQL, never a part of it.

use harness::{Engine, Run, on_both_engines};
use packet_builder::{Certificate, Key};

const NAMES: [&str; 8] = [
    "'; DROP TABLE certificates; --",
    "\"; DROP TABLE certificates; --",
    "x' OR '1'='1",
    "%' OR 1=1 --",
    "\\'; SELECT pg_sleep(60); --",
    "$$; DROP SCHEMA public CASCADE; $$",
    "%_%*?[a-z]",
    "1; ATTACH DATABASE '/tmp/x' AS x",
];

fn a_name_is_never_a_part_of_a_statement(engine: Engine) {
    let home = engine.home();
    for name in NAMES {
        let certificate = Certificate::new(&Key::ed25519(name), format!("{name} <sql@example.org>"));
        Run::keyhoard(&home).arg("import").stdin(certificate.bytes()).succeed();
    }
    for name in NAMES {
        for run in [
            Run::keyhoard(&home).args(["list", name]),
            Run::keyhoard(&home).args(["list", &format!("={name} <sql@example.org>")]),
            Run::keyhoard(&home).args(["search", name]),
            Run::keyhoard(&home).args(["who-signed", name]),
            Run::gpg_keyhoard(&home).args(["--list-keys", "--", name]),
            Run::gpg_keyhoard(&home).args(["--list-keys", &format!("<{name}>")]),
        ] {
            let what = format!("{run:?}");
            let done = run.output();
            let said = done.errors().to_lowercase();
            assert!(done.code.is_some_and(|code| code < 3), "{what}: {said}");
            assert!(!said.contains("syntax") && !said.contains("sql"), "{what}: {said}");
        }
        let exact = Run::gpg_keyhoard(&home).args(["--with-colons", "--list-keys"]);
        let found = exact.arg(format!("={name} <sql@example.org>")).succeed().text();
        assert_eq!(found.lines().filter(|line| line.starts_with("pub:")).count(), 1, "{name}: {found}");
    }
    let all = Run::gpg_keyhoard(&home).args(["--with-colons", "--list-keys"]).succeed().text();
    assert_eq!(all.lines().filter(|line| line.starts_with("pub:")).count(), NAMES.len());
    Run::keyhoard(&home).arg("doctor").succeed();
}

fn a_statement_of_keyhoard_sql_only_reads(engine: Engine) {
    let home = engine.home();
    let certificate = Certificate::new(&Key::ed25519("Ann"), "Ann <ann@example.org>");
    Run::keyhoard(&home).arg("import").stdin(certificate.bytes()).succeed();
    for statement in [
        "DELETE FROM certificates",
        "DROP TABLE certificates",
        "UPDATE certificates SET fingerprint = NULL",
        "SELECT 1; DELETE FROM certificates",
        "CREATE TABLE evil (a int)",
        "WITH gone AS (DELETE FROM certificates RETURNING 1) SELECT * FROM gone",
    ] {
        let done = Run::keyhoard(&home).args(["sql", statement]).output();
        assert_ne!(done.code, Some(0), "{statement}: {}", done.text());
    }
    let all = Run::gpg_keyhoard(&home).args(["--with-colons", "--list-keys"]).succeed().text();
    assert!(all.contains("ann@example.org"), "{all}");
}

on_both_engines! {
    a_name_is_never_a_part_of_a_statement
    a_statement_of_keyhoard_sql_only_reads
}
