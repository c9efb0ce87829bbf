//! Errors of reading certificates.

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a certificate could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The stream could not be read.
    #[error("reading failed at byte {position}")]
    Read {
        /// The offset in the stream.
        position: u64,
        /// The error of the system.
        #[source]
        source: std::io::Error,
    },
    /// The bytes are not a usable certificate.
    #[error("{flaw} at byte {position}")]
    Malformed {
        /// The offset in the stream or certificate.
        position: u64,
        /// What is wrong.
        flaw: Flaw,
    },
}

/// What is wrong with a packet, or with the bytes in place of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Flaw {
    /// More misplaced signatures that may be revocations than are examined.
    #[error("a certificate with more misplaced signatures, possibly revocations, than are examined")]
    UncheckedRevocations,
    /// A byte that cannot begin a packet.
    #[error("bytes that are no packet")]
    NotAPacket,
    /// A packet that is not part of a certificate, where a certificate should begin.
    #[error("a packet of type {0} that is no part of a certificate")]
    Misplaced(u8),
    /// The stream or the packet ends too early.
    #[error("{0} that is cut short")]
    CutShort(&'static str),
    /// A packet of indefinite length (GnuPG allows this for data only).
    #[error("a packet of type {0} without a definite length")]
    OpenLength(u8),
    /// A packet above the limit of its type.
    #[error("a packet of type {tag} with {length} bytes, more than the limit")]
    TooLarge {
        /// The type of the packet.
        tag: u8,
        /// The length in its header.
        length: u32,
    },
    /// A certificate with too many components, or too large even when reduced to its own signatures and revocations.
    #[error("a certificate larger than the limit")]
    CertificateTooLarge,
    /// A key of version 2 or 3, which GnuPG no longer supports since 2.1.
    #[error("a key of the obsolete version {0}")]
    ObsoleteKey(u8),
    /// A key of a version that is not known.
    #[error("a key of the unknown version {0}")]
    UnknownKey(u8),
    /// A signature of a version that is not known.
    #[error("a signature of the unknown version {0}")]
    UnknownSignature(u8),
    /// Bytes after the last field of a packet.
    #[error("{0} with bytes after its end")]
    Overlong(&'static str),
    /// A secret key of an unknown algorithm, so that the end of its public part is unknown.
    #[error("a secret key with the unknown algorithm {0}")]
    InseparableSecret(u8),
    /// A number of more than 16384 bits (GnuPG's limit).
    #[error("a number of {0} bits")]
    NumberTooLarge(u16),
    /// A blob of a keybox that cannot be used.
    #[error("{0}")]
    Keybox(&'static str),
    /// A compressed packet that cannot be decompressed.
    #[error("{0} in a compressed packet")]
    Compressed(&'static str),
    /// A second armored block where only one is allowed.
    #[error("a second block of ASCII armor")]
    SecondBlock,
    /// ASCII armor that cannot be decoded.
    #[error("{0} in ASCII armor")]
    Armor(&'static str),
}

impl Error {
    /// Returns whether it is a certificate of a version that is not known, or not any more, rather than damage.
    pub fn is_of_unknown_version(&self) -> bool {
        matches!(self, Self::Malformed { flaw: Flaw::UnknownKey(_) | Flaw::ObsoleteKey(_), .. })
    }

    /// Returns the offset in the stream or certificate.
    pub fn position(&self) -> u64 {
        match self {
            Self::Read { position, .. } | Self::Malformed { position, .. } => *position,
        }
    }
}

impl Flaw {
    /// Versions of packets that may be defined in future; higher numbers indicate damage.
    const FUTURE: std::ops::Range<u8> = 7..10;

    /// Returns whether a packet with this flaw may be damaged, so that the length in its header is not reliable.
    pub(crate) fn is_damage(self) -> bool {
        match self {
            Self::NotAPacket | Self::CutShort(_) | Self::Overlong(_) | Self::NumberTooLarge(_) => true,
            Self::UnknownKey(version) | Self::UnknownSignature(version) => !Self::FUTURE.contains(&version),
            _ => false,
        }
    }
}
