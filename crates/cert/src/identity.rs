//! What a key is called by, and when something was made.

use std::fmt;
use std::hash::{Hash, Hasher};

/// Seconds since 1970, as OpenPGP writes time (RFC 9580, 3.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(pub u32);

/// The 64-bit key ID: a hint, never evidence (RFC 9580, 5.5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(pub u64);

impl KeyId {
    /// Returns the low 32 bits, the short key ID.
    pub fn short(self) -> u32 {
        self.0 as u32
    }
}

/// A fingerprint, with the key version it belongs to (RFC 9580, 5.5.4).
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

    /// Makes a fingerprint from a key version and bytes; `None` if the length does not fit.
    pub fn new(version: u8, bytes: &[u8]) -> Option<Self> {
        match version {
            4 => bytes.try_into().ok().map(Self::V4),
            5 => bytes.try_into().ok().map(Self::V5),
            6 => bytes.try_into().ok().map(Self::V6),
            _ => None,
        }
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

/// In words: a fingerprint is looked up for each key of a keyring.
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

/// Names a signature together with the primary key and the component it stands behind: the first half of a SHA2-256
/// over the three, the signature without its unhashed subpackets.
///
/// Copies of one signature that differ only in what nobody signed have the same key. Half a digest is enough: a
/// verdict names the issuer too, so who wants to borrow one needs a second preimage of a signature that somebody else
/// made, not a collision.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SignatureDigest(pub [u8; 16]);

impl fmt::Debug for SignatureDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
