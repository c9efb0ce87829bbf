//! `keyhoard key list`, `export`, `import`, `delete` and `passphrase`: secret keys come in, go out, are locked anew,
//! and are never lost by the way.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use harness::{Home, Output, OwnKey, Run, Terminal};
use serde_json::Value;

const ANN: &str = "Ann <ann@example.org>";

/// Returns an unlocked transferable secret key, as gpg exports it.
fn secret_of(key: &OwnKey) -> Vec<u8> {
    let secret = ["--pinentry-mode", "loopback", "--passphrase", ""];
    Run::gpg_with_agent(key.home()).args(secret).arg("--export-secret-keys").succeed().stdout
}

fn key(home: &Home, arguments: &[&str]) -> Output {
    Run::keyhoard(home).arg("key").args(arguments).output()
}

fn listed(home: &Home) -> Vec<Value> {
    key(home, &["list", "--json"]).json_lines()
}

fn protections(home: &Home) -> Vec<String> {
    listed(home).iter().map(|key| key["protection"].as_str().expect("a word").to_owned()).collect()
}

/// A home with Ann's secret key.
fn with_ann() -> (OwnKey, Home) {
    let (ann, home) = (OwnKey::new(ANN), Home::new());
    Run::keyhoard(&home).arg("import").stdin(secret_of(&ann)).succeed();
    (ann, home)
}

/// Makes Ann's key ultimately trusted.
fn trust_ann(home: &Home) {
    Run::keyhoard(home).args(["trust", "set", "ultimate", "ann@example.org"]).succeed();
}

/// Locks all keys of a home with a passphrase.
fn lock(home: &Home, passphrase: &str) {
    let file = home.write("passphrase", format!("{passphrase}\n"));
    let done =
        key(home, &["passphrase", "--new-passphrase-file", &file.to_string_lossy(), "ann@example.org"]);
    assert_eq!(done.code, Some(0), "{}", done.errors());
}

/// Returns the files of secret keys; beside them stands which databases they belong to.
fn key_files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("a directory").flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "key")).collect()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("a file").permissions().mode() & 0o777
}

#[test]
fn an_import_keeps_secret_keys_in_files_for_their_owner_only() {
    let (ann, home) = with_ann();
    let directory = home.path().join("secret-keys");
    assert_eq!(mode(&directory), 0o700);
    assert_eq!(key_files(&directory).len(), 2, "primary key and subkey");
    let mut files = fs::read_dir(&directory).expect("a directory").flatten();
    assert!(files.all(|file| mode(&file.path()) == 0o600));
    assert!(directory.join(format!("{}.key", ann.fingerprint())).exists());
}

#[test]
fn an_import_says_which_secret_keys_are_new_and_which_were_here() {
    let (ann, home) = (OwnKey::new(ANN), Home::new());
    let import = |arguments: &[&str]| {
        let done =
            Run::keyhoard(&home).args(["import", "--json"]).args(arguments).stdin(secret_of(&ann)).succeed();
        let mut lines = done.json_lines();
        let summary = lines.pop().expect("a summary");
        let count = |name: &str| summary[name].as_u64().expect("a number");
        (count("secret"), count("secret_new"), count("secret_unchanged"))
    };
    assert_eq!(import(&["--no-secret-keys"]), (1, 0, 0));
    assert_eq!(listed(&home), [Value::Null; 0], "only the public part was taken");
    assert_eq!(import(&["--dry-run"]), (1, 1, 0));
    assert_eq!(listed(&home), [Value::Null; 0], "nothing was written");
    assert_eq!(import(&[]), (1, 1, 0), "though the certificate was imported before");
    assert_eq!(import(&[]), (1, 0, 1));
    assert_eq!(protections(&home), ["none", "none"]);
}

#[test]
fn the_list_agrees_with_gpg() {
    let (ann, home) = with_ann();
    let gpg =
        Run::gpg_with_agent(ann.home()).args(["--with-colons", "--with-keygrip", "-K"]).succeed().text();
    let of_gpg = |record: &str| -> Vec<String> {
        let lines = gpg.lines().filter_map(|line| line.strip_prefix(record));
        lines.map(|line| line.trim_matches(':').to_owned()).collect()
    };
    let of_keyhoard = |field: &str| -> Vec<String> {
        listed(&home).iter().map(|key| key[field].as_str().expect("text").to_owned()).collect()
    };
    assert_eq!(of_keyhoard("fingerprint"), of_gpg("fpr"));
    assert_eq!(of_keyhoard("keygrip"), of_gpg("grp"));
    assert_eq!(of_keyhoard("role"), ["primary", "subkey"]);
    let text = key(&home, &["list", "ann@example.org"]).text();
    assert!(text.starts_with("Ann <ann@example.org>\n  primary  "), "{text}");
    assert_eq!(key(&home, &["list", "nobody@example.org"]).code, Some(1));
}

#[test]
fn an_exported_secret_key_is_the_imported_one_in_a_file_for_its_owner_only() {
    let (ann, home) = with_ann();
    assert_eq!(key(&home, &["export", "--binary", "ann@example.org"]).stdout, secret_of(&ann));
    let file = home.path().join("backup.asc");
    let done = key(&home, &["export", "--all", "--output", &file.to_string_lossy()]);
    assert_eq!(done.code, Some(0), "{}", done.errors());
    assert_eq!(mode(&file), 0o600);
    let text = fs::read_to_string(&file).expect("armor");
    assert!(text.starts_with("-----BEGIN PGP PRIVATE KEY BLOCK-----\n"), "{text}");
    let again = Home::new();
    Run::keyhoard(&again).arg("import").arg(&file).succeed();
    assert_eq!(protections(&again), ["none", "none"]);
    assert_eq!(key(&home, &["export", "nobody@example.org"]).code, Some(1));
}

#[test]
fn a_subkey_signs_without_the_primary_secret_key() {
    let (ann, home) = with_ann();
    let laptop = Home::new();
    let certificate_and = |home: &Home| {
        let exported = key(home, &["export", "--subkeys-only", "ann@example.org"]).stdout;
        Run::keyhoard(&laptop).arg("import").stdin(exported).succeed();
    };
    certificate_and(&home);
    let refused = Run::keyhoard(&laptop).arg("sign").stdin("text").output();
    assert_eq!(refused.code, Some(2), "a subkey that encrypts");
    let reason = format!("{}: there is no secret key here that can sign now", ann.fingerprint());
    assert!(refused.errors().contains(&reason), "{}", refused.errors());
    assert_eq!(key(&home, &["add-subkey", "ann@example.org", "--for", "sign"]).code, Some(0));
    certificate_and(&home);
    let signed = Run::keyhoard(&laptop).arg("sign").stdin("text").succeed().stdout;
    let verify = || Run::keyhoard(&home).arg("verify").stdin(signed.clone()).output().code;
    assert_eq!(verify(), Some(4), "an import makes no key one's own");
    trust_ann(&home);
    assert_eq!(verify(), Some(0));
}

#[test]
fn an_export_of_subkeys_excludes_the_primary_secret_key() {
    let (_ann, home) = with_ann();
    let exported = key(&home, &["export", "--subkeys-only", "ann@example.org"]).stdout;
    let laptop = Home::new();
    Run::keyhoard(&laptop).arg("import").stdin(exported.clone()).succeed();
    let roles: Vec<Value> = listed(&laptop).iter().map(|key| key["role"].clone()).collect();
    assert_eq!(roles, ["subkey"]);
    // Nor does the stub take anything away where the secret is.
    Run::keyhoard(&home).arg("import").stdin(exported).succeed();
    assert_eq!(protections(&home), ["none", "none"]);
}

#[test]
fn a_passphrase_is_set_changed_and_removed() {
    let (_ann, home) = with_ann();
    lock(&home, "one");
    assert_eq!(protections(&home), ["passphrase", "passphrase"]);
    let (one, two) = (home.write("one", "one\n"), home.write("two", "two\nmore\n"));
    let (one, two) = (one.to_string_lossy(), two.to_string_lossy());
    let change =
        |arguments: &[&str]| key(&home, &[&["passphrase"], arguments, &["ann@example.org"]].concat());
    assert_eq!(change(&["--passphrase-file", &one, "--new-passphrase-file", &two]).code, Some(0));
    let wrong = change(&["--passphrase-file", &one, "--remove"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.errors().contains("wrong passphrase"), "{}", wrong.errors());
    assert_eq!(protections(&home), ["passphrase", "passphrase"]);
    assert_eq!(change(&["--passphrase-file", &two, "--remove"]).code, Some(0));
    assert_eq!(protections(&home), ["none", "none"]);
}

#[test]
fn the_passphrase_program_of_an_option_is_asked() {
    let (_ann, home) = with_ann();
    lock(&home, "one");
    let program = home.write("ask", "#!/bin/sh\necho \"$1\" >>\"$HOME/asked\"\necho one\n");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).expect("a mode");
    let remove = ["key", "passphrase", "--remove", "ann@example.org"];
    let done = Run::keyhoard(&home).env("KEYHOARD_PASSPHRASE_PROGRAM", &program).args(remove).output();
    assert_eq!(done.code, Some(0), "{}", done.errors());
    let asked = fs::read_to_string(home.path().join("asked")).expect("questions");
    assert_eq!(asked.lines().count(), 1, "once for all keys: {asked}");
    assert!(asked.starts_with("Passphrase of the secret key ") && asked.contains(ANN), "{asked}");
    lock(&home, "one");
    let failing = home.write("fail", "#!/bin/sh\nexit 3\n");
    fs::set_permissions(&failing, fs::Permissions::from_mode(0o700)).expect("a mode");
    let failing = failing.to_string_lossy();
    let done = key(&home, &["passphrase", "--passphrase-program", &failing, "--remove", "ann@example.org"]);
    assert_eq!(done.code, Some(2));
    assert!(done.errors().contains("exit status: 3"), "{}", done.errors());
}

#[test]
fn the_passphrase_program_of_the_configuration_is_asked() {
    let (_ann, home) = with_ann();
    lock(&home, "one");
    let program = home.write("ask", "#!/bin/sh\necho one\n");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).expect("a mode");
    let directory = home.path().join(".config/keyhoard");
    fs::create_dir_all(&directory).expect("the home is writable");
    let configuration = directory.join("config.toml");
    fs::write(&configuration, format!("passphrase-program = {program:?}\n")).expect("the home is writable");
    // Both programs go by it.
    let add = ["--no-tty", "--quick-add-uid", "ann@example.org", "Ann"];
    let done = Run::gpg_keyhoard(&home).args(add).output();
    assert_eq!(done.code, Some(0), "{}", done.errors());
    let signed = Run::keyhoard(&home).arg("sign").stdin("text").succeed().stdout;
    let verify = || Run::keyhoard(&home).arg("verify").stdin(signed.clone()).output().code;
    assert_eq!(verify(), Some(4), "an import makes no key one's own");
    trust_ann(&home);
    assert_eq!(verify(), Some(0));
    let encrypt = ["encrypt", "--password", "--to", "ann@example.org", "--trust-model", "always"];
    let message = Run::keyhoard(&home).args(encrypt).stdin("text").succeed().stdout;
    // The message opens with Ann's key, and with the program's word as its password where she is not at home.
    assert_eq!(Run::keyhoard(&home).arg("decrypt").stdin(message.clone()).succeed().stdout, b"text");
    let elsewhere = Home::new();
    let decrypt = Run::keyhoard(&home).env("KEYHOARD_DB", elsewhere.database()).arg("decrypt");
    let done = decrypt.stdin(message).output();
    assert_eq!((done.code, &done.stdout[..]), (Some(0), &b"text"[..]), "{}", done.errors());
    assert_eq!(key(&home, &["passphrase", "--remove", "ann@example.org"]).code, Some(0));
    fs::write(&configuration, "passphrase-programme = 1\n").expect("the home is writable");
    let refused = key(&home, &["passphrase", "--remove", "ann@example.org"]);
    assert_eq!(refused.code, Some(2));
    let said = refused.errors();
    assert!(said.contains("config.toml") && said.contains("passphrase-programme"), "{said}");
}

#[test]
fn undo_of_an_import_names_the_secret_keys_that_stay() {
    let (ann, home) = with_ann();
    let undone = Run::keyhoard(&home).arg("undo").succeed();
    assert_eq!(undone.errors().matches(" stays, though no certificate").count(), 2, "{}", undone.errors());
    assert!(
        undone.errors().contains(&format!("the secret key {} stays", ann.fingerprint())),
        "{}",
        undone.errors()
    );
    assert!(!undone.errors().contains("delete"), "{}", undone.errors());
    assert_eq!(Run::keyhoard(&home).arg("doctor").output().code, Some(1));
    let again = Run::keyhoard(&home).args(["undo", "2"]).succeed();
    assert!(!again.errors().contains("stays"), "{}", again.errors());
    let undone = &Run::keyhoard(&home).args(["--json", "undo", "3"]).succeed().json_lines()[0];
    let left = undone["secret_keys_left"].as_array().expect("an array");
    assert!(left.len() == 2 && left.contains(&ann.fingerprint().into()), "{undone}");
    let again = &Run::keyhoard(&home).args(["--json", "undo", "4"]).succeed().json_lines()[0];
    assert_eq!(again["secret_keys_left"], serde_json::json!([]));
    Run::keyhoard(&home).arg("doctor").succeed();
}

#[test]
fn without_a_terminal_no_passphrase_is_asked_for_and_standard_input_is_not_read() {
    let (_ann, home) = with_ann();
    lock(&home, "one");
    // A session of its own has no terminal.
    let done = Command::new("setsid")
        .arg("--wait")
        .arg(Run::program_path("keyhoard"))
        .args(["key", "passphrase", "--remove", "ann@example.org"])
        .env("KEYHOARD_DB", home.database())
        .stdin(fs::File::open(home.path().join("passphrase")).expect("a file"))
        .output()
        .expect("setsid");
    let errors = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(2), "{errors}");
    assert!(errors.contains("a passphrase is needed, and none was given"), "{errors}");
    assert!(errors.contains("use --passphrase-file"), "{errors}");
}

const CHANGE: &str = "\"$KEYHOARD\" key passphrase ann@example.org";

#[test]
fn a_terminal_shows_no_passphrase_and_asks_twice_for_a_new_one() {
    let (_ann, home) = with_ann();
    let mut terminal = Terminal::new(&home, CHANGE);
    terminal.answer("(empty for none): ", b"first try\r");
    terminal.answer("Once more: ", b"other\r");
    terminal.answer("(empty for none): ", b"new wrd\x7f\x7f\x7fwords\r");
    terminal.answer("Once more: ", b"new words\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains("words") && !shown.contains("other"), "{shown}");
    assert!(shown.contains("They differ"), "{shown}");
    assert!(shown.contains(ANN), "{shown}");
    let new = home.write("new", "new words\n");
    let done = key(
        &home,
        &["passphrase", "--passphrase-file", &new.to_string_lossy(), "--remove", "ann@example.org"],
    );
    assert_eq!(done.code, Some(0), "{}", done.errors());
}

#[test]
fn a_wrong_passphrase_is_asked_for_three_times() {
    let (_ann, home) = with_ann();
    lock(&home, "right");
    let mut terminal = Terminal::new(&home, "\"$KEYHOARD\" key passphrase --remove ann@example.org");
    terminal.answer("Ann <ann@example.org>: ", b"wrong\r");
    terminal.answer("Ann <ann@example.org>: ", b"\x15worse\r");
    terminal.answer("Ann <ann@example.org>: ", b"worst\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(2), "{shown}");
    assert!(shown.contains("Wrong passphrase; try 3 of 3."), "{shown}");
    assert!(shown.contains("wrong passphrase, 3 times"), "{shown}");
    let mut terminal = Terminal::new(&home, "\"$KEYHOARD\" key passphrase --remove ann@example.org");
    terminal.answer("Ann <ann@example.org>: ", b"wrong\r");
    terminal.answer("Ann <ann@example.org>: ", b"right\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert_eq!(protections(&home), ["none", "none"], "the second key opened with what opened the first");
}

#[test]
fn ctrl_c_restores_the_terminal() {
    let (_ann, home) = with_ann();
    lock(&home, "right");
    let command = format!("trap : INT; {CHANGE}; echo \"ended: $?\"; stty -a");
    let mut terminal = Terminal::new(&home, &command);
    terminal.answer("Ann <ann@example.org>: ", b"secr\x03");
    let (_, shown) = terminal.end();
    assert!(shown.contains("ended: 130"), "{shown}");
    assert!(!shown.contains("secr\r"), "{shown}");
    for setting in [" echo ", " icanon ", "isig "] {
        assert!(shown.contains(setting), "no {setting:?} in {shown}");
    }
    assert_eq!(protections(&home), ["passphrase", "passphrase"]);
}

#[test]
fn a_deletion_removes_certificate_and_secret_keys_and_undo_restores_the_certificate() {
    let (_ann, home) = with_ann();
    let refused = key(&home, &["delete", "ann@example.org"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.errors().contains("use --yes"), "{}", refused.errors());
    assert_eq!(listed(&home).len(), 2);
    assert_eq!(key(&home, &["delete", "--yes", "ann@example.org"]).code, Some(0));
    assert_eq!(listed(&home).len(), 0);
    assert!(key_files(&home.path().join("secret-keys")).is_empty());
    Run::keyhoard(&home).arg("undo").succeed();
    let certificates = Run::keyhoard(&home).args(["list", "--json"]).succeed();
    assert_eq!(certificates.json_lines().len(), 1);
    assert_eq!(key(&home, &["delete", "--yes", "ann@example.org"]).code, Some(1), "there is no secret key");
}

#[test]
fn a_certificate_with_a_secret_key_is_not_deleted_without_a_warning() {
    let (_ann, home) = with_ann();
    let refused = Run::keyhoard(&home).args(["delete", "--yes", "ann@example.org"]).output();
    assert_eq!(refused.code, Some(2));
    assert!(refused.errors().contains("secret-keys/"), "{}", refused.errors());
    assert!(refused.errors().contains("--despite-secret-key"), "{}", refused.errors());
}

#[test]
fn the_doctor_names_secret_keys_without_certificate_and_does_not_advise_to_delete_them() {
    let (ann, home) = with_ann();
    let sound = Run::keyhoard(&home).arg("doctor").succeed();
    assert!(sound.text().is_empty(), "{}", sound.text());
    Run::keyhoard(&home).args(["delete", "--yes", "--despite-secret-key", "ann@example.org"]).succeed();
    let sick = Run::keyhoard(&home).arg("doctor").output();
    assert_eq!(sick.code, Some(1));
    assert_eq!(sick.text().lines().count(), 2, "{}", sick.text());
    assert!(
        sick.text().contains(&format!("the secret key {}; keep the file", ann.fingerprint())),
        "{}",
        sick.text()
    );
    assert!(!sick.text().contains("delete"), "{}", sick.text());
    assert!(key(&home, &["list"]).text().starts_with("(no certificate here)"));
    let orphans: Vec<String> =
        listed(&home).iter().map(|key| key["fingerprint"].as_str().expect("text").to_owned()).collect();
    let without = key(&home, &["delete", "--yes", &orphans[0]]);
    assert!(without.errors().contains("--secret-only"), "{}", without.errors());
    let done = key(&home, &["delete", "--yes", "--secret-only", &orphans[0], &orphans[1]]);
    assert_eq!(done.code, Some(0), "{}", done.errors());
    Run::keyhoard(&home).arg("doctor").succeed();
}

#[test]
fn a_directory_that_others_can_read_is_refused() {
    let (_ann, home) = with_ann();
    let directory = home.path().join("secret-keys");
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).expect("a mode");
    for arguments in [&["list"][..], &["export", "--all"], &["passphrase", "--remove", "ann@example.org"]] {
        let refused = key(&home, arguments);
        assert_eq!(refused.code, Some(2), "{arguments:?}");
        assert!(refused.errors().contains("run `chmod 700 "), "{}", refused.errors());
    }
    let sick = Run::keyhoard(&home).arg("doctor").output();
    assert!(sick.text().contains("chmod 700"), "{}", sick.text());
}

#[test]
fn a_damaged_secret_key_is_refused_its_certificate_imported_and_the_exit_code_is_not_0() {
    let (ann, home) = (OwnKey::new(ANN), Home::new());
    let mut damaged = secret_of(&ann);
    // The checksum at the end of the first packet; its header has two bytes.
    let end = 2 + usize::from(damaged[1]);
    damaged[end - 1] ^= 1;
    let done = Run::keyhoard(&home).arg("import").stdin(damaged.clone()).output();
    assert_eq!(done.code, Some(1));
    assert!(done.errors().contains("damaged, its checksum does not fit"), "{}", done.errors());
    assert_eq!(listed(&home).len(), 1, "the subkey is whole");
    let again = Run::keyhoard(&home).args(["import", "--json"]).stdin(damaged.clone()).output();
    assert_eq!((again.code, &again.json_lines()[1]["secret_refused"]), (Some(1), &Value::from(1)));
    Run::keyhoard(&home).args(["import", "--no-secret-keys"]).stdin(damaged).succeed();
}

#[test]
fn an_empty_file_is_no_new_passphrase_and_the_keys_stay_locked() {
    let (_ann, home) = with_ann();
    lock(&home, "one");
    let [one, empty] = ["one\n", ""].map(|text| home.write(&format!("{}.txt", text.len()), text));
    let change = ["passphrase", "ann@example.org", "--passphrase-file", &one.to_string_lossy()];
    let refused = key(&home, &[&change[..], &["--new-passphrase-file", &empty.to_string_lossy()]].concat());
    assert_eq!(refused.code, Some(2));
    assert!(refused.errors().contains("the new passphrase is empty"), "{}", refused.errors());
    assert_eq!(protections(&home), ["passphrase", "passphrase"]);
    let made =
        Run::keyhoard(&home).args(["generate", "b@example.org", "--passphrase-file"]).arg(&empty).output();
    assert_eq!((made.code, listed(&home).len()), (Some(2), 2), "{}", made.errors());
}

#[test]
fn a_program_that_holds_secrets_dumps_no_core() {
    let home = Home::new();
    let password = home.write("password", "open sesame\n").to_string_lossy().into_owned();
    let directory = home.path().to_string_lossy().into_owned();
    let gpg = ["--homedir", &directory, "--batch", "--passphrase-file", &password, "--symmetric"];
    let programs = [("keyhoard", &["encrypt", "--password-file", &password][..]), ("gpg-keyhoard", &gpg[..])];
    for (program, words) in programs {
        let mut child = Command::new("sh")
            .args(["-c", "ulimit -S -c $(ulimit -H -c); exec \"$0\" \"$@\""])
            .arg(Run::program_path(program))
            .args(words)
            .env("KEYHOARD_DB", home.database())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("a shell");
        let path = format!("/proc/{}/limits", child.id());
        let allowed = || {
            let limits = fs::read_to_string(&path).expect("the limits of a process that waits for its input");
            let line = limits.lines().find(|line| line.starts_with("Max core file size")).expect("a limit");
            line.split_whitespace().nth(4).expect("a soft limit").to_owned()
        };
        let began = Instant::now();
        while allowed() != "0" {
            assert!(began.elapsed() < Duration::from_secs(20), "{program} may dump core");
            sleep(Duration::from_millis(10));
        }
        drop(child.stdin.take());
        child.wait().expect("it ends with its input");
    }
}

#[test]
fn a_list_without_secret_keys_says_how_to_get_one() {
    let done = key(&Home::new(), &["list"]);
    assert_eq!((done.code, &done.stdout[..]), (Some(1), &b""[..]));
    assert!(done.errors().contains("`keyhoard generate` makes one"), "{}", done.errors());
}
