//! What can go wrong with ciphers and passwords.

use verify::HashAlgorithm;

use crate::{Aead, Cipher};

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something could not be encrypted or decrypted, or a password became no key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No implementation of this cipher in this mode.
    #[error("{0} in {1} mode is not supported")]
    UnsupportedMode(Cipher, Aead),
    /// The tag does not fit: another key, or a change.
    #[error("what was encrypted was changed, or encrypted with another key")]
    Changed,
    /// A password's parameters end in the middle.
    #[error("a password's parameters are cut short")]
    CutShort,
    /// A way from passwords to keys that is not known, by its number (RFC 9580, 3.7.1).
    #[error("the way {0} from passwords to keys is not supported")]
    UnknownS2k(u8),
    /// A hash that is not known.
    #[error("the hash {} is not supported", .0.0)]
    UnknownHash(HashAlgorithm),
    /// Argon2 cannot be computed with these parameters.
    #[error("Argon2's parameters are impossible")]
    ImpossibleArgon2,
    /// Argon2 would cost more than anyone's own password does.
    #[error(
        "Argon2 would take 2^{exponent} KiB of memory, {passes} times; at most 2^{MAX_ARGON2_EXPONENT} are given"
    )]
    TooExpensive {
        /// The binary logarithm of the memory in KiB.
        exponent: u8,
        /// Passes over it.
        passes: u8,
    },
    /// The system gives no random bytes.
    #[error("the system gives no random numbers")]
    Random,
}

/// The most memory that Argon2 gets, as the binary logarithm of KiB: 2 GiB, what RFC 9106 recommends at most.
pub const MAX_ARGON2_EXPONENT: u8 = 21;
