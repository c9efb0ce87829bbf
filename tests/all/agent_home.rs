//! A home of GnuPG with a real gpg-agent and a pinentry that answers from a file.

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
pub(crate) struct AgentHome {
    pub(crate) home: Home,
}

impl AgentHome {
    /// Makes a home without keys.
    pub(crate) fn empty() -> Self {
        let home = Home::new();
        let pinentry = home.write("pinentry", PINENTRY);
        fs::set_permissions(&pinentry, fs::Permissions::from_mode(0o700)).expect("it is the test's own");
        home.write("gpg-agent.conf", format!("pinentry-program {}\n", pinentry.display()));
        Self { home }
    }

    /// Makes a home with a key of each of these algorithms, which signs, and a subkey, which decrypts.
    pub(crate) fn with_keys(passphrase: &str, algorithms: &[(&str, &str)]) -> Self {
        Self::empty().and_keys(passphrase, algorithms)
    }

    pub(crate) fn and_keys(self, passphrase: &str, algorithms: &[(&str, &str)]) -> Self {
        let home = self;
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

    /// Makes a home with an RSA key whose secret numbers are on a card.
    pub(crate) fn on_card() -> Self {
        let home = AgentHome::empty();
        // Agents before 2.4 then write the older of the two formats.
        home.home.write("gpg-agent.conf", "disable-extended-key-format\n");
        let home = home.and_keys("", &[("rsa2048", "rsa2048")]);
        let directory = home.home.path().join("private-keys-v1.d");
        for entry in fs::read_dir(&directory).expect("keys").flatten() {
            let plain = fs::read(entry.path()).expect("a file of a key");
            fs::write(entry.path(), stub(&plain)).expect("it is the test's own");
        }
        home
    }

    pub(crate) fn gpg(&self, passphrase: &str, words: &[&str]) {
        let run = Run::gpg_with_agent(&self.home).at("20240101T000000!");
        run.args(["--pinentry-mode", "loopback", "--passphrase", passphrase]).args(words).succeed();
    }

    /// Returns the fingerprints of a certificate's keys, the primary key's first.
    pub(crate) fn fingerprints(&self, name: &str) -> Vec<String> {
        let listing = Run::gpg(&self.home).args(["--with-colons", "--list-keys", name]).succeed().text();
        let lines = listing.lines().filter(|line| line.starts_with("fpr:"));
        lines.filter_map(|line| line.split(':').nth(9).map(str::to_owned)).collect()
    }

    pub(crate) fn answer(&self, passphrase: &str) {
        self.home.write("answer", passphrase);
    }

    pub(crate) fn questions(&self) -> String {
        fs::read_to_string(self.home.path().join("questions")).unwrap_or_default()
    }

    pub(crate) fn signed(&self, options: &[&str], name: &str) -> harness::Output {
        let run = Run::gpg_keyhoard(&self.home).args(["--status-fd", "2"]).args(options);
        run.args(["--local-user", name, "--sign"]).stdin("text").output()
    }

    /// Signs with gpg-keyhoard and verifies with gpg, encrypts with gpg and decrypts with gpg-keyhoard.
    pub(crate) fn assert_signs_and_decrypts(&self, options: &[&str], name: &str) {
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

    /// Returns the keygrip of the first key that is listed.
    pub(crate) fn keygrip(&self) -> String {
        let listing = self.listed(Run::gpg_keyhoard(&self.home));
        let found = listing.lines().find(|line| line.starts_with("grp:"));
        found.and_then(|line| line.split(':').nth(9)).expect("a keygrip").to_owned()
    }

    /// Lists the secret keys with one of the programs.
    pub(crate) fn listed(&self, run: Run) -> String {
        run.args(["--with-colons", "--with-keygrip", "--list-secret-keys"]).succeed().text()
    }
}

impl Drop for AgentHome {
    fn drop(&mut self) {
        self.home.kill_agent();
    }
}

/// Counts the files of secret keys that the agent of a home has.
pub(crate) fn key_files(home: &Path) -> usize {
    fs::read_dir(home.join("private-keys-v1.d")).map_or(0, |entries| entries.flatten().count())
}

/// The secret keys of keyhoard, as places.
pub(crate) fn places(home: &AgentHome) -> Vec<String> {
    let listed = Run::keyhoard(&home.home).args(["--json", "key", "list"]).succeed().json_lines();
    let mut places: Vec<String> =
        listed.iter().filter_map(|line| line["place"].as_str().map(str::to_owned)).collect();
    places.sort();
    places
}

/// Returns the file of an unlocked RSA key as it is once the key is on a card, in the format that the agent chose.
fn stub(plain: &[u8]) -> Vec<u8> {
    const SERIAL: &[u8] = b"\xd2\x76\x00\x01\x24\x01\x02\x00\xff\xff\x00\x00\x00\x01\x00\x00";
    let at = |part: &[u8]| plain.windows(part.len()).position(|bytes| bytes == part);
    // The secret numbers give way to the card's.
    match (at(b"(3:rs"), at(b"(1:d"), at(b"(rsa"), at(b"(d")) {
        (Some(begin), Some(secret), ..) => {
            let card = b"(8:shadowed5:t1-v1(16:";
            let numbers = &plain[begin..secret];
            [b"(20:shadowed-private-key", numbers, card, SERIAL, b"9:OPENPGP.1))))"].concat()
        }
        (_, _, Some(begin), Some(secret)) => {
            let serial: String = SERIAL.iter().map(|byte| format!("{byte:02X}")).collect();
            let card = format!("(shadowed t1-v1 (#{serial}# OPENPGP.1))))\n");
            [b"Key: (shadowed-private-key ", &plain[begin..secret], card.as_bytes()].concat()
        }
        _ => panic!("no unlocked RSA key: {}", String::from_utf8_lossy(plain)),
    }
}
