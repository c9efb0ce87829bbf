//! Places that cannot be written: a clear error, and nothing is lost.

use std::fs;
use std::path::Path;
use std::process::Command;

use harness::{Both, Gnupg, Home, Keyring, NOW, Output, OwnKey, Run};

/// Imports a small keyring, and then a keyring that does not fit into the 8 MiB that a file may have from then on, as on a
/// full disk; without that limit it can be imported. `$1` is the home, `$2` a directory outside, `$3` `gpg-keyhoard`.
const FILL: &str = r#"
set -u
gpg() { "$3" --homedir "$1" --batch --faked-system-time '20260101T000000!' "${@:4}"; }
gpg "$1" "$2" "$3" --import /usr/share/keyrings/debian-nonupload.gpg || exit 9
gpg "$1" "$2" "$3" --with-colons --list-sigs > "$2/before"
trap '' XFSZ
ulimit -S -f 8192
gpg "$1" "$2" "$3" --import /usr/share/keyrings/debian-keyring.gpg 2> "$2/error"
echo $? > "$2/code"
gpg "$1" "$2" "$3" --with-colons --list-sigs > "$2/after" || exit 10
ulimit -S -f unlimited
gpg "$1" "$2" "$3" --import /usr/share/keyrings/debian-keyring.gpg || exit 11
"#;

#[test]
fn an_import_onto_a_full_disk_fails_clearly_and_loses_nothing() {
    let (home, outside) = (Home::new(), Home::new());
    let output = Command::new("bash")
        .args(["-c", FILL, "fill"])
        .args([home.path(), outside.path()])
        .arg(Run::program_path("gpg-keyhoard"))
        .output()
        .expect("Debian has bash");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let read = |name: &str| fs::read_to_string(outside.path().join(name)).expect("the script has written it");
    let (code, error) = (read("code"), read("error"));
    assert_eq!(code.trim(), "2", "{error}");
    assert!(error.contains("full") || error.contains("space") || error.contains("too large"), "{error}");
    assert!(!read("before").is_empty());
    assert_eq!(read("before"), read("after"), "{error}");
}

#[test]
fn a_database_in_a_read_only_directory_is_read_and_not_written() {
    let home = Home::new();
    Run::gpg_keyhoard(&home).arg("--import").arg(Keyring::Nonupload.path()).succeed();
    let before = Run::gpg_keyhoard(&home).args(["--with-colons", "--list-sigs"]).succeed().stdout;
    let tofu = ["--trust-model", "tofu", "--with-colons", "-k"];
    let first_use = Run::gpg_keyhoard(&Home::copy_of(home.path())).args(tofu).succeed().stdout;
    home.set_writable(false);
    let listing = run_as_ordinary_user(home.path(), NOW, &["--with-colons", "--list-sigs"]);
    let used = run_as_ordinary_user(home.path(), NOW, &tofu);
    let import =
        run_as_ordinary_user(home.path(), NOW, &["--import", "/usr/share/keyrings/debian-maintainers.gpg"]);
    home.set_writable(true);
    assert_eq!(listing.code, Some(0), "{}", listing.errors());
    assert!(listing.stdout == before);
    assert_eq!(used.code, Some(0), "{}", used.errors());
    assert!(used.stdout == first_use);
    assert_eq!(import.code, Some(2), "{}", import.errors());
    assert!(import.errors().contains("keyhoard.db"), "an error names the file: {}", import.errors());
    let after = Run::gpg_keyhoard(&home).args(["--with-colons", "--list-sigs"]).succeed().stdout;
    assert!(after == before);
}

#[test]
fn a_keyring_file_in_a_read_only_directory_is_read_and_not_written() {
    const RING: [&str; 4] = ["--no-default-keyring", "--keyring", "ring", "--status-fd=1"];
    let home = Home::new();
    let carl = OwnKey::new("Carl <carl@example.org>");
    Run::gpg_keyhoard(&home).args(RING).arg("--import").stdin(carl.certificate()).succeed();
    let ring = home.path().join("ring");
    let before = fs::read(&ring).expect("it was written");
    home.set_writable(false);
    let run = |words: &[&str]| run_as_ordinary_user(home.path(), NOW, &[&RING[..], words].concat());
    let shown = run(&["--with-colons", "--edit-key", "carl", "list", "quit"]);
    let deleted = run(&["--yes", "--delete-keys", "carl"]);
    let imported = run(&["--import", "/usr/share/keyrings/debian-maintainers.gpg"]);
    home.set_writable(true);
    assert_eq!(shown.code, Some(0), "{}", shown.errors());
    assert!(shown.text().contains("Carl <carl@example.org>"), "{}", shown.text());
    for refused in [deleted, imported] {
        assert_eq!(refused.code, Some(2), "{}", refused.errors());
        assert!(refused.errors().contains("ring: Permission denied"), "{}", refused.errors());
        assert!(!refused.text().contains("IMPORT_OK"), "{}", refused.text());
    }
    assert_eq!(fs::read(&ring).expect("it is there"), before);
}

#[test]
fn on_a_full_disk_a_database_is_read_and_a_write_is_refused_with_a_clear_error() {
    let home = Home::new();
    Run::gpg_keyhoard(&home).arg("--import").arg(Keyring::Nonupload.path()).succeed();
    let before = Run::gpg_keyhoard(&home).args(["--with-colons", "--list-sigs"]).succeed().stdout;
    // As on a full disk, the files that SQLite makes beside the database get no byte.
    let limited = |line: &[&str]| {
        let mut command = Command::new("bash");
        command.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "limited"]);
        command.env("GPG_KEYHOARD_COMPAT", Gnupg::V2_2.compat());
        command.arg(Run::program_path("gpg-keyhoard")).arg("--homedir").arg(home.path());
        let output = command.args(["--batch", "--faked-system-time", "20260101T000000!"]).args(line).output();
        output.expect("Debian has bash")
    };
    let listing = limited(&["--with-colons", "--list-sigs"]);
    let error = String::from_utf8_lossy(&listing.stderr);
    assert!(listing.stdout == before && listing.status.success(), "{error}");
    let tofu = ["--trust-model", "tofu", "--with-colons", "-k"];
    let used = limited(&tofu);
    let error = String::from_utf8_lossy(&used.stderr);
    assert!(used.stdout == Run::gpg_keyhoard(&home).args(tofu).succeed().stdout, "{error}");
    assert!(used.status.success(), "{error}");
    let import = limited(&["--import", "/usr/share/keyrings/debian-maintainers.gpg"]);
    let error = String::from_utf8_lossy(&import.stderr);
    assert!(error.contains("no space is left") && error.contains("nothing of it was written"), "{error}");
    assert_eq!(import.status.code(), Some(2));
}

#[test]
fn messages_are_verified_and_encrypted_although_trust_on_first_use_cannot_count_them() {
    let both = Both::of_alice_and_bob();
    let signed =
        both.run_of(true).args(["--batch", "-u", "alice", "-o", "-", "-s"]).stdin("a letter").succeed();
    let message = both.gpg.write("message", signed.stdout);
    let message = message.to_str().expect("a name");
    both.keyhoard.set_writable(false);
    let words = ["--status-fd", "1", "--trust-model", "tofu", "--verify", message];
    let done = run_as_ordinary_user(both.keyhoard.path(), both.clock(), &words);
    let words = ["--trust-model", "tofu", "-r", "alice", "-o", "-", "-e", message];
    let encrypted = run_as_ordinary_user(both.keyhoard.path(), both.clock(), &words);
    both.keyhoard.set_writable(true);
    assert_eq!(encrypted.code, Some(0), "{}", encrypted.errors());
    assert!(encrypted.errors().contains("is not counted"), "{}", encrypted.errors());
    assert!(done.text().contains("[GNUPG:] GOODSIG "), "{}{}", done.text(), done.errors());
    assert!(done.errors().contains("keyhoard.db"), "{}", done.errors());
    assert_eq!(done.code, Some(2));
}

/// Runs `gpg-keyhoard` bound by file permissions, also where root runs the tests.
fn run_as_ordinary_user(home: &Path, now: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new("bash");
    command.args([
        "-c",
        "if [ $(id -u) = 0 ]; then exec setpriv --bounding-set=-dac_override,-dac_read_search \"$@\"; fi; exec \"$@\"",
        "run_as_ordinary_user",
    ]);
    command.env("GPG_KEYHOARD_COMPAT", Gnupg::V2_2.compat());
    command.arg(Run::program_path("gpg-keyhoard")).arg("--homedir").arg(home);
    let output = command
        .args(["--batch", "--faked-system-time", now])
        .args(arguments)
        .output()
        .expect("Debian has bash and setpriv");
    Output { stdout: output.stdout, stderr: output.stderr, code: output.status.code() }
}
