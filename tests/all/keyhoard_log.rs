//! `keyhoard log`: what changed the database, newest first.

use harness::{Engine, OwnKey, Run};

harness::on_both_engines! {
    entries_show_their_changes_and_the_entry_that_undid_them
    one_entry_names_its_certificates
    an_entry_that_is_not_there_is_exit_code_1
}

fn entries_show_their_changes_and_the_entry_that_undid_them(engine: Engine) {
    let (key, home) = (OwnKey::new("Ann <ann@example.org>"), engine.home());
    let keyhoard = |arguments: &[&str]| Run::keyhoard(&home).at("20260101T000000").args(arguments);
    keyhoard(&["import"]).stdin(key.certificate()).succeed();
    key.add_user_id("20240201T000000!", "Ann at work <ann@example.com>");
    keyhoard(&["import"]).stdin(key.certificate()).succeed();
    keyhoard(&["undo"]).succeed();
    let entries = keyhoard(&["log", "--json"]).succeed().json_lines();
    let fields: Vec<_> = entries
        .iter()
        .map(|entry| {
            ["entry", "added", "merged", "removed", "undone_by", "undoes"].map(|field| entry[field].as_i64())
        })
        .collect();
    assert_eq!(
        fields,
        [
            [Some(3), Some(0), Some(0), Some(1), None, Some(2)],
            [Some(2), Some(0), Some(1), Some(0), Some(3), None],
            [Some(1), Some(1), Some(0), Some(0), None, None],
        ]
    );
    assert_eq!(entries[2]["time"], "2026-01-01T00:00:00Z");
}

fn one_entry_names_its_certificates(engine: Engine) {
    let (key, home) = (OwnKey::new("Ann <ann@example.org>"), engine.home());
    Run::keyhoard(&home).arg("import").stdin(key.certificate()).succeed();
    let text = Run::keyhoard(&home).args(["log", "1"]).succeed().text();
    assert_eq!(text, format!("{}  added\n", key.fingerprint()));
}

fn an_entry_that_is_not_there_is_exit_code_1(engine: Engine) {
    let (key, home) = (OwnKey::new("Ann <ann@example.org>"), engine.home());
    Run::keyhoard(&home).arg("import").stdin(key.certificate()).succeed();
    let done = Run::keyhoard(&home).args(["log", "9"]).output();
    assert_eq!(done.code, Some(1));
    assert!(done.errors().contains("no entry 9"), "{}", done.errors());
}
