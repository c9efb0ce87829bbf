//! What both programs tell people: nothing in it works on a terminal, and nobody has to listen.

use std::io;
use std::process::{Command, Stdio};

use harness::{Home, OwnKey, Run};

#[test]
fn user_ids_and_file_names_do_not_reach_the_terminal_as_escape_sequences() {
    let key = OwnKey::new("Eve \x1b[31m\x07 <eve@example.org>");
    let home = Home::new();
    let [good, bad] = [key.certificate(), key.certificate()[..100].to_vec()];
    let [good, bad] =
        [("good\x1b[31m", good), ("bad\x1b[31m", bad)].map(|(name, bytes)| home.write(name, bytes));
    for run in [
        Run::gpg_keyhoard(&home).args(["--verbose", "--import"]).args([&good, &bad]),
        Run::gpg_keyhoard(&home).arg("--verbose").arg("--import").arg(&good),
        Run::gpg_keyhoard(&home).arg("--list-sigs"),
        Run::gpg_keyhoard(&home).arg("--import").arg("no such\x1b[31m"),
        Run::keyhoard(&home).args(["import", "--verbose"]).args([&good, &bad]),
        Run::keyhoard(&home).args(["list", "--signatures"]),
        Run::keyhoard(&home).args(["show", "eve@example.org"]),
        Run::keyhoard(&home).arg("log"),
        Run::keyhoard(&home).args(["list", "no such\x1b[31m"]),
        Run::keyhoard(&home).arg("import").arg("no such\x1b[31m"),
    ] {
        let what = format!("{run:?}");
        let done = run.output();
        assert!(!done.stdout.is_empty() || !done.stderr.is_empty(), "{what}");
        assert!(!done.stdout.contains(&0x1b) && !done.stderr.contains(&0x1b), "{what}");
    }
}

#[test]
fn mail_addresses_do_not_reach_the_terminal_with_control_characters() {
    let home = Home::new();
    let key = OwnKey::new("Eve <eve@\x7f\u{9b}\u{202e}.example.org>");
    Run::gpg_keyhoard(&home).arg("--import").stdin(key.certificate()).succeed();
    for options in [&["--list-options", "show-only-fpr-mbox"][..], &["--with-wkd-hash"]] {
        let listed = Run::gpg_keyhoard(&home).args(options).arg("-k").succeed().text();
        assert!(listed.contains("@\\x7f\\xc2\\x9b\\xe2\\x80\\xae.example.org\n"), "{listed}");
        assert!(!listed.contains(['\x7f', '\u{9b}', '\u{202e}']), "{listed}");
    }
}

#[test]
fn a_directory_in_place_of_the_database_is_reported_as_a_directory() {
    let home = Home::new();
    for command in ["list", "import"] {
        let done = Run::keyhoard(&home).arg("--db").arg(home.path()).arg(command).stdin("").output();
        let said = format!("keyhoard: {}: is a directory\n", home.path().display());
        assert_eq!((done.code, done.errors()), (Some(2), said));
    }
}

#[test]
fn error_messages_shorten_very_long_names() {
    let home = Home::new();
    Run::keyhoard(&home).arg("import").stdin(OwnKey::new("Ann <ann@example.org>").certificate()).succeed();
    let long = "x".repeat(100_000);
    for run in [
        Run::keyhoard(&home).args(["list", &long]),
        Run::keyhoard(&home).args(["list", &format!("0x{long}")]),
        Run::gpg_keyhoard(&home).args(["--list-keys", &long]),
        Run::gpg_keyhoard(&home).args(["--batch", "--yes", "--delete-keys", &long]),
        Run::gpg_keyhoard(&home).args(["--trust-model", &long, "--list-keys"]),
    ] {
        let done = run.output();
        assert_ne!(done.code, Some(0));
        assert!(done.errors().len() < 1000, "{}", done.errors());
    }
}

#[test]
fn a_closed_standard_error_does_not_stop_a_program() {
    let home = Home::new();
    let exit_code = |name: &str, arguments: &[&str]| {
        let (reader, writer) = io::pipe().expect("a pipe");
        drop(reader);
        let mut command = Command::new(Run::program_path(name));
        command.env("KEYHOARD_DB", home.database()).env("GNUPGHOME", home.path()).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(writer).status().expect("it starts").code()
    };
    assert_eq!(exit_code("keyhoard", &["list", "nobody"]), Some(2), "there is no database yet");
    Run::keyhoard(&home).arg("import").stdin(OwnKey::new("Ann <ann@example.org>").certificate()).succeed();
    assert_eq!(exit_code("keyhoard", &["list", "nobody"]), Some(1));
    assert_eq!(exit_code("keyhoard", &["import", "/nonexistent"]), Some(2));
    assert_eq!(exit_code("gpg-keyhoard", &["-k", "nobody"]), Some(2));
    assert_eq!(exit_code("gpg-keyhoard", &["--verbose", "-k"]), Some(0));
}

/// Runs `keyhoard` with a standard output that nobody reads; returns the exit code and what is on standard error.
fn unread(home: &Home, arguments: &[&str]) -> (Option<i32>, String) {
    let (reader, writer) = io::pipe().expect("a pipe");
    drop(reader);
    let mut command = Command::new(Run::program_path("keyhoard"));
    command.env("KEYHOARD_DB", home.database()).args(["--faked-system-time", "20260101T000000"]);
    let done = command.args(arguments).stdin(Stdio::null()).stdout(writer).stderr(Stdio::piped()).spawn();
    let done = done.and_then(|child| child.wait_with_output()).expect("it starts");
    (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
}

#[test]
fn a_closed_standard_output_is_neither_success_nor_reported() {
    let home = Home::new();
    let generate = ["generate", "--faked-system-time", "20250101T000000", "--no-passphrase"];
    Run::keyhoard(&home).args(generate).arg("Ann <ann@example.org>").succeed();
    for listing in [&["list"][..], &["list", "--json"], &["export", "--binary"], &["sql", "SELECT 1"]] {
        assert_eq!(unread(&home, listing), (Some(2), String::new()), "{listing:?}");
    }

    let data = home.write("data", "text\n");
    let sign = ["--faked-system-time", "20250601T000000", "sign", "--detached"];
    let signature = home.write("data.sig", Run::keyhoard(&home).args(sign).stdin("text\n").succeed().stdout);
    let pairs = home.write("pairs", format!("{}\t{}\n", signature.display(), data.display()));
    let [signature, pairs] = [&signature, &pairs].map(|path| path.to_str().expect("text"));
    assert_eq!(unread(&home, &["verify", signature]), (Some(2), String::new()));
    assert_eq!(unread(&home, &["verify", "--batch", pairs]), (Some(2), String::new()));
    home.write("data", "other text\n");
    assert_eq!(unread(&home, &["--json", "verify", signature]).0, Some(1));
    assert_eq!(unread(&home, &["verify", signature]), (Some(1), String::new()));
    assert_eq!(unread(&home, &["verify", "--batch", pairs]), (Some(1), String::new()));
}
