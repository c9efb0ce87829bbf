//! Errors of generating keys.

use openssl::error::ErrorStack;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a key or certificate could not be generated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An allocation failed.
    #[error("out of memory")]
    Memory,
    /// The size of an RSA key is not supported.
    #[error("RSA keys have 2048 to 16384 bits, a multiple of 8, not {0}")]
    RsaSize(u32),
    /// The size of a DSA or Elgamal key is not supported.
    #[error("no DSA or Elgamal key is made with {0} bits")]
    GroupSize(u32),
    /// DSA and Elgamal keys must be of version 4 (RFC 9580, 9.1), those of RFC 9980 of version 6 (RFC 9980, 3.5).
    #[error("keys of {algorithm} are made in version {version} only")]
    Version {
        /// The name of the algorithm.
        algorithm: String,
        /// The version that is needed.
        version: u8,
    },
    /// Subkeys have the version of their primary key, and keys of this version are not made.
    #[error("no subkeys are made for primary keys of version {0}")]
    Subkey(u8),
    /// No algorithm has this name.
    #[error("'{0}' is no algorithm for keys; try ed25519, rsa4096, nistp256, ...")]
    UnknownAlgorithm(String),
    /// Keys of the algorithm cannot serve these purposes: on a curve or in a group, a key signs or encrypts.
    #[error("one key of {algorithm} cannot both sign and encrypt: give it a subkey")]
    Purposes {
        /// The name of the algorithm.
        algorithm: String,
    },
    /// A key has no purpose.
    #[error("a key needs a purpose: certify, sign, authenticate or encrypt")]
    NoPurpose,
    /// OpenSSL could not generate a key.
    #[error("making a key: {reason}")]
    Library {
        /// The message of the library.
        reason: String,
    },
    /// A new key could not be used.
    #[error(transparent)]
    Secret(#[from] secret::Error),
    /// A new key could not sign.
    #[error(transparent)]
    Sign(#[from] sign::Error),
    /// The system gives no randomness, and says why.
    #[error("the system gives no randomness: {0}")]
    Randomness(String),
}

impl From<ErrorStack> for Error {
    fn from(error: ErrorStack) -> Self {
        Self::Library { reason: error.to_string() }
    }
}

impl From<getrandom::Error> for Error {
    fn from(error: getrandom::Error) -> Self {
        Self::Randomness(error.to_string())
    }
}
