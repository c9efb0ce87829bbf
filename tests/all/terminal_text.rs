//! What others wrote, as all programs show it: it never controls a terminal.

use std::fs;
use std::path::Path;

use harness::{Both, Home, Output, OwnKey, Run, Terminal, assert_same};

/// C1's introducer of control sequences, marks that change the direction of writing, a separator of lines.
const HOSTILE: &str = "Eve \u{9b}2J\u{202e}evil\u{2066}\u{200f}\u{61c}\u{2028} Ëve <eve@example.org>";
const NOW: &str = "20260201T000000";

/// Says whether a character does something else than appear where it stands.
fn is_control(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[track_caller]
fn assert_harmless(what: &str, shown: &[u8]) {
    let text = String::from_utf8_lossy(shown);
    let found = text.chars().find(|&character| !matches!(character, '\n' | '\t') && is_control(character));
    assert_eq!(found, None, "{what}: {}", shown.escape_ascii());
}

/// A home, and a key with a hostile user ID, whose secret part is in another one.
fn homes() -> (Home, OwnKey) {
    let (home, key) = (Home::new(), OwnKey::new(HOSTILE));
    let secret = Run::gpg_with_agent(key.home())
        .args(["--pinentry-mode", "loopback", "--passphrase", "", "--export-secret-keys"])
        .succeed()
        .stdout;
    let imported = Run::keyhoard(&home).args(["import", "--verbose"]).stdin(secret).succeed();
    assert!(imported.text().contains("Ëve"), "{}", imported.text());
    assert_harmless("import", &imported.stdout);
    assert_harmless("import", &imported.stderr);
    (home, key)
}

fn signed(home: &Home, file_name: &str) -> Vec<u8> {
    let words = ["--faked-system-time", NOW, "sign", "--by", "eve@example.org"];
    let data = home.write(file_name, "text");
    Run::keyhoard(home).args(words).arg(data).succeed().stdout
}

#[test]
fn keyhoard_shows_names_of_others_without_their_control_characters() {
    let (home, key) = homes();
    let message = home.write("message", signed(&home, "data"));
    let message = message.to_str().expect("a name in ASCII");
    let commands: [&[&str]; 19] = [
        &["list"],
        &["list", "--signatures"],
        &["show", "eve@example.org"],
        &["search", "Ëve"],
        &["check"],
        &["who-signed", "eve@example.org"],
        &["signed-by", "eve@example.org"],
        &["key", "list"],
        &["trust", "set", "full", "eve@example.org"],
        &["trust", "list"],
        &["trust", "explain", "eve@example.org"],
        &["trust", "graph", "eve@example.org"],
        &["tofu", "list", "--all"],
        &["tofu", "explain", "eve@example.org"],
        &["log"],
        &["sql", "SELECT user_id FROM user_id"],
        &["verify", message],
        &["doctor"],
        &["delete", "eve@example.org"],
    ];
    let mut shown = 0;
    for command in commands {
        for form in [&[][..], &["--json"]] {
            let words = [&["--faked-system-time", NOW][..], form, command].concat();
            let done = Run::keyhoard(&home).args(&words).output();
            assert_harmless(&format!("{words:?}"), &done.stdout);
            assert_harmless(&format!("{words:?}"), &done.stderr);
            shown += usize::from([&done.stdout, &done.stderr].iter().any(|it| contains(it, "Ëve")));
        }
    }
    assert!(shown >= 20, "only {shown} of them showed the name");
    drop(key);
}

fn contains(text: &[u8], name: &str) -> bool {
    text.windows(name.len()).any(|window| window == name.as_bytes())
}

#[test]
fn json_escapes_control_characters_and_keeps_the_name() {
    let (home, _key) = homes();
    let listed = Run::keyhoard(&home).args(["--json", "list"]).succeed();
    assert!(
        contains(&listed.stdout, r"Eve \u009b2J\u202eevil\u2066\u200f\u061c\u2028 Ëve"),
        "{}",
        listed.text()
    );
    assert!(listed.json_lines()[0].to_string().contains(HOSTILE.trim_end_matches('>')));
}

#[test]
fn names_of_files_and_errors_about_them_are_harmless_too() {
    let home = Home::new();
    let name = "a\u{9b}2J\u{202e}\u{1b}[31m\nb";
    let missing = home.path().join(name);
    let commands: [&[&str]; 5] = [&["import"], &["verify"], &["decrypt"], &["list"], &["migrate"]];
    for command in commands {
        for form in [&[][..], &["--json"]] {
            let done = Run::keyhoard(&home).args(form).args(command).arg(&missing).output();
            assert_harmless(command[0], &done.stderr);
            assert_harmless(command[0], &done.stdout);
        }
    }
    for command in [&["--import"][..], &["--verify"], &["-d"], &["-k"], &["--keyring", name, "-k"]] {
        let done = Run::gpg_keyhoard(&home).args(command).arg(&missing).output();
        assert_harmless(command[0], &done.stderr);
        assert_harmless(command[0], &done.stdout);
    }
    fs::write(&missing, "text").expect("a file");
    let digests = Run::gpg_keyhoard(&home).arg("--print-mds").arg(&missing).succeed();
    assert_harmless("--print-mds", &digests.stdout);
    let sop = Run::keyhoard(&home).args(["sop", "verify", name, name]).output();
    assert_harmless("sop", &sop.stderr);
}

#[test]
fn gpg_keyhoard_shows_names_of_others_without_their_control_characters() {
    let (home, key) = homes();
    let exported = Run::keyhoard(&home).args(["export", "--binary"]).succeed().stdout;
    let (certificate, message) =
        (home.write("certificate", &exported), home.write("message", signed(&home, "data")));
    let [certificate, message] = [&certificate, &message].map(|path| path.to_str().expect("a name in ASCII"));
    let commands: [&[&str]; 9] = [
        &["-k"],
        &["--list-sigs"],
        &["--check-sigs"],
        &["-K"],
        &["--fingerprint", "eve@example.org"],
        &["--show-keys", certificate],
        &["--list-packets", certificate],
        &["-v", "--verify", message],
        &["-v", "--import", certificate],
    ];
    for command in commands {
        let done = Run::gpg_keyhoard(&home).at("20260201T000000!").args(command).output();
        let what = format!("{command:?}");
        assert!(contains(&done.stdout, "Eve") || contains(&done.stderr, "Eve"), "{what}: {}", done.errors());
        assert_harmless(&what, &done.stdout);
        assert_harmless(&what, &done.stderr);
    }
    let listed = Run::gpg_keyhoard(&home).arg("-k").succeed();
    assert!(contains(&listed.stdout, r"Eve \xc2\x9b2J\xe2\x80\xaeevil"), "{}", listed.text());
    drop(key);
}

#[test]
fn gpg_records_hold_the_name_as_gpg_writes_it() {
    let key = OwnKey::new(HOSTILE);
    let both = Both::new();
    let file = both.gpg.write("certificate", key.certificate());
    both.import(file);
    both.assert_same_output(["--with-colons", "--list-sigs"]);
    let [gpg, keyhoard] = both.run(["--status-fd", "1", "--with-colons", "--fixed-list-mode", "-k"]);
    assert_same("-k", &gpg.stdout, &keyhoard.stdout);
}

#[test]
fn questions_on_a_terminal_show_names_without_their_control_characters() {
    let (home, _key) = homes();
    let command = "$KEYHOARD delete --despite-secret-key eve@example.org";
    let mut terminal = Terminal::new(&home, command);
    terminal.answer("[y/N] ", b"n\n");
    let (_, shown) = terminal.end();
    assert!(shown.contains(r"Eve \u{9b}2J\u{202e}evil"), "{shown}");
}

#[test]
fn notations_and_reasons_of_revocations_are_harmless_too() {
    const REMARK: &str = "a\u{9b}2J\u{202e}b\u{2066}";
    let home = Home::new();
    let words =
        ["--faked-system-time", "20260101T000000", "generate", "--no-passphrase", "Ann <ann@example.org>"];
    Run::keyhoard(&home).args(words).succeed();
    let notation = format!("remark@example.org={REMARK}");
    let options = ["--sig-notation", &notation];
    let made = Run::gpg_keyhoard(&home).at("20260131T000000!").args(options).args(["-o", "-", "-s"]);
    let message = home.write("message", made.stdin("text").succeed().stdout);
    let words = ["--faked-system-time", "20260131T000000", "key", "revoke", "ann@example.org", "--yes"];
    Run::keyhoard(&home).args(words).args(["--reason", "retired", "--comment", REMARK]).succeed();
    let exported = Run::keyhoard(&home).args(["export", "--binary"]).succeed().stdout;
    assert!(contains(&exported, REMARK) && !exported.is_empty());
    let certificate = home.write("certificate", exported);
    let [certificate, message] = [&certificate, &message].map(|path| path.to_str().expect("a name in ASCII"));
    for command in
        [&["verify", message][..], &["show", "ann@example.org"], &["log"], &["list", "--signatures"]]
    {
        for form in [&[][..], &["--json"]] {
            let words = [&["--faked-system-time", NOW][..], form, command].concat();
            let done = Run::keyhoard(&home).args(&words).output();
            assert_harmless(&format!("{words:?}"), &[done.stdout, done.stderr].concat());
        }
    }
    let shown = ["--verify-options", "show-notations", "-v", "--verify", message];
    let commands: [&[&str]; 4] =
        [&shown, &["--list-sigs"], &["--list-packets", certificate], &["--list-packets", message]];
    for command in commands {
        let done = Run::gpg_keyhoard(&home).at("20260201T000000!").args(command).output();
        let all = [done.stdout, done.stderr].concat();
        assert_harmless(&format!("{command:?}"), &all);
        let shows = contains(&all, r"a\xc2\x9b2J\xe2\x80\xaeb");
        assert!(shows || command == ["--list-sigs"], "{command:?}: {}", all.escape_ascii());
    }
}

#[test]
fn csv_rows_are_escaped_on_a_terminal_only() {
    let (home, _key) = homes();
    let sql = "SELECT '\u{9b}2J' || char(8238)";
    let command = format!("$KEYHOARD sql --csv \"{sql}\"");
    let (_, shown) = Terminal::new(&home, &command).end();
    assert!(shown.contains(r"\u{9b}2J\u{202e}"), "{shown}");
    let elsewhere = Run::keyhoard(&home).args(["sql", "--csv", sql]).succeed();
    assert!(contains(&elsewhere.stdout, "\u{9b}2J\u{202e}"), "{}", elsewhere.text());
}

/// What a command wrote of a message whose file name is hostile.
fn decrypted(home: &Home, message: &Path) -> Output {
    Run::gpg_keyhoard(home).args(["-v", "-o", "-", "-d"]).arg(message).output()
}

#[test]
fn the_name_in_a_message_is_shown_without_its_control_characters() {
    let home = Home::new();
    let words = ["--set-filename", "a\u{9b}2J\u{202e}b", "--output", "-", "--store"];
    let literal = Run::gpg(&Home::new()).args(words).stdin("text").succeed().stdout;
    let message = home.write("message", literal);
    let done = decrypted(&home, &message);
    assert!(done.errors().contains(r"original file name='a\xc2\x9b2J\xe2\x80\xaeb'"), "{}", done.errors());
}
