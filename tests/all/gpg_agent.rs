//! Secret keys in a real gpg-agent, used by gpg-keyhoard and keyhoard where they are.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use harness::{AgentProxy, CONNECTION, Gnupg, OwnKey, Run};

use crate::agent_home::{AgentHome, key_files, places};

/// Returns the lines of a colon listing that say which secret keys there are, with their field 15.
fn secret_lines(listing: &str) -> Vec<String> {
    let lines = listing.lines().filter(|line| line.starts_with("sec:") || line.starts_with("ssb:"));
    let fields = lines.map(|line| line.split(':').collect::<Vec<_>>());
    let mut found: Vec<String> =
        fields.map(|fields| format!("{} {} {}", fields[0], fields[4], fields[14])).collect();
    found.sort();
    found
}

#[test]
fn keys_of_every_algorithm_in_the_agent_sign_and_decrypt_without_an_export() {
    let algorithms = [
        ("rsa2048", "rsa2048"),
        ("dsa2048", "elg2048"),
        ("ed25519", "cv25519"),
        ("nistp256", "nistp256"),
        ("nistp384", "nistp384"),
        ("nistp521", "nistp521"),
        ("brainpoolP256r1", "brainpoolP256r1"),
        ("brainpoolP512r1", "brainpoolP512r1"),
    ];
    let home = AgentHome::with_keys("", &algorithms);
    for (name, _) in algorithms {
        home.assert_signs_and_decrypts(&[], &format!("{name}@example.org"));
    }
    let ours = home.listed(Run::gpg_keyhoard(&home.home));
    assert_eq!(secret_lines(&ours), secret_lines(&home.listed(Run::gpg_with_agent(&home.home))));
    assert_eq!(home.questions(), "");
}

#[test]
fn the_agent_asks_for_a_passphrase_once_in_gpgs_words_and_remembers_it() {
    let home = AgentHome::with_keys("abc", &[("ed25519", "cv25519"), ("rsa2048", "rsa2048")]);
    home.answer("abc");
    home.assert_signs_and_decrypts(&[], "ed25519@example.org");
    home.assert_signs_and_decrypts(&[], "rsa2048@example.org");
    let ours = home.questions();
    home.assert_signs_and_decrypts(&[], "ed25519@example.org");
    home.assert_signs_and_decrypts(&[], "rsa2048@example.org");
    assert_eq!(home.questions(), ours, "what was answered is not asked again");
    // The same with gpg.
    home.home.kill_agent();
    fs::remove_file(home.home.path().join("questions")).expect("there were questions");
    for name in ["ed25519@example.org", "rsa2048@example.org"] {
        Run::gpg_with_agent(&home.home).args(["--local-user", name, "--sign"]).stdin("text").succeed();
        let encrypt =
            Run::gpg(&home.home).args(["--trust-model", "always", "--recipient", name, "--encrypt"]);
        let encrypted = encrypt.stdin("secret text").succeed().stdout;
        Run::gpg_with_agent(&home.home).arg("--decrypt").stdin(encrypted).succeed();
    }
    assert_eq!(ours, home.questions());
}

#[test]
fn the_pinentry_modes_are_gpgs() {
    let home = AgentHome::with_keys("abc", &[("ed25519", "cv25519")]);
    let name = "ed25519@example.org";
    for (options, code) in [
        (&["--pinentry-mode", "cancel"][..], "99"),
        (&["--pinentry-mode", "error"], "85"),
        (&[], "99"),
        (&["--pinentry-mode", "loopback", "--passphrase", "wrong"], "11"),
    ] {
        let refused = home.signed(options, name);
        assert_eq!(refused.code, Some(2), "{options:?}: {}", refused.errors());
        let failure = refused.errors();
        let failure = failure.lines().find(|line| line.contains("FAILURE sign")).unwrap_or_default();
        let number: u32 =
            failure.rsplit(' ').next().and_then(|number| number.parse().ok()).expect("a number");
        assert_eq!((number & 0xffff).to_string(), code, "{options:?}: {}", refused.errors());
    }
    home.assert_signs_and_decrypts(&["--pinentry-mode", "loopback", "--passphrase", "abc"], name);
    assert_eq!(home.questions().matches("Please").count(), 1, "{}", home.questions());
}

#[test]
fn a_passphrase_that_is_missing_or_wrong_is_reported_with_gpgs_codes_by_every_command() {
    let home = AgentHome::with_keys("abc", &[("ed25519", "cv25519"), ("rsa2048", "rsa2048")]);
    let name = "ed25519@example.org";
    let text = home.home.write("text", "text").display().to_string();
    let encrypt = ["--trust-model", "always", "--recipient", name, "--output", "-"];
    let message = Run::gpg(&home.home).args(encrypt).args(["--encrypt", &text]).succeed().stdout;
    let message = home.home.write("message", message).display().to_string();
    let sign = ["--local-user", name, "--sign", &text];
    let sign_and_encrypt = ["--local-user", name, "--sign", "--encrypt", &text];
    for answer in ["\n\n", "wrong\nwrong\n"] {
        for words in [&sign[..], &sign_and_encrypt, &["--decrypt", &message], &["--export-secret-keys", name]]
        {
            let [gpg, ours] = [gpg_itself(&home), Run::gpg_keyhoard(&home.home)].map(|run| {
                let options = ["--no-batch", "--no-tty", "--status-fd", "2", "--command-fd", "0"];
                let run = run.args(options).args(["--pinentry-mode", "loopback"]).args(encrypt).args(words);
                let done = run.stdin(answer).output();
                let told = done.errors();
                let is_code = |line: &&str| {
                    line.contains(" ERROR ") || line.contains("FAILURE") || line.contains("passphrase")
                };
                let mut codes: Vec<String> = told.lines().filter(is_code).map(str::to_owned).collect();
                codes.retain(|line| !line.starts_with("gpg: key ") && !line.contains("GET_HIDDEN"));
                codes.dedup();
                (done.code, codes, told)
            });
            assert_eq!((ours.0, &ours.1), (gpg.0, &gpg.1), "{words:?}\n{}\n{}", ours.2, gpg.2);
            assert_eq!(gpg.0, Some(2), "{words:?}");
            assert!(!gpg.1.is_empty(), "{words:?}: {}", gpg.2);
        }
    }
}

#[test]
fn an_export_of_secret_keys_goes_on_after_a_wrong_passphrase_as_gpg_does() {
    let home =
        AgentHome::with_keys("abc", &[("ed25519", "cv25519")]).and_keys("other", &[("rsa2048", "rsa2048")]);
    let words =
        ["--status-fd", "2", "--pinentry-mode", "loopback", "--passphrase", "other", "--export-secret-keys"];
    let [gpg, ours] = [gpg_itself(&home), Run::gpg_keyhoard(&home.home)].map(|run| {
        let done = run.args(words).output();
        let told = done.errors();
        let is_told = |line: &&str| line.contains(" EXPORT") || line.contains("error receiving key");
        let mut lines: Vec<&str> = told.lines().filter(is_told).collect();
        // gpg tells of the subkey, too.
        lines.dedup_by_key(|line| line.contains("error receiving key"));
        (done.code, lines.join("\n"), done.stdout.is_empty())
    });
    assert_eq!(ours, gpg);
    assert!(gpg.1.contains("EXPORTED") && gpg.1.contains("Bad passphrase - skipped"), "{}", gpg.1);
}

#[test]
fn no_agent_is_started_where_that_is_forbidden_or_nothing_needs_one() {
    let home = AgentHome::with_keys("", &[("ed25519", "cv25519")]);
    let socket = home.home.path().join("S.gpg-agent");
    let refused = home.signed(&["--no-autostart"], "ed25519@example.org");
    assert_eq!(refused.code, Some(2));
    assert!(!socket.exists(), "no agent was started");
    let other = AgentHome::empty();
    other.listed(Run::gpg_keyhoard(&other.home));
    assert!(!other.home.path().join("S.gpg-agent").exists(), "there are no keys to ask an agent for");
}

#[test]
fn keys_in_files_are_used_beside_those_of_the_agent() {
    let home = AgentHome::with_keys("", &[("ed25519", "cv25519")]);
    let make = ["--passphrase", "", "--quick-generate-key", "File <file@example.org>"];
    Run::gpg_keyhoard(&home.home).args(make).succeed();
    let certificates = Run::gpg_keyhoard(&home.home).args(["--export", "file@example.org"]).succeed().stdout;
    Run::gpg(&home.home).arg("--import").stdin(certificates).succeed();
    home.assert_signs_and_decrypts(&[], "file@example.org");
    home.assert_signs_and_decrypts(&[], "ed25519@example.org");
    assert_eq!(secret_lines(&home.listed(Run::gpg_keyhoard(&home.home))).len(), 4);
    let listed = Run::keyhoard(&home.home).args(["--json", "key", "list"]).succeed().json_lines();
    let mut places: Vec<&str> = listed.iter().filter_map(|line| line["place"].as_str()).collect();
    places.sort_unstable();
    assert_eq!(places, ["agent", "agent", "file", "file"]);
}

#[test]
fn keyhoard_signs_and_decrypts_with_keys_of_the_agent() {
    let home = AgentHome::with_keys("abc", &[("ed25519", "cv25519")]);
    home.answer("abc");
    let signed = Run::keyhoard(&home.home).args(["sign"]).stdin("text").succeed().stdout;
    Run::gpg(&home.home).arg("--verify").stdin(signed).succeed();
    let encrypt = ["--trust-model", "always", "--recipient", "ed25519@example.org", "--encrypt"];
    let encrypted = Run::gpg(&home.home).args(encrypt).stdin("secret text").succeed().stdout;
    assert_eq!(Run::keyhoard(&home.home).arg("decrypt").stdin(encrypted).succeed().text(), "secret text");
    assert!(home.questions().contains("Please enter the passphrase to unlock the OpenPGP secret key:"));
}

#[test]
fn the_agent_asks_before_it_deletes_unless_the_user_said_yes() {
    let home = AgentHome::with_keys("", &[("ed25519", "cv25519")]);
    let fingerprint = home.fingerprints("ed25519@example.org")[0].clone();
    let delete = |options: &[&str]| {
        let run = Run::gpg_keyhoard(&home.home).args(options);
        run.args(["--delete-secret-keys", &fingerprint]).output()
    };
    assert_ne!(delete(&[]).code, Some(0), "the pinentry was cancelled");
    assert!(home.questions().contains("Do you really want to permanently delete the OpenPGP secret key:"));
    assert_eq!(secret_lines(&home.listed(Run::gpg_keyhoard(&home.home))).len(), 2);
    let done = delete(&["--yes"]);
    assert_eq!(done.code, Some(0), "{}", done.errors());
    assert_eq!(key_files(home.home.path()), 0);
}

#[test]
fn a_key_is_not_taken_for_deleted_if_the_agent_does_not_say_whether_it_has_it() {
    const REFUSAL: &str = "ERR 67108892 Not enough core <GPG Agent>";
    let home = AgentHome::with_keys("", &[("ed25519", "cv25519")]);
    let fingerprint = home.fingerprints("ed25519@example.org")[0].clone();
    let words = ["--batch", "--yes", "--delete-secret-and-public-key", fingerprint.as_str()];
    let silent = Run::gpg_keyhoard(&home.home).arg("--no-autostart").args(words).output();
    assert_eq!(silent.code, Some(2), "{}", silent.errors());
    home.listed(Run::gpg_with_agent(&home.home));
    let agent = AgentProxy::of(&home.home, |line| {
        let is_asked = line.starts_with("HAVEKEY ") && !line.contains("--list");
        is_asked.then_some(REFUSAL)
    });
    let refused = Run::gpg_keyhoard(&home.home).args(words).output();
    assert_eq!(refused.code, Some(2), "{}", refused.errors());
    assert!(refused.errors().contains("Not enough core"), "{}", refused.errors());
    assert!(agent.told().iter().any(|line| line.starts_with("HAVEKEY ")));
    assert_eq!(key_files(home.home.path()), 2);
    Run::gpg_keyhoard(&home.home).args(["--list-keys", &fingerprint]).succeed();
}

#[test]
fn a_key_on_a_card_is_listed_with_the_cards_number_and_is_asked_the_agent_for() {
    let home = AgentHome::on_card();
    let ours = home.listed(Run::gpg_keyhoard(&home.home));
    assert_eq!(secret_lines(&ours), secret_lines(&home.listed(Run::gpg_with_agent(&home.home))));
    assert!(ours.contains("D2760001240102"), "{ours}");
    let text = Run::gpg_keyhoard(&home.home).arg("-K").succeed().text();
    assert!(text.contains("sec>") && text.contains("ssb>"), "{text}");
    let refused = home.signed(&[], "rsa2048@example.org");
    assert_eq!(refused.code, Some(2), "there is no card: {}", refused.errors());
}

#[test]
fn a_home_that_has_only_gnupgs_files_is_taken_over_at_first_use_if_the_configuration_says_so() {
    let home = AgentHome::empty();
    home.gpg("", &["--quick-generate-key", "Ann <ann@example.org>", "ed25519", "sign", "never"]);
    let sign = || {
        let run = Run::gpg_keyhoard(&home.home).args(["--local-user", "ann@example.org", "--sign"]);
        run.stdin("text").output()
    };
    fs::create_dir_all(home.home.path().join(".config/keyhoard")).expect("room");
    let import_home = |value| {
        home.home.write(".config/keyhoard/config.toml", format!("import-home = \"{value}\"\n"));
    };
    import_home("no");
    assert_eq!(sign().code, Some(2), "the configuration says so");
    assert!(!home.home.database().exists());
    import_home("yes");
    let signed = sign();
    assert_eq!(signed.code, Some(0), "{}", signed.errors());
    assert!(signed.errors().contains("1 keys of GnuPG"), "{}", signed.errors());
    Run::gpg(&home.home).arg("--verify").stdin(signed.stdout).succeed();
    let trust = Run::gpg_keyhoard(&home.home).arg("--export-ownertrust").succeed().text();
    assert!(trust.contains(":6:"), "the owner trust came along: {trust}");
}

#[test]
fn a_home_that_has_only_gnupgs_files_is_used_as_it_is_until_something_is_written() {
    let home = AgentHome::empty();
    home.gpg("", &["--quick-generate-key", "Ann <ann@example.org>", "future-default", "default", "never"]);
    let ours = || Run::gpg_keyhoard(&home.home);
    let signed = ours().args(["--local-user", "ann@example.org", "--sign"]).stdin("text").succeed().stdout;
    assert_eq!(ours().arg("--decrypt").stdin(signed.clone()).succeed().text(), "text");
    Run::gpg(&home.home).arg("--verify").stdin(signed).succeed();
    let encrypt = ["--always-trust", "--recipient", "ann@example.org", "--encrypt"];
    let encrypted = ours().args(encrypt).stdin("secret").succeed().stdout;
    assert_eq!(ours().arg("--decrypt").stdin(encrypted).succeed().text(), "secret");
    let listed = ours().args(["--with-colons", "-K"]).succeed().text();
    assert_eq!(secret_lines(&listed), secret_lines(&home.listed(Run::gpg_with_agent(&home.home))));
    assert!(!home.home.database().exists(), "nothing was written");
}

#[test]
fn a_key_of_the_agent_signs_whose_certificate_is_in_a_keyring_file_alone() {
    let home = AgentHome::empty();
    home.gpg("", &["--quick-generate-key", "Ann <ann@example.org>", "ed25519", "default", "never"]);
    let ring = home.home.write("ring.gpg", Run::gpg(&home.home).arg("--export").succeed().stdout);
    fs::remove_file(home.home.path().join("pubring.kbx")).expect("gpg has made it");
    let run = Run::gpg_keyhoard(&home.home).args(["--no-default-keyring", "--keyring"]).arg(&ring);
    let signed = run.args(["--local-user", "ann@example.org", "--sign"]).stdin("text").succeed().stdout;
    Run::gpg(&home.home).arg("--keyring").arg(&ring).arg("--verify").stdin(signed).succeed();
}

#[test]
fn keys_that_cannot_be_taken_over_into_a_database_are_read_where_they_are() {
    let home = AgentHome::empty();
    fs::create_dir_all(home.home.path().join(".config/keyhoard")).expect("room");
    home.home.write(".config/keyhoard/config.toml", "import-home = \"yes\"\n");
    home.home.write("pubring.gpg", OwnKey::new("Ann <ann@example.org>").certificate());
    // No database can be made there, as in a home directory that cannot be written to.
    std::os::unix::fs::symlink("/nonexistent/keyhoard.db", home.home.database()).expect("a link");
    let listed = Run::gpg_keyhoard(&home.home).arg("-k").succeed();
    assert!(listed.text().contains("Ann <ann@example.org>"), "{}", listed.text());
    assert!(listed.errors().contains("are read where they are"), "{}", listed.errors());
}

#[test]
fn content_comes_before_the_messages_after_it_where_both_go_to_one_place() {
    let home = AgentHome::with_keys("", &[("ed25519", "cv25519")]);
    home.home.write("message", home.signed(&[], "ed25519@example.org").stdout);
    let words = "\"$1\" --homedir \"$2\" --batch --no-autostart --decrypt \"$2/message\" 2>&1";
    let [gpg, keyhoard] = [Gnupg::usual().program("gpg"), Run::program_path("gpg-keyhoard")].map(|program| {
        let done = Command::new("sh").args(["-c", words, "sh"]).arg(program).arg(home.home.path()).output();
        let told = String::from_utf8_lossy(&done.expect("a shell").stdout).into_owned();
        [told.find("text"), told.find("Good signature")].map(|at| at.unwrap_or_else(|| panic!("{told}")))
    });
    assert!(gpg[0] < gpg[1] && keyhoard[0] < keyhoard[1], "{gpg:?} {keyhoard:?}");
}

#[test]
fn keys_in_the_older_of_gnupgs_files_are_read_where_there_is_no_other() {
    let home = AgentHome::empty();
    home.home.write("pubring.gpg", OwnKey::new("Ann <ann@example.org>").certificate());
    let listed = Run::gpg_keyhoard(&home.home).args(["--with-colons", "-k"]).succeed().text();
    assert!(listed.contains("Ann <ann@example.org>"), "{listed}");
    Run::gpg(&home.home).arg("--import").stdin(OwnKey::new("Bob <bob@example.org>").certificate()).succeed();
    let listed = Run::gpg_keyhoard(&home.home).args(["--with-colons", "-k"]).succeed().text();
    let gpgs = Run::gpg(&home.home).args(["--with-colons", "-k"]).succeed().text();
    assert_eq!(listed.contains("bob@example.org"), gpgs.contains("bob@example.org"), "{gpgs}");
}

#[test]
fn secret_keys_of_the_agent_are_exported_with_the_passphrase_they_have() {
    let home = AgentHome::with_keys("abc", &[("ed25519", "cv25519")]);
    home.answer("abc");
    let exported = Run::gpg_keyhoard(&home.home).arg("--export-secret-keys").succeed().stdout;
    let other = AgentHome::empty();
    Run::gpg_with_agent(&other.home).arg("--import").stdin(exported).succeed();
    other.answer("abc");
    Run::gpg_with_agent(&other.home).arg("--sign").stdin("text").succeed();
}

#[test]
fn an_export_of_secret_keys_asks_once_for_the_passphrase_of_each_certificate_as_gpg_does() {
    let home = AgentHome::with_keys("abc", &[("ed25519", "cv25519"), ("rsa2048", "rsa2048")]);
    home.answer("abc");
    let [gpgs, ours] = [gpg_itself(&home), Run::gpg_keyhoard(&home.home)].map(|run| {
        run.arg("--export-secret-keys").succeed();
        let questions = home.questions();
        fs::remove_file(home.home.path().join("questions")).expect("there was a question");
        questions
    });
    assert_eq!(ours, gpgs);
    assert_eq!(ours.lines().count(), 2, "{ours}");
}

#[test]
fn in_loopback_mode_a_secret_key_of_the_agent_is_exported_with_the_passphrase_of_the_command() {
    let home = AgentHome::with_keys("abc", &[("ed25519", "cv25519")]);
    for (passphrase, code) in [("abc", Some(0)), ("wrong", Some(2))] {
        let words = ["--pinentry-mode", "loopback", "--passphrase", passphrase, "--export-secret-keys"];
        let [gpg, keyhoard] =
            [gpg_itself(&home), Run::gpg_keyhoard(&home.home)].map(|run| run.args(words).output());
        assert_eq!((gpg.code, keyhoard.code), (code, code), "{passphrase}: {}", keyhoard.errors());
        assert_eq!(gpg.stdout.is_empty(), keyhoard.stdout.is_empty(), "{passphrase}");
        if code == Some(0) {
            let other = AgentHome::empty();
            Run::gpg_with_agent(&other.home).arg("--import").stdin(keyhoard.stdout).succeed();
            let sign = ["--pinentry-mode", "loopback", "--passphrase", "abc", "--sign"];
            Run::gpg_with_agent(&other.home).args(sign).stdin("text").succeed();
        }
    }
    assert_eq!(home.questions(), "", "no pinentry is asked");
}

#[test]
fn in_loopback_mode_a_program_gives_the_passphrases_of_a_key_that_is_locked_anew_as_in_gpg() {
    type Program = fn(&AgentHome) -> Run;
    let ours: Program = |home| Run::gpg_keyhoard(&home.home);
    let told = |program: Program| {
        let home = AgentHome::with_keys("abc", &[("ed25519", "cv25519")]);
        let name = "ed25519@example.org";
        let words =
            ["--pinentry-mode", "loopback", "--command-fd", "0", "--status-fd", "2", "--passwd", name];
        let changed = program(&home).args(words).stdin("abc\nanother one\n").succeed().status_lines();
        home.home.kill_agent();
        home.assert_signs_and_decrypts(&["--pinentry-mode", "loopback", "--passphrase", "another one"], name);
        home.home.kill_agent();
        let old = home.signed(&["--pinentry-mode", "loopback", "--passphrase", "abc"], name);
        assert_eq!(old.code, Some(2), "{}", old.errors());
        changed.lines().filter(|line| !line.contains("KEY_CONSIDERED")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(told(ours), told(gpg_itself));
}

#[test]
fn an_agent_that_was_started_does_not_hold_the_pipes_of_the_caller_open() {
    let home = AgentHome::with_keys("", &[("ed25519", "cv25519")]);
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let mut child = Command::new("sh")
        .args(["-c", "exec \"$0\" --homedir \"$1\" --batch --status-fd 7 --sign 7>&1 1>&2"])
        .arg(Run::program_path("gpg-keyhoard"))
        .arg(home.home.path())
        .env("KEYHOARD_DB", home.home.database())
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell");
    assert!(child.wait().expect("it ends").success());
    let (told, end) = mpsc::channel();
    thread::spawn(move || {
        let mut lines = String::new();
        let _ = told.send(reader.read_to_string(&mut lines).map(|_| lines));
    });
    let lines = end.recv_timeout(Duration::from_secs(20)).expect("the end of the pipe").expect("text");
    assert!(lines.contains("SIG_CREATED"), "{lines}");
    assert!(home.home.path().join("S.gpg-agent").exists(), "the agent still runs");
}

/// Returns `gpg-keyhoard` as it is without `secret-keys = "files"`.
fn with_agent(home: &AgentHome) -> Run {
    Run::gpg_keyhoard(&home.home).with_agent()
}

/// Returns the real gpg.
fn gpg_itself(home: &AgentHome) -> Run {
    Run::gpg_with_agent(&home.home)
}

/// Gives gpg the certificates of gpg-keyhoard.
fn tell_gpg(home: &AgentHome) {
    let certificates = Run::gpg_keyhoard(&home.home).arg("--export").succeed().stdout;
    Run::gpg(&home.home).arg("--import").stdin(certificates).succeed();
}

#[test]
fn new_secret_keys_go_into_the_agent_where_one_is_installed() {
    let home = AgentHome::empty();
    let algorithms = ["rsa2048", "ed25519", "nistp256"];
    for algorithm in algorithms {
        let name = format!("{algorithm}@example.org");
        let usage = if algorithm == "ed25519" { "default" } else { "cert,sign" };
        let make = ["--pinentry-mode", "loopback", "--passphrase", "abc", "--quick-generate-key", &name];
        with_agent(&home).args(make).args([algorithm, usage]).succeed();
    }
    assert_eq!(places(&home), vec!["agent"; key_files(home.home.path())]);
    assert!(!home.home.path().join("secret-keys").exists());
    tell_gpg(&home);
    home.answer("abc");
    for algorithm in algorithms {
        let name = format!("{algorithm}@example.org");
        let sign = ["--local-user", &name, "--sign"];
        let signed = Run::gpg_with_agent(&home.home).args(sign).stdin("text").succeed().stdout;
        Run::gpg(&home.home).arg("--verify").stdin(signed).succeed();
        let signed = with_agent(&home).args(sign).stdin("text").succeed().stdout;
        Run::gpg(&home.home).arg("--verify").stdin(signed).succeed();
    }
    // The agent tries the last key's passphrase on keys that it has not locked itself yet.
    assert_eq!(home.questions().matches("Please").count(), 1, "{}", home.questions());
}

#[test]
fn a_new_key_is_locked_with_what_pinentry_answers_and_so_is_its_new_subkey() {
    let home = AgentHome::empty();
    home.answer("a long passphrase");
    with_agent(&home).args(["--quick-generate-key", "ann@example.org", "ed25519", "sign"]).succeed();
    assert!(
        home.questions().contains("Please enter the passphrase to%0Aprotect your new key"),
        "{}",
        home.questions()
    );
    let key = Run::gpg_keyhoard(&home.home).args(["--with-colons", "-k"]).succeed().text();
    let key = key.lines().find(|line| line.starts_with("fpr:")).and_then(|line| line.split(':').nth(9));
    let key = key.expect("a key").to_owned();
    with_agent(&home).args(["--quick-add-key", &key, "cv25519", "encr"]).succeed();
    assert_eq!(places(&home), ["agent", "agent"]);
    home.home.kill_agent();
    tell_gpg(&home);
    home.assert_signs_and_decrypts(&[], "ann@example.org");
    fs::remove_file(home.home.path().join("answer")).expect("it was there");
    home.home.kill_agent();
    assert_eq!(home.signed(&[], "ann@example.org").code, Some(2), "the key is locked");
    let encrypt = ["--trust-model", "always", "--recipient", "ann@example.org", "--encrypt"];
    let encrypted = Run::gpg(&home.home).args(encrypt).stdin("text").succeed().stdout;
    let decrypted = Run::gpg_keyhoard(&home.home).arg("--decrypt").stdin(encrypted).output();
    assert_eq!(decrypted.code, Some(2), "the subkey is locked: {}", decrypted.errors());
}

#[test]
fn imported_secret_keys_go_into_the_agent_and_those_that_it_cannot_hold_into_files() {
    let other = AgentHome::empty();
    let generate = || Run::keyhoard(&other.home).args(["--faked-system-time", "20250101T000000", "generate"]);
    generate().args(["--no-passphrase", "ann@example.org"]).succeed();
    generate().args(["--no-passphrase", "--profile", "post-quantum", "bob@example.org"]).succeed();
    let passphrase = other.home.write("passphrase", "abc\n");
    generate().args(["carol@example.org", "--passphrase-file"]).arg(&passphrase).succeed();
    let exported = Run::gpg_keyhoard(&other.home).arg("--export-secret-keys").succeed().stdout;
    let home = AgentHome::empty();
    let imported = with_agent(&home).args(["--status-fd", "2", "--import"]).stdin(exported.clone()).succeed();
    assert!(imported.status_lines().contains("IMPORT_RES 3 0 3 0 0 0 0 0 0 3 3 0"), "{}", imported.errors());
    assert_eq!(places(&home), ["agent", "agent", "agent", "agent", "file", "file"]);
    let again = with_agent(&home).args(["--status-fd", "2", "--import"]).stdin(exported).succeed();
    assert!(again.status_lines().contains(" 3 0 3 0 0"), "{}", again.errors());
    home.answer("abc");
    for name in ["ann@example.org", "bob@example.org", "carol@example.org"] {
        let signed = with_agent(&home).args(["--local-user", name, "--sign"]).stdin("text").succeed().stdout;
        Run::gpg_keyhoard(&home.home).arg("--verify").stdin(signed).succeed();
    }
    assert_eq!(home.questions().matches("Please").count(), 1, "{}", home.questions());
}

#[test]
fn the_configuration_puts_new_secret_keys_into_files() {
    let home = AgentHome::empty();
    fs::create_dir_all(home.home.path().join(".config/keyhoard")).expect("room");
    home.home.write(".config/keyhoard/config.toml", "secret-keys = \"files\"\n");
    let make = ["--passphrase", "", "--quick-generate-key", "ann@example.org"];
    with_agent(&home).args(make).succeed();
    assert_eq!(places(&home), ["file", "file"]);
    assert!(!home.home.path().join("S.gpg-agent").exists(), "no agent was started");
}

#[test]
fn the_agents_pinentry_asks_for_passphrases_of_keys_in_files_each_time_anew() {
    let home = AgentHome::empty();
    let make = ["--passphrase", "abc", "--quick-generate-key", "Ann <ann@example.org>", "ed25519", "sign"];
    Run::gpg_keyhoard(&home.home).args(make).succeed();
    home.answer("abc");
    for questions in [1, 2] {
        with_agent(&home).arg("--sign").stdin("text").succeed();
        assert_eq!(home.questions().matches("Please").count(), questions, "{}", home.questions());
    }
    let words = "Please enter the passphrase to unlock the OpenPGP secret key:%0A%22Ann <ann@example.org>%22%0A255-bit EDDSA key";
    assert!(home.questions().contains(words), "{}", home.questions());
    home.answer("wrong");
    let refused = with_agent(&home).args(["--status-fd", "2", "--sign"]).stdin("text").output();
    assert_eq!(refused.code, Some(2));
    assert!(refused.status_lines().contains("FAILURE sign 67108875"), "{}", refused.errors());
    assert_eq!(home.questions().matches("Please").count(), 5, "three tries: {}", home.questions());
    fs::remove_file(home.home.path().join("answer")).expect("it was there");
    let cancelled = with_agent(&home).args(["--status-fd", "2", "--sign"]).stdin("text").output();
    assert!(cancelled.errors().contains("Operation cancelled"), "{}", cancelled.errors());
}

#[test]
fn passphrases_of_messages_are_asked_for_and_remembered_as_by_gpg() {
    type Program = fn(&AgentHome) -> Run;
    let asked = |encrypt: Program, decrypt: Program| {
        let home = AgentHome::empty();
        home.answer("a long passphrase");
        let symmetric = ["--s2k-count", "65536", "--symmetric"];
        let message = encrypt(&home).args(symmetric).stdin("text").succeed().stdout;
        let decrypted =
            |options: &[&str], run: Run| run.args(options).arg("--decrypt").stdin(message.clone()).output();
        assert_eq!(decrypted(&[], decrypt(&home)).text(), "text");
        let remembered = home.questions();
        assert_eq!(decrypted(&["--no-symkey-cache"], decrypt(&home)).text(), "text");
        let unremembered = home.questions();
        home.home.kill_agent();
        home.answer("wrong");
        assert_eq!(decrypted(&[], decrypt(&home)).code, Some(2));
        home.answer("a long passphrase");
        assert_eq!(decrypted(&[], decrypt(&home)).text(), "text", "what is wrong is not remembered");
        assert_ne!(remembered, unremembered);
        home.questions()
    };
    let expected = asked(gpg_itself, gpg_itself);
    let pairs: [(Program, Program); 3] =
        [(with_agent, with_agent), (with_agent, gpg_itself), (gpg_itself, with_agent)];
    for (encrypt, decrypt) in pairs {
        assert_eq!(asked(encrypt, decrypt), expected);
    }
}

#[test]
fn an_agent_that_does_not_work_leaves_the_keys_in_files() {
    let home = AgentHome::with_keys("", &[("ed25519", "cv25519")]);
    let make = ["--passphrase", "", "--quick-generate-key", "File <file@example.org>"];
    Run::gpg_keyhoard(&home.home).args(make).succeed();
    home.home.kill_agent();
    let crashing = home.home.write("crashing", "#!/bin/sh\nexit 1\n");
    fs::set_permissions(&crashing, fs::Permissions::from_mode(0o700)).expect("it is the test's own");
    let run = || Run::gpg_keyhoard(&home.home).arg("--agent-program").arg(&crashing);
    let listed = run().args(["--with-colons", "--list-secret-keys"]).succeed();
    assert_eq!(secret_lines(&listed.text()).len(), 2);
    assert!(listed.errors().contains("without gpg-agent's secret keys"), "{}", listed.errors());
    let signed = run().args(["--local-user", "file@example.org", "--sign"]).stdin("text").succeed().stdout;
    Run::gpg_keyhoard(&home.home).arg("--verify").stdin(signed).succeed();
    let made = run().with_agent().args(["--passphrase", "", "--quick-generate-key", "new@example.org"]);
    let made = made.succeed();
    assert!(made.errors().contains("without gpg-agent's secret keys"), "{}", made.errors());
    // One that breaks off in the middle.
    let socket = home.home.path().join("S.gpg-agent");
    let listener = UnixListener::bind(&socket).expect("no agent runs");
    thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let _ = client.write_all(b"OK hello\n");
        }
    });
    let listed = Run::keyhoard(&home.home).args(["--json", "list", "--secret"]).output();
    assert_eq!(listed.code, Some(0), "{}", listed.errors());
    assert!(listed.errors().contains("without gpg-agent's secret keys"), "{}", listed.errors());
    let listed = Run::gpg_keyhoard(&home.home).args(["--with-colons", "--list-secret-keys"]).succeed();
    assert_eq!(secret_lines(&listed.text()).len(), 4, "{}", listed.errors());
}

#[test]
fn what_follows_a_bar_in_the_agents_program_is_its_argument_as_in_gpg() {
    let home = AgentHome::with_keys("", &[("ed25519", "cv25519")]);
    let script = "#!/bin/sh\necho \"$@\" >\"$(dirname \"$0\")/arguments\"\nexit 1\n";
    let recording = home.home.write("recording", script);
    fs::set_permissions(&recording, fs::Permissions::from_mode(0o700)).expect("it is the test's own");
    let program = format!("{}|--debug-quick-random", recording.display());
    let [ours, gpgs] = [Run::gpg_keyhoard(&home.home), Run::gpg_with_agent(&home.home)].map(|run| {
        run.args(["--agent-program", &program, "--list-secret-keys"]).output();
        let arguments = home.home.path().join("arguments");
        let recorded = fs::read_to_string(&arguments).expect("the agent was started");
        fs::remove_file(arguments).expect("it is the test's own");
        recorded
    });
    assert_eq!(ours, gpgs);
    assert!(ours.contains("--debug-quick-random"), "{ours}");
}

#[test]
fn a_key_of_ssh_becomes_a_subkey_by_its_keygrip() {
    for algorithm in ["ed25519", "nistp256", "rsa2048", "dsa2048"] {
        let home = AgentHome::with_keys("", &[("ed25519", "cv25519")]);
        // In the agent is a key that no certificate has, and that it offers to ssh.
        let other = AgentHome::empty();
        other.gpg("", &["--quick-generate-key", "ssh@example.org", algorithm, "sign", "never"]);
        other.home.kill_agent();
        let directory = other.home.path().join("private-keys-v1.d");
        let file = fs::read_dir(&directory).expect("keys").next().expect("a key").expect("an entry").path();
        let name = file.file_name().expect("a name");
        fs::copy(&file, home.home.path().join("private-keys-v1.d").join(name)).expect("copied");
        let keygrip = file.file_stem().expect("a keygrip").to_string_lossy().into_owned();
        home.home.write("sshcontrol", format!("{keygrip} 0\n"));
        let words =
            ["--faked-system-time", "20270101T000000!", "--pinentry-mode", "loopback", "--passphrase", ""];
        let edit = ["--status-fd", "2", "--command-fd", "0", "--expert", "--edit-key", "ed25519@example.org"];
        let added = |run: Run, end: &str| {
            let answers = format!("addkey\n13\n{keygrip}\nq\n0\n{end}");
            let told = run.args(words).args(edit).stdin(answers).succeed().errors();
            let line = told.lines().find(|line| line.contains("KEY_CREATED S ")).map(str::to_owned);
            let created = line.unwrap_or_else(|| panic!("{algorithm}: {told}"));
            created.rsplit(' ').next().expect("a fingerprint").to_owned()
        };
        let gpg = added(Run::gpg_with_agent(&home.home), "quit\nn\ny\n");
        let ours = added(Run::gpg_keyhoard(&home.home), "save\n");
        assert_eq!(gpg, ours, "{algorithm}");
        let at = ["--faked-system-time", "20270102T000000!"];
        let listed = home.listed(Run::gpg_keyhoard(&home.home).args(at));
        assert!(listed.contains(&format!("grp:::::::::{keygrip}:")), "{listed}");
        if algorithm != "nistp256" {
            let user = format!("{ours}!");
            let signed = Run::gpg_keyhoard(&home.home).args(at).args(["--local-user", &user, "--sign"]);
            let signed = signed.stdin("text").succeed().stdout;
            let certificates = Run::gpg_keyhoard(&home.home).arg("--export").succeed().stdout;
            Run::gpg(&home.home).args(at).arg("--import").stdin(certificates).succeed();
            Run::gpg(&home.home).args(at).arg("--verify").stdin(signed).succeed();
        }
    }
}

#[test]
fn without_a_name_the_first_key_that_can_sign_is_the_one_that_gpg_takes() {
    let home =
        AgentHome::with_keys("", &[("nistp256", "nistp256"), ("ed25519", "cv25519"), ("rsa2048", "rsa2048")]);
    let signer = |run: Run| {
        let at = ["--faked-system-time", "20240201T000000!", "--status-fd", "2"];
        let told = run.args(at).arg("--sign").stdin("text").succeed().errors();
        let line = told.lines().find(|line| line.contains("] SIG_CREATED ")).map(str::to_owned);
        line.and_then(|line| Some(line.rsplit(' ').next()?.to_owned())).expect("a signature")
    };
    let mut signers = Vec::new();
    for name in ["nistp256", "ed25519", "rsa2048"] {
        let [gpg, ours] = [Run::gpg_with_agent(&home.home), Run::gpg_keyhoard(&home.home)].map(signer);
        assert_eq!(gpg, ours);
        signers.push(ours);
        let key = home.fingerprints(&format!("{name}@example.org"))[0].clone();
        if name == "nistp256" {
            // Its secret part goes, the others' certificates end.
            home.gpg("", &["--yes", "--delete-secret-keys", &key]);
        } else if name == "ed25519" {
            home.gpg("", &["--faked-system-time", "20240102T000000!", "--quick-set-expire", &key, "1d"]);
        }
        let certificates = Run::gpg(&home.home).arg("--export").succeed().stdout;
        Run::gpg_keyhoard(&home.home).arg("--import").stdin(certificates).succeed();
    }
    signers.dedup();
    assert_eq!(signers.len(), 3, "{signers:?}");
}

#[test]
fn signing_and_listing_ask_a_running_agent_over_one_connection_and_no_more_often_than_gpg() {
    let home = AgentHome::with_keys("", &[("ed25519", "cv25519"), ("rsa2048", "rsa2048")]);
    home.listed(Run::gpg_with_agent(&home.home));
    let agent = AgentProxy::of(&home.home, |_| None);
    // What a program asks; options are sent at once, and ask nothing.
    let asked = |run: Run, words: &[&str]| -> Vec<String> {
        run.args(words).stdin("text").succeed();
        let (connections, lines): (Vec<String>, Vec<String>) =
            agent.told().into_iter().partition(|line| line == CONNECTION);
        assert_eq!(connections.len(), 1, "{lines:?}");
        lines.into_iter().filter(|line| !line.starts_with("OPTION ")).collect()
    };
    for words in [&["--local-user", "ed25519@example.org", "--sign"][..], &["--list-secret-keys"]] {
        let gpg = asked(Run::gpg_with_agent(&home.home), words);
        let ours = asked(Run::gpg_keyhoard(&home.home), words);
        assert!(!ours.is_empty() && ours.len() <= gpg.len(), "{words:?}: gpg {gpg:?}, ours {ours:?}");
    }
    // Nothing of other keys is asked for where a key is named.
    let home = &home.home;
    let keygrips = |name: &str| -> Vec<String> {
        let listed =
            Run::gpg(home).args(["--with-colons", "--with-keygrip", "--list-keys", name]).succeed().text();
        let lines = listed.lines().filter_map(|line| line.strip_prefix("grp:"));
        lines.map(|line| line.trim_matches(':').to_owned()).collect()
    };
    let other = keygrips("rsa2048@example.org");
    let name = "ed25519@example.org";
    for (run, words) in [
        (Run::gpg_keyhoard(home), ["--local-user", name, "--sign"]),
        (Run::gpg_keyhoard(home), ["--default-key", name, "--sign"]),
        (Run::keyhoard(home), ["sign", "--by", name]),
    ] {
        let lines = asked(run, &words);
        assert!(!lines.iter().any(|line| line.contains("--list")), "{lines:?}");
        assert!(!lines.iter().any(|line| other.iter().any(|grip| line.contains(grip.as_str()))), "{lines:?}");
    }
    // However many keys there are; an agent of 2.2 refuses the first.
    let listing = asked(Run::gpg_keyhoard(home), &["--list-secret-keys"]);
    assert!(listing.len() <= 2, "{listing:?}");
}

#[test]
fn a_key_of_ssh_becomes_a_certificate_by_its_keygrip() {
    for (algorithm, is_made_by_gpg) in [("ed25519", true), ("rsa2048", true), ("nistp256", false)] {
        let keys = AgentHome::empty();
        keys.gpg("", &["--quick-generate-key", "ssh@example.org", algorithm, "sign", "never"]);
        keys.home.kill_agent();
        let directory = keys.home.path().join("private-keys-v1.d");
        let file = fs::read_dir(&directory).expect("keys").next().expect("a key").expect("an entry").path();
        let keygrip = file.file_stem().expect("a keygrip").to_string_lossy().into_owned();
        let home = || {
            let home = AgentHome::with_keys("", &[("ed25519", "cv25519")]);
            let directory = home.home.path().join("private-keys-v1.d");
            fs::copy(&file, directory.join(file.file_name().expect("a name"))).expect("copied");
            home.home.write("sshcontrol", format!("{keygrip} 0\n"));
            home
        };
        let made = |run: Run| {
            let options = [
                "--faked-system-time",
                "20270101T000000!",
                "--pinentry-mode",
                "loopback",
                "--passphrase",
                "",
            ];
            let words =
                ["--no-tty", "--status-fd", "2", "--command-fd", "0", "--expert", "--full-generate-key"];
            let answers = format!("13\n{0}\n{keygrip}\n=s\n0\nHeinrich\n\n\n", "0".repeat(40));
            let told = run.args(options).arg("--no-batch").args(words).stdin(answers).output().errors();
            let line = told.lines().find(|line| line.contains("KEY_CREATED P ")).map(str::to_owned);
            line.unwrap_or_else(|| panic!("{algorithm}: {told}"))
        };
        let (of_gpg, ours) = (home(), home());
        let created = made(Run::gpg_keyhoard(&ours.home));
        if is_made_by_gpg {
            assert_eq!(created, made(Run::gpg_with_agent(&of_gpg.home)), "{algorithm}");
        }
        let at = ["--faked-system-time", "20270102T000000!"];
        let signed = Run::gpg_keyhoard(&ours.home).args(at).args(["--local-user", "Heinrich", "--sign"]);
        let signed = signed.stdin("text").succeed().stdout;
        let certificates = Run::gpg_keyhoard(&ours.home).arg("--export").succeed().stdout;
        Run::gpg(&of_gpg.home).args(at).arg("--import").stdin(certificates).succeed();
        Run::gpg(&of_gpg.home).args(at).arg("--verify").stdin(signed).succeed();
        assert!(fs::read_dir(ours.home.path().join("secret-keys")).is_err(), "the key stays in the agent");
    }
}
