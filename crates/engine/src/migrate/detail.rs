//! The outcome of a migration for each secret key, revocation certificate and setting.

use std::path::PathBuf;

/// A secret key, a revocation certificate or a setting of a source, and the outcome for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detail {
    /// Its kind.
    pub kind: DetailKind,
    /// The fingerprint, the keygrip where that is not known, or the line of a setting.
    pub name: String,
    /// The file or directory that it is in.
    pub path: PathBuf,
    /// The outcome.
    pub outcome: DetailOutcome,
}

/// The kind of a [`Detail`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetailKind {
    /// A certificate that could not be taken over; the others have no details.
    Certificate,
    /// A secret key.
    SecretKey,
    /// A secret key on a card.
    CardKey,
    /// A revocation certificate made beforehand.
    Revocation,
    /// A line of `gpg.conf`.
    Setting,
}

/// The outcome for one [`Detail`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DetailOutcome {
    /// It was taken over, or would be.
    Taken,
    /// It is used where it is: a secret key through gpg-agent, a revocation certificate in the same directory.
    InPlace,
    /// It was here before.
    Here,
    /// It stays where it is, and is not used here; says why.
    Left(String),
    /// A setting that only gpg has; says why. It stays where it is, and counts only where `gpg.conf` is read.
    NoCounterpart(&'static str),
    /// It could not be taken over; says why.
    Failed(String),
}
