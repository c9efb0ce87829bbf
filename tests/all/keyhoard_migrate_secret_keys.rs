//! `keyhoard migrate --secret-keys copy` and `keyhoard export --to-gnupg`: secret keys come from every GnuPG, and go back.

use std::fs;
use std::path::{Path, PathBuf};

use harness::{Gnupg, Home, Output, Run};
use serde_json::Value;

const PASSPHRASE: &str = "a passphrase, and \u{e4}";

/// The keys: two locked ones, and one that any passphrase opens.
const KEYS: [&str; 3] = ["rsa@example.org", "curve@example.org", "open@example.org"];

/// A home directory with keys made by a GnuPG. Its agent is stopped.
struct Source {
    gnupg: Gnupg,
    home: Home,
}

impl Source {
    fn new(gnupg: Gnupg) -> Source {
        let source = Source { gnupg, home: Home::new() };
        if gnupg == Gnupg::V2_2 {
            source.home.write("gpg-agent.conf", "disable-extended-key-format\n");
        }
        source.key("rsa@example.org", PASSPHRASE, ["rsa2048", "rsa2048"]);
        source.key("curve@example.org", PASSPHRASE, ["ed25519", "cv25519"]);
        source.key("open@example.org", "", ["ed25519", "cv25519"]);
        source.home.kill_agent();
        source
    }

    fn key(&self, address: &str, passphrase: &str, [sign, encrypt]: [&str; 2]) {
        let gpg = |words: &[&str]| self.gpg(passphrase).at("20240101T000000!").args(words).succeed();
        gpg(&["--quick-generate-key", address, sign, "sign", "never"]);
        let listed = gpg(&["--with-colons", "--list-keys", address]).text();
        let key = listed.lines().find(|line| line.starts_with("fpr:")).expect("a fingerprint");
        gpg(&["--quick-add-key", key.split(':').nth(9).expect("ten fields"), encrypt, "encr", "never"]);
    }

    fn gpg(&self, passphrase: &str) -> Run {
        gpg(self.gnupg, &self.home, passphrase)
    }

    /// Returns a copy whose agent has the keys as they were imported, in OpenPGP's form, all of them locked.
    fn imported(&self) -> Source {
        let secret = self.gpg(PASSPHRASE).arg("--export-secret-keys").succeed().stdout;
        self.home.kill_agent();
        let copy = Source { gnupg: self.gnupg, home: Home::new() };
        Run::gpg_of_with_agent(self.gnupg, &copy.home).arg("--import").stdin(secret).succeed();
        copy.home.kill_agent();
        copy
    }

    /// Returns how many files of keys contain these bytes.
    fn files_with(&self, bytes: &str) -> usize {
        let entries = fs::read_dir(self.keys()).expect("keys").flatten();
        let texts = entries.map(|entry| fs::read(entry.path()).expect("a file of a key"));
        texts.filter(|text| text.windows(bytes.len()).any(|window| window == bytes.as_bytes())).count()
    }

    fn keys(&self) -> PathBuf {
        self.home.path().join("private-keys-v1.d")
    }
}

fn gpg(gnupg: Gnupg, home: &Home, passphrase: &str) -> Run {
    let loopback = ["--pinentry-mode", "loopback", "--passphrase", passphrase];
    Run::gpg_of_with_agent(gnupg, home).args(loopback)
}

/// Migrates everything, and returns the document.
fn copied(home: &Home, source: &Path) -> Value {
    copying(home, source, PASSPHRASE).succeed().json_lines().remove(0)
}

fn copying(home: &Home, source: &Path, passphrase: &str) -> Run {
    let file = home.write("passphrase", passphrase);
    let run = Run::keyhoard(home).args(["--json", "migrate", "--secret-keys", "copy", "--passphrase-file"]);
    run.arg(file).arg(source)
}

/// Returns what became of the parts of a kind, in words.
fn outcomes(document: &Value, what: &str) -> Vec<String> {
    let details = document["details"].as_array().expect("a list").iter();
    let of_kind = details.filter(|detail| detail["what"] == what);
    of_kind.map(|detail| detail["outcome"].as_str().expect("a word").to_owned()).collect()
}

/// Asserts that each key signs what gpg verifies, and decrypts what gpg encrypts.
fn assert_keys_work(ours: impl Fn(&str) -> Run, certificates: &[u8]) {
    let gpg = Home::new();
    Run::gpg(&gpg).arg("--import").stdin(certificates).succeed();
    for address in KEYS {
        let run = || ours(PASSPHRASE);
        let signed = run().args(["--local-user", address, "--sign"]).stdin("text").succeed().stdout;
        let verified: Output = Run::gpg(&gpg).arg("--decrypt").stdin(signed).succeed();
        assert_eq!(verified.text(), "text", "{address}");
        let encrypt = ["--trust-model", "always", "--recipient", address, "--encrypt"];
        let encrypted = Run::gpg(&gpg).args(encrypt).stdin("text").succeed().stdout;
        assert_eq!(run().arg("--decrypt").stdin(encrypted).succeed().text(), "text", "{address}");
    }
}

fn keyhoard_signs(home: &Home) -> impl Fn(&str) -> Run {
    |passphrase| {
        let loopback = ["--pinentry-mode", "loopback", "--passphrase", passphrase];
        Run::gpg_keyhoard(home).args(loopback)
    }
}

fn assert_copies_work_without_gnupg(source: Source, form: &str, files: usize) {
    assert_eq!(source.files_with(form), files, "{form}");
    let certificates = Run::gpg_of(source.gnupg, &source.home).arg("--export").succeed().stdout;
    let home = Home::new();
    let document = copied(&home, source.home.path());
    assert_eq!(outcomes(&document, "secret key"), ["taken"; 6], "{document}");
    assert_eq!(document["secret_keys_left"], Value::Array(Vec::new()));
    let again = copied(&home, source.home.path());
    assert_eq!(outcomes(&again, "secret key"), ["here"; 6], "{again}");

    drop(source);
    assert_keys_work(keyhoard_signs(&home), &certificates);
    let sign = ["--local-user", "rsa@example.org", "--sign"];
    let wrong = keyhoard_signs(&home)("wrong").args(sign).stdin("text").output();
    assert_eq!(wrong.code, Some(2), "it stays locked with its passphrase: {}", wrong.errors());
}

#[test]
fn keys_of_gpg_2_2_in_its_old_files_are_copied() {
    assert_copies_work_without_gnupg(Source::new(Gnupg::V2_2), "openpgp-s2k3-sha1-aes-cbc", 4);
}

#[test]
fn keys_of_gpg_2_4_are_copied() {
    assert_copies_work_without_gnupg(Source::new(Gnupg::V2_4), "openpgp-s2k3-ocb-aes", 4);
}

#[test]
fn keys_that_gpg_has_only_imported_are_copied() {
    for gnupg in Gnupg::ALL {
        assert_copies_work_without_gnupg(Source::new(gnupg).imported(), "openpgp-native", 6);
    }
}

#[test]
fn a_key_whose_passphrase_is_not_given_is_reported_and_the_others_are_copied() {
    let (source, home) = (Source::new(Gnupg::V2_4), Home::new());
    let done = copying(&home, source.home.path(), "wrong").output();
    assert_eq!(done.code, Some(1), "{}", done.errors());
    let document = &done.json_lines()[0];
    let mut told = outcomes(document, "secret key");
    told.sort();
    assert_eq!(told, ["failed", "failed", "failed", "failed", "taken", "taken"]);
    assert!(document.to_string().contains("wrong passphrase"), "{document}");
    assert_eq!(outcomes(&copied(&home, source.home.path()), "secret key").len(), 6);
}

#[test]
fn a_dry_run_says_which_keys_would_be_copied_and_copies_none() {
    let (source, home) = (Source::new(Gnupg::V2_4), Home::new());
    let migrate = |words: &[&str]| {
        let run = Run::keyhoard(&home).args(["--json", "migrate"]).args(words);
        run.arg(source.home.path()).succeed().json_lines().remove(0)
    };
    assert_eq!(outcomes(&migrate(&[]), "secret key"), ["left"; 6]);
    assert_eq!(outcomes(&migrate(&["--secret-keys", "copy", "--dry-run"]), "secret key"), ["taken"; 6]);
    assert!(!home.path().join("secret-keys").exists());
}

#[test]
fn keys_in_the_home_directory_of_the_database_are_used_in_place() {
    for gnupg in Gnupg::ALL {
        let source = Source::new(gnupg);
        let run = Run::keyhoard(&source.home).args(["--json", "migrate"]).arg(source.home.path());
        let document = run.succeed().json_lines().remove(0);
        assert_eq!(outcomes(&document, "secret key"), ["in place"; 6], "{document}");
        assert_eq!(outcomes(&document, "revocation certificate"), ["in place"; 3], "{document}");
        let certificates = Run::gpg_of(gnupg, &source.home).arg("--export").succeed().stdout;
        assert_keys_work(keyhoard_signs(&source.home), &certificates);
        source.home.kill_agent();
    }
}

#[test]
fn a_key_on_a_card_is_told_and_left() {
    let (source, home) = (Source::new(Gnupg::V2_4), Home::new());
    let entries = fs::read_dir(source.keys()).expect("keys").flatten();
    let open = entries.map(|entry| entry.path()).find(|path| {
        fs::read_to_string(path).is_ok_and(|text| text.contains("(private-key") && text.contains("Ed25519"))
    });
    let stub = "Key: (shadowed-private-key (ecc (curve Ed25519)(flags eddsa)(q #40#)(shadowed t1-v1\n \
        (#D276000124010200FFFF000000010000# OPENPGP.1)\n )))\n";
    fs::write(open.expect("the key without a passphrase"), stub).expect("it is the test's own");
    let document = copied(&home, source.home.path());
    assert_eq!(outcomes(&document, "key on a card"), ["left"], "{document}");
    assert!(document.to_string().contains("D276000124010200FFFF000000010000"), "{document}");
    assert_eq!(outcomes(&document, "secret key"), ["taken"; 5]);
}

#[test]
fn revocation_certificates_are_kept_where_those_of_keyhoard_are() {
    let (source, home) = (Source::new(Gnupg::V2_4), Home::new());
    let document = copied(&home, source.home.path());
    assert_eq!(outcomes(&document, "revocation certificate"), ["taken"; 3]);
    let directory = home.path().join("openpgp-revocs.d");
    for entry in fs::read_dir(source.home.path().join("openpgp-revocs.d")).expect("files").flatten() {
        let copy = fs::read(directory.join(entry.file_name())).expect("a copy");
        assert_eq!(copy, fs::read(entry.path()).expect("a file"));
    }
    assert_eq!(outcomes(&copied(&home, source.home.path()), "revocation certificate"), ["here"; 3]);
}

#[test]
fn settings_with_a_counterpart_are_taken_over_and_the_others_named() {
    let (source, home) = (Source::new(Gnupg::V2_4), Home::new());
    let conf = "# a comment\nkeyserver hkps://keys.example.org\nencrypt-to open@example.org\ndefault-key rsa@example.org\n\
        trusted-key 0123456789ABCDEF\n--personal-cipher-preferences AES256\n";
    source.home.write("gpg.conf", conf);
    let configuration = home.of_user().join(".config/keyhoard");
    fs::create_dir_all(&configuration).expect("a directory");
    let file = configuration.join("config.toml");
    fs::write(&file, "# mine\n[network]\ntimeout = 9\n").expect("a file");
    let told = |document: &Value| -> Vec<(String, String)> {
        let details = document["details"].as_array().expect("a list").iter();
        let settings = details.filter(|detail| detail["what"] == "setting");
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        settings.map(|detail| (text(&detail["name"]), text(&detail["outcome"]))).collect()
    };
    let expected = |outcome: &str| {
        [
            ("keyserver hkps://keys.example.org", outcome),
            ("encrypt-to open@example.org", outcome),
            ("default-key rsa@example.org", outcome),
            ("trusted-key 0123456789ABCDEF", "left"),
            ("personal-cipher-preferences AES256", "left"),
        ]
        .map(|(name, outcome)| (name.to_owned(), outcome.to_owned()))
    };
    let document = copied(&home, source.home.path());
    assert_eq!(told(&document), expected("taken"));
    let details = document["details"].as_array().expect("a list");
    let of_ciphers = details.iter().find(|detail| detail["name"] == "personal-cipher-preferences AES256");
    assert_eq!(
        of_ciphers.expect("a detail")["reason"],
        "there is no such setting; gpg-keyhoard reads it here"
    );
    let text = fs::read_to_string(&file).expect("a file");
    let (default_key, rest) = text.split_once('\n').expect("lines");
    assert!(default_key.starts_with("default-key = '") && default_key.len() == 56, "{text}");
    assert_eq!(
        rest,
        "encrypt-to-self = true\n# mine\n[network]\nkeyservers = ['hkps://keys.example.org']\ntimeout = 9\n"
    );
    assert_eq!(told(&copied(&home, source.home.path())), expected("here"));
    assert_eq!(fs::read_to_string(&file).expect("a file"), text);
    fs::write(&file, "default-key = 'x'\nencrypt-to-self = false\n[network]\nkeyservers = []\n")
        .expect("a file");
    assert_eq!(told(&copied(&home, source.home.path())), expected("left"), "what is configured stays");
}

#[test]
fn a_trusted_key_is_a_primary_key_named_by_its_fingerprint_or_long_key_id() {
    let (source, home) = (Source::new(Gnupg::V2_4), Home::new());
    let list = ["--with-colons", "--list-keys", "rsa@example.org"];
    let listed = Run::gpg_of(source.gnupg, &source.home).args(list).succeed().text();
    let lines = listed.lines().filter(|line| line.starts_with("fpr:"));
    let keys: Vec<&str> = lines.filter_map(|line| line.split(':').nth(9)).collect();
    let [primary, subkey] = keys.as_slice() else { panic!("two keys: {listed}") };
    let key_id = &primary[24..];
    source.home.write(
        "gpg.conf",
        format!(
            "trusted-key {subkey}\ntrusted-key rsa@example.org\ntrusted-key {primary}#mine\ntrusted-key {key_id}\n"
        ),
    );
    // GnuPG trusts the keys that it makes.
    assert_eq!(outcomes(&copied(&home, source.home.path()), "setting"), ["left", "left", "here", "here"]);
}

#[test]
fn a_damaged_ring_of_old_secret_keys_is_reported() {
    let (source, home) = (Source::new(Gnupg::V2_4), Home::new());
    source.home.write("secring.gpg", "\u{1}");
    let _ = fs::remove_file(source.home.path().join(".gpg-v21-migrated"));
    let done = copying(&home, source.home.path(), PASSPHRASE).output();
    assert_eq!(done.code, Some(1), "{}", done.errors());
    let told = outcomes(&done.json_lines()[0], "secret key");
    assert_eq!(told.iter().filter(|outcome| *outcome == "failed").count(), 1, "{told:?}");
}

#[test]
fn a_dry_run_says_which_keys_would_be_used_in_place_without_an_agent() {
    let source = Source::new(Gnupg::V2_4);
    let run = Run::keyhoard(&source.home).args(["--json", "migrate", "--dry-run"]).arg(source.home.path());
    let document = run.succeed().json_lines().remove(0);
    // Its certificates are not here yet.
    assert_eq!(outcomes(&document, "secret key"), ["left"; 6], "{document}");
    Run::keyhoard(&source.home)
        .args(["migrate", "--secret-keys", "in-place"])
        .arg(source.home.path())
        .succeed();
    source.home.kill_agent();
    // It may not have ended yet.
    let socket = source.home.path().join("S.gpg-agent");
    let _ = fs::remove_file(&socket);
    let run = Run::keyhoard(&source.home).args(["--json", "migrate", "--dry-run"]).arg(source.home.path());
    assert_eq!(outcomes(&run.succeed().json_lines().remove(0), "secret key"), ["in place"; 6]);
    assert!(!socket.exists(), "no agent was started");
}

#[test]
fn status_says_what_gpg_has_changed_since() {
    let (source, home) = (Source::new(Gnupg::V2_4), Home::new());
    copied(&home, source.home.path());
    let changed = || {
        let status = Run::keyhoard(&home).args(["--json", "status"]).succeed().json_lines().remove(0);
        let changed = status["changed"].as_array().expect("a list").clone();
        changed.iter().map(|path| path.as_str().expect("a path").to_owned()).collect::<Vec<String>>()
    };
    assert_eq!(changed(), Vec::<String>::new());
    source.key("new@example.org", "", ["ed25519", "cv25519"]);
    source.home.kill_agent();
    let place = |name: &str| source.home.path().join(name).display().to_string();
    let mut told = changed();
    told.sort();
    let expected = ["openpgp-revocs.d", "private-keys-v1.d", "pubring.kbx", "trustdb.gpg"];
    assert_eq!(told, expected.map(place));
    copied(&home, source.home.path());
    assert_eq!(changed(), Vec::<String>::new());
}

#[test]
fn an_exported_home_is_used_by_both_gpgs() {
    let source = Source::new(Gnupg::V2_4);
    let certificates = Run::gpg_of(source.gnupg, &source.home).arg("--export").succeed().stdout;
    let home = Home::new();
    copied(&home, source.home.path());
    // Lists in the hash table: more keys with the same first byte than a record holds.
    let listed: String = (0..20).map(|number| format!("7F{number:038X}:5:\n")).collect();
    let listed = format!("{listed}80{:038X}:132:\n", 1);
    let file = home.write("trusts", listed);
    Run::keyhoard(&home).args(["trust", "exchange", "import"]).arg(file).succeed();
    Run::keyhoard(&home).args(["trust", "set", "ultimate", "rsa@example.org"]).succeed();
    for gnupg in Gnupg::ALL {
        let out = Home::new();
        fs::remove_file(out.path().join("gpg.conf")).expect("it is the test's own");
        let export = || Run::keyhoard(&home).args(["--json", "export", "--to-gnupg"]).arg(out.path());
        let document = export().succeed().json_lines().remove(0);
        assert_eq!(document["certificates"], 3);
        assert_eq!(outcomes(&document, "secret key"), ["taken"; 6], "{document}");
        assert_eq!(outcomes(&document, "revocation certificate"), ["taken"; 3], "{document}");

        let listing = |run: Run| {
            let text = run.args(["--with-colons", "--list-keys"]).succeed().text();
            let mut keys: Vec<String> =
                text.lines().filter(|line| line.starts_with("fpr")).map(str::to_owned).collect();
            keys.sort();
            keys
        };
        let theirs = listing(Run::gpg_of(gnupg, &out));
        assert_eq!(theirs, listing(Run::gpg_of(source.gnupg, &source.home)));
        let exported = |run: Run| {
            let text = run.succeed().text();
            let mut lines: Vec<String> =
                text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
            lines.sort();
            lines
        };
        let trusts = exported(Run::gpg_of(gnupg, &out).arg("--export-ownertrust"));
        assert_eq!(trusts, exported(Run::gpg_keyhoard(&home).arg("--export-ownertrust")));
        assert_eq!(trusts.iter().filter(|line| line.starts_with("7F")).count(), 20);
        assert_keys_work(|passphrase| gpg(gnupg, &out, passphrase), &certificates);
        out.kill_agent();

        let refused = export().output();
        assert_eq!(refused.code, Some(2));
        assert!(refused.errors().contains("not empty"), "{}", refused.errors());
        let document = export().arg("--force").succeed().json_lines().remove(0);
        assert_eq!(outcomes(&document, "secret key"), ["here"; 6], "{document}");
        assert!(out.path().join("pubring.kbx.before-keyhoard").exists());
        let refused = Run::keyhoard(&home).args(["export", "--to-gnupg"]);
        out.write("pubring.gpg", &certificates);
        let refused = refused.arg(out.path()).arg("--force").output();
        assert!(refused.errors().contains("GnuPG would read pubring.gpg"), "{}", refused.errors());
    }
}
