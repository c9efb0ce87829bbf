//! A certificate for 127.0.0.1, made for the test, that programs trust if `SSL_CERT_FILE` names it.

use std::fs;
use std::path::PathBuf;

/// A self-signed certificate and its key, in files.
pub(crate) struct Certificate {
    _directory: tempfile::TempDir,
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

impl Certificate {
    pub(crate) fn new() -> Self {
        let made =
            rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let (certificate, key) = (directory.path().join("certificate.pem"), directory.path().join("key.pem"));
        fs::write(&certificate, made.cert.pem()).unwrap();
        fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        Self { _directory: directory, certificate, key }
    }
}
