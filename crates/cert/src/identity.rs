//! Identifiers of keys and signatures, and timestamps.

use std::fmt;
use std::hash::{Hash, Hasher};

/// A time in seconds since 1970 (RFC 9580, 3.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(pub u32);

/// The 64-bit key ID, which does not identify a key uniquely (RFC 9580, 5.5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(pub u64);

impl KeyId {
    /// Returns the low 32 bits, the short key ID.
    pub fn short(self) -> u32 {
        self.0 as u32
    }
}

/// A fingerprint with the version of its key (RFC 9580, 5.5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fingerprint {
    /// SHA-1 of a version 4 key.
    V4([u8; 20]),
    /// SHA2-256 of a LibrePGP version 5 key.
    V5([u8; 32]),
    /// SHA2-256 of a version 6 key.
    V6([u8; 32]),
}

impl Fingerprint {
    /// Returns the fingerprint's bytes.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::V4(bytes) => bytes,
            Self::V5(bytes) | Self::V6(bytes) => bytes,
        }
    }

    /// Returns the version of the key.
    pub fn version(&self) -> u8 {
        match self {
            Self::V4(_) => 4,
            Self::V5(_) => 5,
            Self::V6(_) => 6,
        }
    }

    /// Creates a fingerprint from a key version and bytes; `None` for an unknown version or a wrong length.
    pub fn new(version: u8, bytes: &[u8]) -> Option<Self> {
        match version {
            4 => bytes.try_into().ok().map(Self::V4),
            5 => bytes.try_into().ok().map(Self::V5),
            6 => bytes.try_into().ok().map(Self::V6),
            _ => None,
        }
    }

    /// Says whether both have the same digits. That decides what a name means, since a name does not tell whether 64 digits
    /// belong to a key of version 5 or 6.
    pub fn has_digits_of(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }

    /// Returns the key ID: the last eight bytes of a version 4 fingerprint, the first eight of a later one.
    pub fn key_id(&self) -> KeyId {
        let bytes: [u8; 8] = match self {
            Self::V4(bytes) => std::array::from_fn(|i| bytes[12 + i]),
            Self::V5(bytes) | Self::V6(bytes) => std::array::from_fn(|i| bytes[i]),
        };
        KeyId(u64::from_be_bytes(bytes))
    }
}

/// Hashes words instead of bytes, since a fingerprint is looked up for each key of a keyring.
impl Hash for Fingerprint {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (words, rest) = self.as_bytes().as_chunks();
        words.iter().for_each(|word| state.write_u64(u64::from_ne_bytes(*word)));
        rest.as_chunks().0.iter().for_each(|half| state.write_u32(u32::from_ne_bytes(*half)));
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02X}"))
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016X}", self.0)
    }
}

/// GnuPG's keygrip: the SHA-1 of the public parameters, the same for every packet with this key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Keygrip(pub [u8; 20]);

impl fmt::Display for Keygrip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02X}"))
    }
}

/// Identifies a signature over a component: the first half of a SHA2-256 over the primary key, the component and the
/// signature without its unhashed subpackets.
///
/// Copies of a signature that differ only in unhashed subpackets have the same digest. Half a digest is sufficient: a
/// stored verdict also names the issuer, so that reusing it for another signature needs a second preimage, not a
/// collision.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SignatureDigest(pub [u8; 16]);

impl fmt::Debug for SignatureDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
