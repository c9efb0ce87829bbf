//! Why an edit was not made.

use cert::Fingerprint;

use crate::foreign_text::shown;

/// Why an edit was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditRefusal {
    /// The database does not have the certificate.
    #[error("no certificate with the key {key}")]
    NoCertificate {
        /// Its primary key.
        key: Fingerprint,
    },
    /// The secret key is not here.
    #[error("no secret key {key} here; only that key can do this")]
    NoSecretKey {
        /// The key.
        key: Fingerprint,
    },
    /// The key was revoked.
    #[error("key {key} is revoked")]
    Revoked {
        /// The key.
        key: Fingerprint,
    },
    /// The key has expired.
    #[error("key {key} has expired")]
    Expired {
        /// The key.
        key: Fingerprint,
    },
    /// The certificate has no such user ID.
    #[error("no user ID '{}'", shown(.user_id))]
    NoUserId {
        /// What was asked for.
        user_id: Vec<u8>,
    },
    /// A user ID that is empty, too long, or holds control characters.
    #[error("'{}' is not a valid user ID", shown(.user_id))]
    InvalidUserId {
        /// What was asked for.
        user_id: Vec<u8>,
    },
    /// The certificate has this user ID already.
    #[error("the key has the user ID '{}' already", shown(.user_id))]
    DuplicateUserId {
        /// The user ID.
        user_id: Vec<u8>,
    },
    /// Nobody could find the key any more.
    #[error("'{}' is the last valid user ID", shown(.user_id))]
    LastUserId {
        /// The user ID.
        user_id: Vec<u8>,
    },
    /// The certificate has no such subkey.
    #[error("no subkey {key}")]
    NoSubkey {
        /// What was asked for.
        key: Fingerprint,
    },
    /// It has no valid self-signature that could be renewed.
    #[error("key {key} has no valid self-signature")]
    NotBound {
        /// The key.
        key: Fingerprint,
    },
    /// The clock is earlier than the signature to be replaced, or than the key's creation.
    #[error("the clock is wrong: it is {seconds} seconds behind the dates of key {key}")]
    Clock {
        /// The key.
        key: Fingerprint,
        /// By how much.
        seconds: u32,
    },
    /// The key was not named as a designated revoker.
    #[error("key {key} may not revoke this one: it is not a designated revoker")]
    NotDesignated {
        /// The key.
        key: Fingerprint,
    },
    /// The key does not certify.
    #[error("key {key} may not certify others")]
    CannotCertify {
        /// The key.
        key: Fingerprint,
    },
}
