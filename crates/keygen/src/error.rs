//! What can go wrong when keys are made.

use crate::algorithm::Algorithm;

/// The result of making keys.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong when keys are made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system gave no memory.
    #[error("out of memory")]
    Memory,
    /// An RSA key of a size that is not made.
    #[error("RSA keys have 2048 to 16384 bits, a multiple of 8, not {0}")]
    RsaSize(u32),
    /// A DSA or Elgamal key of a size that is not made.
    #[error("no DSA or Elgamal key is made with {0} bits")]
    GroupSize(u32),
    /// No DSA and Elgamal keys of version 6 may be made (RFC 9580, 9.1).
    #[error("keys of {0} are made in version 4 only")]
    Version(Algorithm),
    /// No algorithm has this name.
    #[error("'{0}' is no algorithm that keys are made of; try ed25519, rsa4096, nistp256, ...")]
    UnknownAlgorithm(String),
    /// A key that was to do what keys like it cannot: on a curve or in a group, to sign and to encrypt.
    #[error("one key of {0} cannot both sign and encrypt: give it a subkey")]
    Purposes(Algorithm),
    /// A key for nothing.
    #[error("a key needs a purpose: certify, sign, authenticate or encrypt")]
    NoPurpose,
    /// Version 4 certificates have user IDs.
    #[error("a certificate of version 4 needs a user ID")]
    NoUserId,
    /// The library made no key on a curve.
    #[error("making a key: {0}")]
    Curve(#[source] anyhow::Error),
    /// A new key did not work.
    #[error(transparent)]
    Secret(#[from] secret::Error),
    /// A signature of a new key could not be made.
    #[error(transparent)]
    Sign(#[from] sign::Error),
    /// The system gave no randomness.
    #[error("the system gives no randomness: {0}")]
    Randomness(getrandom::Error),
}

impl From<bignum::OutOfMemory> for Error {
    fn from(_: bignum::OutOfMemory) -> Self {
        Self::Memory
    }
}

impl From<getrandom::Error> for Error {
    fn from(error: getrandom::Error) -> Self {
        Self::Randomness(error)
    }
}
