//! Which of several own keys signs and certifies.

use std::fs;

use harness::{Home, Output, OwnKey, Run};

/// A user with two own keys and a certificate of Ben's, and their fingerprints.
struct User {
    home: Home,
    keys: [String; 2],
    ben: String,
}

impl User {
    fn new() -> Self {
        let home = Home::new();
        let keys = ["Ann <ann@example.org>", "Ann at work <ann@example.org>"].map(|user_id| {
            let made = Run::keyhoard(&home).args(["generate", "--no-passphrase", user_id]).succeed();
            made.text().trim_end().to_owned()
        });
        let ben = OwnKey::new("Ben <ben@example.org>");
        home.write("ben.pgp", ben.certificate());
        Run::keyhoard(&home).arg("import").arg(home.path().join("ben.pgp")).succeed();
        Self { home, keys, ben: ben.fingerprint().to_owned() }
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let configuration = self.home.path().join("configuration");
        Run::keyhoard(&self.home).env("XDG_CONFIG_HOME", configuration).args(arguments).stdin("text")
    }

    /// Signs and certifies with what the options name; returns who signed.
    fn sign_and_certify(&self, options: &[&str]) -> String {
        let certify = [&["key", "certify", "--yes", "--again", &self.ben][..], options].concat();
        self.run(&certify).succeed();
        let signed = self.run(&[&["sign"], options].concat()).succeed().stdout;
        let verified = self.run(&["--json", "verify"]).stdin(signed).output().text();
        self.keys.iter().find(|key| verified.contains(key.as_str())).expect("a signer").clone()
    }

    fn refused(&self, arguments: &[&str]) -> Output {
        let done = self.run(arguments).output();
        assert_eq!(done.code, Some(2), "{}", done.errors());
        done
    }
}

#[test]
fn of_several_own_keys_the_only_one_that_is_able_signs_and_certifies() {
    let user = User::new();
    user.run(&["key", "revoke", "--yes", &user.keys[0]]).succeed();
    assert_eq!(user.sign_and_certify(&[]), user.keys[1]);
    assert_eq!(user.sign_and_certify(&["--by", "ann@example.org"]), user.keys[1]);
}

#[test]
fn several_own_keys_that_are_able_are_listed_with_the_option_that_names_each() {
    let user = User::new();
    for line in [
        &["sign"][..],
        &["sign", "--by", "ann@example.org"],
        &["key", "certify", "--yes", &user.ben],
        &["key", "certify", "--yes", &user.ben, "--by", "ann@example.org"],
    ] {
        let told = user.refused(line).errors();
        let by = |key: &String| format!("--by {key}  Ann");
        assert!(user.keys.iter().all(|key| told.contains(&by(key))), "{line:?}: {told}");
    }
    for key in &user.keys {
        assert_eq!(user.sign_and_certify(&["--by", key]), *key);
    }
}

#[test]
fn the_key_of_the_configuration_signs_and_certifies_unless_another_is_named() {
    let user = User::new();
    let directory = user.home.path().join("configuration/keyhoard");
    fs::create_dir_all(&directory).expect("a directory");
    for (default, other) in [(0, 1), (1, 0)] {
        let setting = format!("default-key = \"{}\"\n", user.keys[default]);
        fs::write(directory.join("config.toml"), setting).expect("a file");
        assert_eq!(user.sign_and_certify(&[]), user.keys[default]);
        assert_eq!(user.sign_and_certify(&["--by", &user.keys[other]]), user.keys[other]);
    }
}
