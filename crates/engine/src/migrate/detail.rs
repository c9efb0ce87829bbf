//! What became of secret keys, revocation certificates and settings, one by one.

use std::path::PathBuf;

/// A secret key, a revocation certificate or a setting of a source, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detail {
    /// What it is.
    pub what: What,
    /// The fingerprint, the keygrip where that is not known, or the line of a setting.
    pub name: String,
    /// The file or directory that it is in.
    pub path: PathBuf,
    /// What became of it.
    pub fate: Fate,
}

/// What a detail is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A certificate, of which only those are told that could not be taken over.
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

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
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
