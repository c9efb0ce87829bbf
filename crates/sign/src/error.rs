//! Why a signature was not made.

use cert::facts::SignatureType;
use verify::HashAlgorithm;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a signature was not made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Keys of this version make no signatures here.
    #[error("a key of version {0} makes no signatures here")]
    Version(u8),
    /// The digest is not known, or must not stand in such a signature.
    #[error("the digest {} suits no such signature", .0.0)]
    Hash(HashAlgorithm),
    /// Signatures of this type are not made over this.
    #[error("a signature of type 0x{:02x} is not made over this", .0.0)]
    Subject(SignatureType),
    /// More subpackets than fit.
    #[error("the subpackets are too long for a signature")]
    TooLong,
    /// A subpacket area of the signature this one follows cannot be read.
    #[error("the subpackets of the signature before are damaged")]
    Damaged,
    /// The salt has another length than the digest asks for (RFC 9580, 9.5).
    #[error("a salt of {given} bytes where the digest asks for {wanted}")]
    Salt {
        /// How long the salt is.
        given: usize,
        /// How long it must be.
        wanted: usize,
    },
    /// The system gave no random bytes.
    #[error("the system's random numbers: {0}")]
    Random(String),
    /// The secret key did not sign.
    #[error(transparent)]
    Signer(#[from] secret::Error),
    /// What the secret key made does not verify: the key or the machine is damaged.
    #[error("the signature just made does not verify")]
    Unverified,
}

impl From<getrandom::Error> for Error {
    fn from(error: getrandom::Error) -> Self {
        Self::Random(error.to_string())
    }
}
