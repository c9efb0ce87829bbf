//! `keyhoard log`: what changed the database, newest first.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::path::Path;

use harness::{Engine, OwnKey, Run};

harness::on_both_engines! {
    entries_show_their_changes_and_the_entry_that_undid_them
    one_entry_names_its_certificates
    an_entry_that_is_not_there_is_exit_code_1
    the_line_of_a_command_can_be_run_again_whatever_its_arguments_hold
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

fn the_line_of_a_command_can_be_run_again_whatever_its_arguments_hold(engine: Engine) {
    let (key, home) = (OwnKey::new("Tim \"Tiny\" O'Leary \\ `x` $HOME <tim@example.org>"), engine.home());
    let file = OsString::from_vec(b"it's \"a\"\n\t\x1b[31m\\$(x)\xff1 key.pgp".to_vec());
    let path = home.path().join(&file);
    fs::write(&path, key.certificate()).expect("a file");
    let keyhoard = || Run::keyhoard(&home).current_dir(home.path());
    let logged = || {
        let line = keyhoard().args(["log", "-n", "1"]).succeed().text();
        assert_eq!(line.lines().count(), 1, "{line}");
        assert!(!line.contains(|letter: char| letter.is_control() && letter != '\n'), "{line:?}");
        line[line.find("keyhoard").expect("a command")..].trim_end().to_owned()
    };
    keyhoard().arg("import").arg(&file).succeed();
    let import = logged();
    keyhoard().args(["delete", "--yes", "=Tim \"Tiny\" O'Leary \\ `x` $HOME <tim@example.org>"]).succeed();
    let delete = logged();
    for (line, present) in [(import, Some(0)), (delete, Some(1))] {
        let line = line.replacen("keyhoard", "\"$KEYHOARD\"", 1);
        let shell = Run::new(Path::new("bash"), home.path()).current_dir(home.path());
        let shell = shell.env("KEYHOARD", Run::program_path("keyhoard")).env("KEYHOARD_DB", home.database());
        shell.args(["-c", &line]).succeed();
        assert_eq!(keyhoard().args(["list", "tim@example.org"]).output().code, present, "{line}");
    }
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
