//! `keyhoard sql`: a user's own questions, which change nothing.

use harness::{Home, Keyring, Output, Run};

fn imported() -> Home {
    let home = Home::new();
    Run::keyhoard(&home).args(["import", "--quiet"]).arg(Keyring::Nonupload.path()).succeed();
    home
}

fn sql(home: &Home, arguments: &[&str]) -> Output {
    Run::keyhoard(home).arg("sql").args(arguments).output()
}

#[test]
fn rows_come_as_a_table_as_csv_and_as_json() {
    let home = imported();
    let statement = "SELECT 7 AS n, 'a,\"b' AS t, x'0aff' AS o, NULL AS z";
    assert_eq!(sql(&home, &[statement]).text(), "n  t     o     z\n7  a,\"b  0AFF  NULL\n");
    assert_eq!(sql(&home, &["--csv", statement]).text(), "n,t,o,z\r\n7,\"a,\"\"b\",0AFF,\r\n");
    assert_eq!(
        sql(&home, &["--json", statement]).text(),
        "{\"n\":7,\"o\":\"0AFF\",\"t\":\"a,\\\"b\",\"z\":null}\n"
    );
}

#[test]
fn columns_of_the_same_name_are_numbered_in_json() {
    let done = sql(&imported(), &["--json", "SELECT 1 AS n, 2 AS 'n:1', 3 AS n, 4 AS n"]);
    assert_eq!(done.text(), "{\"n\":1,\"n:1\":2,\"n:2\":3,\"n:3\":4}\n");
}

#[test]
fn a_statement_can_be_read_from_standard_input() {
    let home = imported();
    let done = Run::keyhoard(&home)
        .args(["sql", "--csv"])
        .stdin("SELECT count(*) > 0 AS any FROM signature")
        .output();
    assert_eq!(done.text(), "any\r\n1\r\n");
}

#[test]
fn no_rows_are_exit_code_1_and_nonsense_is_an_error_in_sqlites_words() {
    let home = imported();
    assert_eq!(sql(&home, &["SELECT 1 WHERE 0"]).code, Some(1));
    let nonsense = sql(&home, &["SELECT word FROM nowhere"]);
    assert_eq!((nonsense.code, nonsense.errors().as_str()), (Some(2), "keyhoard: no such table: nowhere\n"));
}

#[test]
fn sql_cannot_change_the_database() {
    let home = imported();
    let before = sql(&home, &["SELECT count(*) FROM cert"]).text();
    let refused = sql(&home, &["DELETE FROM cert"]);
    assert_eq!(refused.code, Some(2));
    assert!(!refused.errors().is_empty());
    assert_eq!(sql(&home, &["SELECT count(*) FROM cert"]).text(), before);
}
