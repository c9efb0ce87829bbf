//! Secret keys in a real gpg-agent, used by gpg-keyhoard and keyhoard where they are.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use harness::{Home, Run};

/// A pinentry that answers with the file `answer` beside it, cancels if there is none, and writes down what it is asked.
const PINENTRY: &str = r#"#!/bin/sh
directory=$(dirname "$0")
echo OK
while read -r command rest; do
    case "$command" in
        GETPIN)
            if [ -e "$directory/answer" ]; then
                echo "D $(cat "$directory/answer")"
                echo OK
            else
                echo "ERR 83886179 Operation cancelled <Pinentry>"
            fi ;;
        CONFIRM)
            if [ -e "$directory/answer" ]; then echo OK; else echo "ERR 83886179 Operation cancelled <Pinentry>"; fi ;;
        SETDESC) echo "$rest" >>"$directory/questions"; echo OK ;;
        BYE) echo OK; exit ;;
        *) echo OK ;;
    esac
done
"#;

/// A home of GnuPG with secret keys in its agent, whose certificates gpg-keyhoard has.
struct AgentHome {
    home: Home,
}

impl AgentHome {
    /// Makes a home without keys.
    fn empty() -> Self {
        let home = Home::new();
        let pinentry = home.write("pinentry", PINENTRY);
        fs::set_permissions(&pinentry, fs::Permissions::from_mode(0o700)).expect("it is the test's own");
        home.write("gpg-agent.conf", format!("pinentry-program {}\n", pinentry.display()));
        Self { home }
    }

    /// Makes a home with a key of each of these algorithms, which signs, and a subkey, which decrypts.
    fn with_keys(passphrase: &str, algorithms: &[(&str, &str)]) -> Self {
        let home = Self::empty();
        for (sign, encrypt) in algorithms {
            let name = format!("{sign} <{sign}@example.org>");
            home.gpg(passphrase, &["--quick-generate-key", &name, sign, "sign", "never"]);
            let key = home.fingerprints(&format!("{sign}@example.org"))[0].clone();
            home.gpg(passphrase, &["--quick-add-key", &key, encrypt, "encr", "never"]);
        }
        let certificates = Run::gpg(&home.home).arg("--export").succeed().stdout;
        Run::gpg_keyhoard(&home.home).arg("--import").stdin(certificates).succeed();
        // What the agent remembers is gone.
        home.home.kill_agent();
        home
    }

    fn gpg(&self, passphrase: &str, words: &[&str]) {
        let run = Run::gpg_with_agent(&self.home).at("20240101T000000!");
        run.args(["--pinentry-mode", "loopback", "--passphrase", passphrase]).args(words).succeed();
    }

    /// Returns the fingerprints of a certificate's keys, the primary key's first.
    fn fingerprints(&self, name: &str) -> Vec<String> {
        let listing = Run::gpg(&self.home).args(["--with-colons", "--list-keys", name]).succeed().text();
        let lines = listing.lines().filter(|line| line.starts_with("fpr:"));
        lines.filter_map(|line| line.split(':').nth(9).map(str::to_owned)).collect()
    }

    fn answer(&self, passphrase: &str) {
        self.home.write("answer", passphrase);
    }

    fn questions(&self) -> String {
        fs::read_to_string(self.home.path().join("questions")).unwrap_or_default()
    }

    fn signed(&self, options: &[&str], name: &str) -> harness::Output {
        let run = Run::gpg_keyhoard(&self.home).args(["--status-fd", "2"]).args(options);
        run.args(["--local-user", name, "--sign"]).stdin("text").output()
    }

    /// Signs with gpg-keyhoard and verifies with gpg, encrypts with gpg and decrypts with gpg-keyhoard.
    fn assert_signs_and_decrypts(&self, options: &[&str], name: &str) {
        let signed = self.signed(options, name);
        assert_eq!(signed.code, Some(0), "{name}: {}", signed.errors());
        Run::gpg(&self.home).arg("--verify").stdin(signed.stdout).succeed();
        let encrypt =
            Run::gpg(&self.home).args(["--trust-model", "always", "--recipient", name, "--encrypt"]);
        let encrypted = encrypt.stdin("secret text").succeed().stdout;
        let decrypted =
            Run::gpg_keyhoard(&self.home).args(options).arg("--decrypt").stdin(encrypted).succeed();
        assert_eq!(decrypted.text(), "secret text", "{name}");
    }

    /// Lists the secret keys with one of the programs.
    fn listed(&self, run: Run) -> String {
        run.args(["--with-colons", "--with-keygrip", "--list-secret-keys"]).succeed().text()
    }
}

impl Drop for AgentHome {
    fn drop(&mut self) {
        self.home.kill_agent();
    }
}

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

/// Counts the files of secret keys that the agent of a home has.
fn key_files(home: &Path) -> usize {
    fs::read_dir(home.join("private-keys-v1.d")).map_or(0, |entries| entries.flatten().count())
}

#[test]
fn a_key_on_a_card_is_listed_with_the_cards_number_and_is_asked_the_agent_for() {
    let home = AgentHome::with_keys("", &[("rsa2048", "rsa2048")]);
    let directory = home.home.path().join("private-keys-v1.d");
    for entry in fs::read_dir(&directory).expect("keys").flatten() {
        // The secret numbers give way to the card's.
        let plain = fs::read(entry.path()).expect("a file of a key");
        let public = plain.windows(4).position(|bytes| bytes == b"(1:d").expect("an unlocked RSA key");
        let begin = plain.windows(5).position(|bytes| bytes == b"(3:rs").expect("an RSA key");
        let serial = b"\xd2\x76\x00\x01\x24\x01\x02\x00\xff\xff\x00\x00\x00\x01\x00\x00";
        let shadowed = [
            b"(20:shadowed-private-key".as_slice(),
            &plain[begin..public],
            b"(8:shadowed5:t1-v1(16:",
            serial,
            b"9:OPENPGP.1))))",
        ];
        fs::write(entry.path(), shadowed.concat()).expect("it is the test's own");
    }
    let ours = home.listed(Run::gpg_keyhoard(&home.home));
    assert_eq!(secret_lines(&ours), secret_lines(&home.listed(Run::gpg_with_agent(&home.home))));
    assert!(ours.contains("D2760001240102"), "{ours}");
    let text = Run::gpg_keyhoard(&home.home).arg("-K").succeed().text();
    assert!(text.contains("sec>") && text.contains("ssb>"), "{text}");
    let refused = home.signed(&[], "rsa2048@example.org");
    assert_eq!(refused.code, Some(2), "there is no card: {}", refused.errors());
}

/// The secret keys of keyhoard, as places.
fn places(home: &AgentHome) -> Vec<String> {
    let listed = Run::keyhoard(&home.home).args(["--json", "key", "list"]).succeed().json_lines();
    let mut places: Vec<String> =
        listed.iter().filter_map(|line| line["place"].as_str().map(str::to_owned)).collect();
    places.sort();
    places
}

#[test]
fn a_key_moves_from_the_agent_into_files_and_back_and_works_at_both_places() {
    for (sign, encrypt) in
        [("rsa2048", "rsa2048"), ("ed25519", "cv25519"), ("nistp384", "nistp384"), ("dsa2048", "elg2048")]
    {
        let home = AgentHome::with_keys("abc", &[(sign, encrypt)]);
        let name = format!("{sign}@example.org");
        home.answer("abc");
        let passphrase = home.home.write("passphrase", "abc\n");
        let moved = |to: &str| {
            let run = Run::keyhoard(&home.home).args(["key", "move", "--to", to, "--passphrase-file"]);
            run.arg(&passphrase).arg(&name).succeed();
        };
        moved("file");
        assert_eq!(places(&home), ["file", "file"], "{sign}");
        assert_eq!(key_files(home.home.path()), 0, "{sign}");
        let options = ["--pinentry-mode", "loopback", "--passphrase", "abc"];
        home.assert_signs_and_decrypts(&options, &name);
        moved("agent");
        assert_eq!(places(&home), ["agent", "agent"], "{sign}");
        home.assert_signs_and_decrypts(&[], &name);
        Run::gpg_with_agent(&home.home).args(["--local-user", &name, "--sign"]).stdin("text").succeed();
    }
}

#[test]
fn a_key_without_passphrase_moves_both_ways() {
    let home = AgentHome::with_keys("", &[("ed25519", "cv25519"), ("rsa2048", "rsa2048")]);
    for name in ["ed25519@example.org", "rsa2048@example.org"] {
        Run::keyhoard(&home.home).args(["key", "move", "--to", "file", name]).succeed();
        home.assert_signs_and_decrypts(&["--no-autostart"], name);
        Run::keyhoard(&home.home).args(["key", "move", "--to", "agent", name]).succeed();
        home.assert_signs_and_decrypts(&[], name);
    }
    assert_eq!(places(&home), ["agent"; 4]);
    assert_eq!(home.questions(), "");
}

#[test]
fn a_key_that_ssh_uses_is_copied_and_stays_with_the_agent() {
    let home = AgentHome::with_keys("", &[("ed25519", "cv25519")]);
    let listing = home.listed(Run::gpg_keyhoard(&home.home));
    let keygrip =
        listing.lines().find(|line| line.starts_with("grp:")).and_then(|line| line.split(':').nth(9));
    home.home.write("sshcontrol", format!("{} 0\n", keygrip.expect("a keygrip")));
    let run = Run::keyhoard(&home.home).args(["key", "move", "--to", "file", "ed25519@example.org"]);
    let done = run.output();
    assert_eq!(done.code, Some(1), "{}", done.errors());
    assert!(done.errors().contains("ssh uses it"), "{}", done.errors());
    assert_eq!(places(&home), ["file", "file"], "the file's copy is used");
    assert_eq!(key_files(home.home.path()), 1, "the subkey was moved, the primary key copied");
}

#[test]
fn a_move_that_is_killed_at_any_time_leaves_a_key_that_works_and_can_be_completed() {
    let home = AgentHome::with_keys("", &[("ed25519", "cv25519")]);
    let name = "ed25519@example.org";
    for (to, other) in [("file", "agent"), ("agent", "file")] {
        for milliseconds in [1, 5, 10, 20, 40, 80] {
            let move_to = |to: &str| Run::keyhoard(&home.home).args(["key", "move", "--to", to, name]);
            let mut child = move_to(to).spawn();
            std::thread::sleep(std::time::Duration::from_millis(milliseconds));
            let _ = child.kill();
            let _ = child.wait();
            home.assert_signs_and_decrypts(&[], name);
            move_to(to).succeed();
            assert_eq!(places(&home), [to, to], "killed after {milliseconds} ms");
            move_to(other).succeed();
        }
        Run::keyhoard(&home.home).args(["key", "move", "--to", to, name]).succeed();
    }
}

#[test]
fn a_home_that_has_only_gnupgs_files_is_taken_over_at_first_use_if_the_configuration_says_so() {
    let home = AgentHome::empty();
    home.gpg("", &["--quick-generate-key", "Ann <ann@example.org>", "ed25519", "sign", "never"]);
    let sign = || {
        let run = Run::gpg_keyhoard(&home.home).args(["--local-user", "ann@example.org", "--sign"]);
        run.stdin("text").output()
    };
    assert_eq!(sign().code, Some(2), "nobody said so");
    fs::create_dir_all(home.home.path().join(".config/keyhoard")).expect("room");
    home.home.write(".config/keyhoard/config.toml", "import-home = \"yes\"\n");
    let signed = sign();
    assert_eq!(signed.code, Some(0), "{}", signed.errors());
    assert!(signed.errors().contains("1 keys of GnuPG"), "{}", signed.errors());
    Run::gpg(&home.home).arg("--verify").stdin(signed.stdout).succeed();
    let trust = Run::gpg_keyhoard(&home.home).arg("--export-ownertrust").succeed().text();
    assert!(trust.contains(":6:"), "the owner trust came along: {trust}");
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
