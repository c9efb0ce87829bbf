//! Errors of secret keys.

use std::path::PathBuf;

use cert::key::Key;
use cert::{Fingerprint, Flaw};
use openssl::error::ErrorStack;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a secret key could not be read, unlocked, used or stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The public part cannot be read.
    #[error("secret key: {0}")]
    Public(Flaw),
    /// The secret part is malformed.
    #[error("secret key {key}: {what}")]
    Malformed {
        /// The key.
        key: Fingerprint,
        /// What is wrong.
        what: &'static str,
    },
    /// The passphrase is wrong.
    #[error("secret key {key}: wrong passphrase")]
    WrongPassphrase {
        /// The key.
        key: Fingerprint,
    },
    /// Every passphrase that was given was wrong.
    #[error("secret key {key}: wrong passphrase, {tries} times")]
    TooManyTries {
        /// The key.
        key: Fingerprint,
        /// The number of passphrases.
        tries: u8,
    },
    /// The key is locked, and no passphrase was given.
    #[error("secret key {key}: a passphrase is needed, and none was given")]
    NoPassphrase {
        /// The key.
        key: Fingerprint,
    },
    /// The new passphrase is empty, which may be an accident.
    #[error("the new passphrase is empty")]
    EmptyPassphrase,
    /// The secret part was changed, or does not belong to the public part.
    #[error("secret key {key}: damaged, {what}; restore it from a backup")]
    Damaged {
        /// The key.
        key: Fingerprint,
        /// What is wrong.
        what: &'static str,
    },
    /// There is only a placeholder for the secret (GnuPG's stub).
    #[error("secret key {key}: the secret part is not here, only a stub; import it from where it is")]
    Stub {
        /// The key.
        key: Fingerprint,
    },
    /// The secret is on a card.
    #[error("secret key {key}: the secret part is on a card ({serial})")]
    OnCard {
        /// The key.
        key: Fingerprint,
        /// The card's serial number, in hexadecimal digits.
        serial: String,
    },
    /// The protection of the secret part is unknown.
    #[error(
        "secret key {key}: protected in an unknown way ({what}); have the program that made it lock it in another way"
    )]
    UnknownProtection {
        /// The key.
        key: Fingerprint,
        /// What is unknown.
        what: String,
    },
    /// Unlocking would need more memory than the limit.
    #[error(
        "secret key {key}: unlocking it would take 2^{exponent} KiB of memory, more than the limit of 2^{limit}"
    )]
    TooExpensive {
        /// The key.
        key: Fingerprint,
        /// The memory that it needs, as the binary logarithm of KiB.
        exponent: u8,
        /// The limit, as the binary logarithm of KiB.
        limit: u8,
    },
    /// The algorithm, curve or operation is not supported.
    #[error("secret key {key}: {what} is not supported")]
    Unsupported {
        /// The key.
        key: Fingerprint,
        /// The algorithm, curve or operation.
        what: String,
    },
    /// The cryptographic library failed.
    #[error("secret key {key}: {what}: {reason}")]
    Operation {
        /// The key.
        key: Fingerprint,
        /// The operation.
        what: &'static str,
        /// The message of the library.
        reason: String,
    },
    /// The system gives no random numbers, and says why.
    #[error("the system gives no random numbers: {0}")]
    Random(String),
    /// There is no such secret key.
    #[error("no secret key {key}")]
    Missing {
        /// The fingerprint or keygrip.
        key: String,
    },
    /// gpg-agent refused to use a key, or could not be asked.
    #[error("{message}")]
    Agent {
        /// Libgpg-error's number, if there is one.
        code: Option<u16>,
        /// What it said.
        message: String,
    },
    /// The certificate of a key could not be read.
    #[error("reading the certificates of secret keys: {0}")]
    Certificates(String),
    /// Asking for a passphrase failed.
    #[error("asking for a passphrase: {0}")]
    Asking(String),
    /// The directory of secret keys is open to others.
    #[error("{path}: others can read or write this directory of secret keys; run `chmod 700 {path}`")]
    OpenToOthers {
        /// The directory.
        path: PathBuf,
    },
    /// The directory of secret keys belongs to somebody else.
    #[error("{path}: this directory of secret keys belongs to user {owner}, not to you")]
    OwnedByOther {
        /// The directory.
        path: PathBuf,
        /// The number of the owner.
        owner: u32,
    },
    /// A file of a secret key cannot be used.
    #[error("{path}: {what}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A file or directory could not be read or written.
    #[error("{path}: {error}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
}

impl Error {
    /// Says that the algorithm, the curve or an operation with a key is not supported.
    pub(crate) fn unsupported(key: &Key<'_>, what: impl Into<String>) -> Self {
        Self::Unsupported { key: key.fingerprint(), what: what.into() }
    }

    /// Says that the cryptographic library failed.
    pub(crate) fn failed(key: &Key<'_>, what: &'static str, error: &ErrorStack) -> Self {
        Self::Operation { key: key.fingerprint(), what, reason: error.to_string() }
    }
}

impl From<Flaw> for Error {
    fn from(flaw: Flaw) -> Self {
        Self::Public(flaw)
    }
}

impl From<getrandom::Error> for Error {
    fn from(error: getrandom::Error) -> Self {
        Self::Random(error.to_string())
    }
}
