//! Errors of making signatures.

use cert::facts::SignatureType;
use verify::HashAlgorithm;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a signature could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Signatures of keys of this version are not supported.
    #[error("a key of version {0} makes no signatures here")]
    Version(u8),
    /// The hash algorithm is unknown, or not allowed in such a signature.
    #[error("hash algorithm {} cannot be used here", .0.0)]
    Hash(HashAlgorithm),
    /// Signatures of this type are not made over such data.
    #[error("a signature of type 0x{:02x} is not made over this", .0.0)]
    Subject(SignatureType),
    /// The subpackets are longer than an area can be.
    #[error("the subpackets are too long for a signature")]
    TooLong,
    /// The subpackets of the older signature cannot be read.
    #[error("the subpackets of the signature before are damaged")]
    Damaged,
    /// The salt has another length than the hash algorithm requires (RFC 9580, 9.5).
    #[error("a salt of {given} bytes where the digest asks for {wanted}")]
    Salt {
        /// The length of the salt.
        given: usize,
        /// The required length.
        wanted: usize,
    },
    /// The system gives no random numbers, and says why.
    #[error("the system gives no random numbers: {0}")]
    Random(String),
    /// The secret key could not sign.
    #[error(transparent)]
    Signer(#[from] secret::Error),
    /// The new signature does not verify: the key or the machine is damaged.
    #[error("the signature just made does not verify")]
    Unverified,
}

impl From<getrandom::Error> for Error {
    fn from(error: getrandom::Error) -> Self {
        Self::Random(error.to_string())
    }
}
