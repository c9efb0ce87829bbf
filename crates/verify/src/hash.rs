//! The digests of OpenPGP.

use crate::HashAlgorithm;

/// A finished digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest {
    bytes: [u8; 64],
    len: u8,
}

impl Digest {
    /// The digest's bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// A digest being computed.
#[derive(Clone)]
pub struct Hasher {}

impl Hasher {
    /// Starts a digest; `None` for an algorithm that is not known.
    pub fn new(algorithm: HashAlgorithm) -> Option<Self> {
        let _ = algorithm;
        todo!()
    }

    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        let _ = bytes;
        todo!()
    }

    /// Ends the digest; `None` where SHA-1 input carries the mark of a collision attack.
    pub fn finish(self) -> Option<Digest> {
        todo!()
    }
}
