//! Files that commands write, of all programs: who may read them, and what is never replaced.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use harness::{Home, Output, Run, Terminal, alice_and_bob};

const ALICE: &str = "alice@example.org";
const NOW: &str = "20260201T000000!";
const BATCH_OPTIONS: [&str; 4] = ["--pinentry-mode", "loopback", "--passphrase", ""];

/// A home with the secret keys of Alice and Bob, which are not locked.
fn home() -> Home {
    let home = Home::new();
    Run::gpg_keyhoard(&home).args(BATCH_OPTIONS).arg("--import").arg(alice_and_bob()).succeed();
    home
}

fn keyhoard(home: &Home, arguments: &[&str]) -> Run {
    Run::keyhoard(home).args(["--faked-system-time", "20260201T000000"]).args(arguments)
}

fn file(home: &Home, name: &str) -> PathBuf {
    home.path().join(name)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a name in ASCII")
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it was written").permissions().mode() & 0o777
}

/// Writes a file that everybody may read and write.
fn open_file(home: &Home, name: &str) -> PathBuf {
    let path = home.write(name, "old");
    fs::set_permissions(&path, Permissions::from_mode(0o666)).expect("it is the test's own");
    path
}

/// Runs a program under a umask that leaves everything to everybody.
fn without_umask(program: &str, home: &Home, arguments: &[&str]) -> Run {
    let place = Run::program_path(program);
    let words = ["-c", "umask 0; exec \"$0\" \"$@\"", text(&place)];
    Run::new(Path::new("sh"), home.path()).env("KEYHOARD_DB", home.database()).args(words).args(arguments)
}

#[test]
fn secret_keys_and_revocations_that_gpg_keyhoard_writes_are_for_their_owner_only() {
    let home = home();
    let commands: [(&[&str], &str); 3] = [
        (&["--export-secret-keys", ALICE], ""),
        (&["--export-secret-subkeys", ALICE], ""),
        (&["--no-batch", "--no-tty", "--command-fd", "0", "--generate-revocation", ALICE], "y\n0\n\ny\n"),
    ];
    for (command, answers) in commands {
        for target in [file(&home, "new"), open_file(&home, "old")] {
            let front = ["--homedir", text(home.path()), "--batch", "--yes", "--faked-system-time", NOW];
            let output = ["--output", text(&target)];
            let words = [&front[..], &BATCH_OPTIONS, &output, command].concat();
            without_umask("gpg-keyhoard", &home, &words).stdin(answers).succeed();
            assert_eq!(mode(&target), 0o600, "{command:?} to {}", target.display());
            assert!(fs::read(&target).expect("it was written").len() > 100);
            fs::remove_file(target).expect("it is the test's own");
        }
    }
}

#[test]
fn secret_keys_and_revocations_that_keyhoard_writes_are_for_their_owner_only() {
    let home = home();
    for command in [&["key", "export", ALICE][..], &["key", "revocation-certificate", ALICE]] {
        for target in [file(&home, "new"), open_file(&home, "old")] {
            let words = [command, &["--force", "--output", text(&target)]].concat();
            without_umask("keyhoard", &home, &words).succeed();
            assert_eq!(mode(&target), 0o600, "{command:?} to {}", target.display());
            fs::remove_file(target).expect("it is the test's own");
        }
    }
    let key = without_umask("keyhoard", &home, &["generate", "--no-passphrase", "Eve <eve@example.org>"]);
    let fingerprint = key.succeed().text();
    let revocation = format!("openpgp-revocs.d/{}.rev", fingerprint.trim());
    assert_eq!(mode(&file(&home, &revocation)), 0o600);
    assert_eq!(mode(&file(&home, "openpgp-revocs.d")), 0o700);
    for entry in fs::read_dir(file(&home, "secret-keys")).expect("a directory") {
        assert_eq!(mode(&entry.expect("a file").path()), 0o600);
    }
}

#[test]
fn files_written_by_sop_are_for_their_owner_only() {
    let home = Home::new();
    let (password, key) = (home.write("password", "secret words"), file(&home, "session-key"));
    let words = ["sop", "encrypt", "--with-password", text(&password), "--session-key-out", text(&key)];
    without_umask("keyhoard", &home, &words).stdin("text").succeed();
    assert_eq!(mode(&key), 0o600);
}

#[test]
fn other_files_have_the_mode_that_the_umask_leaves_or_that_they_had() {
    let home = home();
    let (new, old) = (file(&home, "new"), open_file(&home, "old"));
    fs::set_permissions(&old, Permissions::from_mode(0o640)).expect("it is the test's own");
    for target in [&new, &old] {
        let words = ["export", "--force", "--output", text(target), ALICE];
        without_umask("keyhoard", &home, &words).succeed();
    }
    assert_eq!((mode(&new), mode(&old)), (0o666, 0o640));
}

#[test]
fn gpg_keyhoard_does_not_replace_a_file_that_cannot_be_written_to() {
    let home = home();
    // Nobody may write to a program that runs; root may write to any other file.
    let target = file(&home, "running");
    fs::copy("/bin/sleep", &target).expect("space");
    let mut running = std::process::Command::new(&target).arg("60").spawn().expect("a program");
    let done = Run::gpg_keyhoard(&home).args(["--yes", "--export", "-o", text(&target), ALICE]).output();
    running.kill().and_then(|()| running.wait()).expect("it was started");
    assert_eq!(done.code, Some(2), "{}", done.errors());
    assert!(done.errors().contains("Text file busy"), "{}", done.errors());
    assert_eq!(fs::read(&target).expect("it is there"), fs::read("/bin/sleep").expect("it is there"));
}

/// The commands that write a file, each without the options that name it, and what they read.
fn writers(home: &Home) -> Vec<(Vec<String>, &'static str)> {
    let made = |arguments: &[&str]| keyhoard(home, arguments).stdin("some text\n").succeed().stdout;
    let password = home.write("password", "secret words");
    let locked = home.write("locked", made(&["encrypt", "--password-file", text(&password)]));
    let signed = home.write("signed", made(&["sign", "--by", ALICE]));
    let commands: [(&[&str], &str); 7] = [
        (&["export", ALICE], ""),
        (&["key", "export", ALICE], ""),
        (&["key", "revocation-certificate", ALICE], ""),
        (&["encrypt", "--password-file", text(&password)], "text"),
        (&["sign", "--by", ALICE], "text"),
        (&["decrypt", "--password-file", text(&password), text(&locked)], ""),
        (&["verify", text(&signed)], ""),
    ];
    commands.map(|(command, input)| (command.iter().map(|&word| word.into()).collect(), input)).into()
}

#[test]
fn an_existing_file_is_replaced_only_with_force() {
    let home = home();
    for (command, input) in writers(&home) {
        let run = |options: &[&str]| {
            let target = home.path().join("target");
            keyhoard(&home, options).args(&command).arg("--output").arg(target).stdin(input).output()
        };
        let target = home.write("target", "precious");
        let refused = run(&[]);
        assert_eq!(refused.code, Some(2), "{command:?}");
        assert!(
            refused.errors().contains("target: the file exists already; --force"),
            "{}",
            refused.errors()
        );
        assert_eq!(fs::read(&target).expect("it stays"), b"precious", "{command:?}");
        let target = text(&target).to_owned();
        let forced =
            keyhoard(&home, &[]).args(&command).args(["--force", "-o", &target]).stdin(input).output();
        // The owner of Alice's key is not verified.
        let code = if command[0] == "verify" { 4 } else { 0 };
        assert_eq!(forced.code, Some(code), "{command:?}: {}", forced.errors());
        assert_ne!(fs::read(&target).expect("it was replaced"), b"precious", "{command:?}");
    }
}

#[test]
fn on_a_terminal_keyhoard_asks_before_it_replaces_a_file() {
    let home = home();
    let target = home.write("target", "precious");
    for (answer, code, is_kept) in [(b"\n".as_slice(), 2, true), (b"n\n", 2, true), (b"y\n", 0, false)] {
        let command = format!("$KEYHOARD --quiet export --output {} {ALICE}", target.display());
        let mut terminal = Terminal::new(&home, &command);
        terminal.answer("exists already. Replace it? [y/N] ", answer);
        let (ended, shown) = terminal.end();
        assert_eq!(ended, Some(code), "{shown}");
        assert_eq!(fs::read(&target).expect("a file") == b"precious", is_kept, "{shown}");
    }
}

/// Names for a file: its own, and those of a hard and a symbolic link.
fn names_of(home: &Home, target: &Path) -> [PathBuf; 3] {
    let [hard, soft] = ["hard", "soft"].map(|name| file(home, name));
    fs::hard_link(target, &hard).expect("a link");
    symlink(target, &soft).expect("a link");
    [target.to_owned(), hard, soft]
}

fn assert_refused(done: &Output, target: &Path, what: &str) {
    assert_eq!(done.code, Some(2), "{what}: {}", done.errors());
    assert!(done.errors().contains("input and output are the same file"), "{what}: {}", done.errors());
    assert_eq!(fs::read(target).expect("it stays"), b"precious", "{what}");
}

#[test]
fn keyhoard_does_not_write_over_what_it_reads() {
    let home = home();
    let password = home.write("password", "secret words");
    let target = home.write("same.txt", "precious");
    let commands: [&[&str]; 4] = [
        &["encrypt", "--password-file", text(&password)],
        &["sign", "--by", ALICE],
        &["decrypt", "--password-file", text(&password)],
        &["verify"],
    ];
    for name in names_of(&home, &target) {
        for command in commands {
            let done =
                keyhoard(&home, command).args(["--force", "--output"]).arg(&name).arg(&target).output();
            assert_refused(&done, &target, command[0]);
        }
        let shell = "exec \"$0\" encrypt --force --password-file \"$1\" --output \"$2\" <\"$3\"";
        let run =
            Run::new(Path::new("sh"), home.path()).args(["-c", shell]).arg(Run::program_path("keyhoard"));
        assert_refused(&run.arg(&password).arg(&name).arg(&target).output(), &target, "standard input");
    }
}

#[test]
fn gpg_keyhoard_does_not_write_over_what_it_reads() {
    let home = home();
    let target = home.write("same.txt", "precious");
    let commands: [&[&str]; 8] = [
        &["--trust-model", "always", "-r", ALICE, "-e"],
        &["--passphrase", "x", "-c"],
        &["-u", ALICE, "-s"],
        &["-u", ALICE, "-b"],
        &["-u", ALICE, "--clear-sign"],
        &["--enarmor"],
        &["--dearmor"],
        &["--import-options", "import-export", "--import"],
    ];
    for name in names_of(&home, &target) {
        for command in commands {
            let run =
                Run::gpg_keyhoard(&home).at(NOW).args(BATCH_OPTIONS).args(["--yes", "--output"]).arg(&name);
            let done = run.args(command).arg(&target).output();
            assert_refused(&done, &target, command[command.len() - 1]);
        }
    }
    let literal = Run::gpg(&Home::new()).args(["--output", "-", "--store"]).stdin("text").succeed();
    let message = home.write("message", literal.stdout);
    let before = fs::read(&message).expect("a message");
    let done = Run::gpg_keyhoard(&home).args(["--yes", "-o"]).arg(&message).arg("-d").arg(&message).output();
    assert!(done.errors().contains("input and output are the same file"), "{}", done.errors());
    assert_eq!((done.code, fs::read(&message).expect("it stays")), (Some(2), before));
}
