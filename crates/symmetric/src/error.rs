//! Errors of ciphers and of keys from passwords.

use verify::HashAlgorithm;

use crate::{Aead, Cipher};

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something could not be encrypted or decrypted, or no key could be derived from a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no implementation of this cipher in the mode that was asked for.
    #[error("{0} is not supported here")]
    UnsupportedCipher(Cipher),
    /// There is no implementation of this cipher in this authenticated mode.
    #[error("{0} in {1} mode is not supported")]
    UnsupportedMode(Cipher, Aead),
    /// A key of another size than the cipher's.
    #[error("{cipher} takes a key of {} bytes, not {length}", .cipher.key_size())]
    KeySize {
        /// The cipher.
        cipher: Cipher,
        /// The size of the key in bytes.
        length: usize,
    },
    /// The tag does not match: the key is another one, or the data were changed.
    #[error("what was encrypted was changed, or encrypted with another key")]
    Changed,
    /// The S2K specifier is cut short.
    #[error("a password's parameters are cut short")]
    CutShort,
    /// The S2K type is unknown; its number (RFC 9580, 3.7.1).
    #[error("S2K type {0} is not supported")]
    UnknownS2k(u8),
    /// The hash algorithm is unknown.
    #[error("the hash {} is not supported", .0.0)]
    UnknownHash(HashAlgorithm),
    /// Argon2 is not defined for these parameters.
    #[error("Argon2's parameters are impossible")]
    ImpossibleArgon2,
    /// Argon2 would need more memory or time than the limits allow.
    #[error(
        "Argon2 would take 2^{exponent} KiB of memory, {passes} times; at most 2^{MAX_ARGON2_EXPONENT} are given"
    )]
    TooExpensive {
        /// The binary logarithm of the memory in KiB.
        exponent: u8,
        /// The number of passes over the memory.
        passes: u8,
    },
    /// So many bytes would have to be hashed for a key.
    #[error("{0} bytes would have to be hashed for a key; at most {MAX_HASHED} are")]
    TooMuchToHash(u64),
    /// The system does not give the memory that Argon2 needs.
    #[error("the system does not give the memory that Argon2 needs")]
    Memory,
    /// The system gives no random bytes.
    #[error("the system gives no random numbers")]
    Random,
}

/// The most memory that Argon2 may use, as the binary logarithm of KiB: 2 GiB, the largest that RFC 9106 recommends.
pub const MAX_ARGON2_EXPONENT: u8 = 21;

/// The most bytes that are hashed for a key whose count is written out, as in gpg-agent's files: a few seconds' work.
pub const MAX_HASHED: u64 = 1 << 32;
