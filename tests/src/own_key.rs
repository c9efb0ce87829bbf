//! Keys of our own, made and changed by the real gpg.

use std::fs;

use crate::{Home, Run};

/// The creation time of keys.
const CREATED: &str = "20240101T000000!";

/// A key of which a test has the secret part, in a home of its own.
#[derive(Debug)]
pub struct OwnKey {
    home: Home,
    fingerprint: String,
}

impl OwnKey {
    /// Makes an Ed25519 key with an encryption subkey and one user ID.
    pub fn new(user_id: &str) -> OwnKey {
        let home = Home::new();
        let mut key = OwnKey { home, fingerprint: String::new() };
        key.gpg(CREATED, &["--quick-generate-key", user_id, "future-default", "default", "never"]);
        let listing = key.gpg(CREATED, &["--with-colons", "--list-keys"]);
        let fingerprint = listing.lines().find_map(|line| line.strip_prefix("fpr:::::::::"));
        let fingerprint =
            fingerprint.expect("gpg lists the key it has made").trim_end_matches(':').to_owned();
        key.fingerprint = fingerprint;
        key
    }

    /// Returns the fingerprint of the primary key, in upper case.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Returns the certificate as it is now, without local signatures.
    pub fn certificate(&self) -> Vec<u8> {
        self.run(CREATED, &["--export", &self.fingerprint])
    }

    /// Returns an imported certificate with local signatures.
    pub fn certificate_with_local_signatures_of(&self, fingerprint: &str) -> Vec<u8> {
        self.run(CREATED, &["--export-options", "export-local-sigs", "--export", fingerprint])
    }

    /// Imports certificates of others.
    pub fn import(&self, certificates: Vec<u8>) {
        Run::gpg(&self.home).at(CREATED).arg("--import").stdin(certificates).succeed();
    }

    /// Adds a user ID at a time like `20240301T000000!`.
    pub fn add_user_id(&self, time: &str, user_id: &str) {
        self.gpg(time, &["--quick-add-uid", &self.fingerprint, user_id]);
    }

    /// Revokes a user ID.
    pub fn revoke_user_id(&self, time: &str, user_id: &str) {
        self.gpg(time, &["--quick-revoke-uid", &self.fingerprint, user_id]);
    }

    /// Adds a signing subkey.
    pub fn add_subkey(&self, time: &str) {
        self.gpg(time, &["--quick-add-key", &self.fingerprint, "ed25519", "sign", "never"]);
    }

    /// Sets when the primary key expires: `20250101T000000` or `never`.
    pub fn set_expiry(&self, time: &str, expiry: &str) {
        self.gpg(time, &["--quick-set-expire", &self.fingerprint, expiry]);
    }

    /// Certifies all user IDs of an imported certificate.
    pub fn certify(&self, time: &str, fingerprint: &str) {
        self.gpg(time, &["--quick-sign-key", fingerprint]);
    }

    /// Certifies all user IDs of an imported certificate, as local signatures.
    pub fn certify_locally(&self, time: &str, fingerprint: &str) {
        self.gpg(time, &["--quick-lsign-key", fingerprint]);
    }

    /// Returns an imported certificate.
    pub fn certificate_of(&self, fingerprint: &str) -> Vec<u8> {
        self.run(CREATED, &["--export", fingerprint])
    }

    /// Returns the revocation of the whole key that gpg makes beforehand, in binary form.
    pub fn revocation(&self) -> Vec<u8> {
        let path = self.home.path().join("openpgp-revocs.d").join(format!("{}.rev", self.fingerprint));
        let text = fs::read_to_string(path).expect("gpg makes a revocation with each key");
        // A colon keeps people from using it by accident.
        let armored = text.replace(":-----BEGIN", "-----BEGIN");
        Run::gpg(&self.home).arg("--dearmor").stdin(armored).succeed().stdout
    }

    /// Returns the home with the secret key.
    pub fn home(&self) -> &Home {
        &self.home
    }

    fn gpg(&self, time: &str, arguments: &[&str]) -> String {
        String::from_utf8_lossy(&self.run(time, arguments)).into_owned()
    }

    fn run(&self, time: &str, arguments: &[&str]) -> Vec<u8> {
        let secret = ["--yes", "--pinentry-mode", "loopback", "--passphrase", ""];
        Run::gpg_with_agent(&self.home).at(time).args(secret).args(arguments).succeed().stdout
    }
}

impl Drop for OwnKey {
    fn drop(&mut self) {
        self.home.kill_agent();
    }
}
