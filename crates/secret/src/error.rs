//! What can go wrong with secret keys.

use std::path::PathBuf;

use cert::{Fingerprint, Flaw};

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a secret key could not be read, unlocked, used or kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The public part cannot be read.
    #[error("secret key: {0}")]
    Public(#[from] Flaw),
    /// The secret part is not laid out as it says.
    #[error("secret key {key}: {what}")]
    Malformed {
        /// The key.
        key: Fingerprint,
        /// What is wrong.
        what: &'static str,
    },
    /// The passphrase does not open the key.
    #[error("secret key {key}: wrong passphrase")]
    WrongPassphrase {
        /// The key.
        key: Fingerprint,
    },
    /// Every try brought a wrong passphrase.
    #[error("secret key {key}: wrong passphrase, {tries} times")]
    TooManyTries {
        /// The key.
        key: Fingerprint,
        /// How many.
        tries: u8,
    },
    /// A locked key, and nobody who could be asked for its passphrase, or nobody who answered.
    #[error("secret key {key}: it is locked, and no passphrase was given")]
    NoPassphrase {
        /// The key.
        key: Fingerprint,
    },
    /// The secret part was read and is not the one of the public part, or was changed.
    #[error("secret key {key}: damaged, {what}; take it from a backup")]
    Damaged {
        /// The key.
        key: Fingerprint,
        /// How that was seen.
        what: &'static str,
    },
    /// A placeholder in the place of a secret (GnuPG's stub).
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
    /// The secret part is protected in a way that is not known.
    #[error(
        "secret key {key}: protected in an unknown way ({what}); have the program that made it lock it in another way"
    )]
    UnknownProtection {
        /// The key.
        key: Fingerprint,
        /// What is not known.
        what: String,
    },
    /// Unlocking would cost more than anyone's own key does.
    #[error(
        "secret key {key}: unlocking it would take 2^{exponent} KiB of memory, more than the limit of 2^{limit}"
    )]
    TooExpensive {
        /// The key.
        key: Fingerprint,
        /// What it asks for, as Argon2's encoded memory size.
        exponent: u8,
        /// The most that is given.
        limit: u8,
    },
    /// An algorithm that nothing here can work with.
    #[error("secret key {key}: {what} is not supported")]
    Unsupported {
        /// The key.
        key: Fingerprint,
        /// The algorithm, curve or operation.
        what: String,
    },
    /// An operation failed for no reason that is the key's.
    #[error("secret key {key}: {what}: {reason}")]
    Operation {
        /// The key.
        key: Fingerprint,
        /// The operation.
        what: &'static str,
        /// What the cryptographic library said.
        reason: String,
    },
    /// No random numbers.
    #[error("the system's random numbers: {0}")]
    Random(getrandom::Error),
    /// No such key among the secret keys.
    #[error("no secret key {key}")]
    Missing {
        /// The key, by fingerprint or keygrip.
        key: String,
    },
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
        /// The number of the user whose it is.
        owner: u32,
    },
    /// A file of secret keys that is not what it should be.
    #[error("{path}: {what}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A file or directory could not be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
}
