//! Digests.

use aws_lc_rs::digest;
use md5::Digest as _;

/// A hash algorithm (RFC 9580, 9.5), known or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hash(pub u8);

impl Hash {
    /// MD5.
    pub const MD5: Hash = Hash(1);
    /// SHA-1.
    pub const SHA1: Hash = Hash(2);
    /// RIPEMD-160.
    pub const RIPEMD160: Hash = Hash(3);
    /// SHA-256.
    pub const SHA256: Hash = Hash(8);
    /// SHA-384.
    pub const SHA384: Hash = Hash(9);
    /// SHA-512.
    pub const SHA512: Hash = Hash(10);

    /// Returns the digest of `data`; with an unknown algorithm that of SHA-256.
    pub fn digest(self, data: &[u8]) -> Vec<u8> {
        let algorithm = match self.0 {
            1 => return md5::Md5::digest(data).to_vec(),
            3 => return ripemd::Ripemd160::digest(data).to_vec(),
            2 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
            9 => &digest::SHA384,
            10 => &digest::SHA512,
            11 => &digest::SHA224,
            12 => &digest::SHA3_256,
            14 => &digest::SHA3_512,
            _ => &digest::SHA256,
        };
        digest::digest(algorithm, data).as_ref().to_vec()
    }

    /// Returns the length of the salt in signatures of version 6 (RFC 9580, 9.5).
    pub fn salt_length(self) -> usize {
        match self.0 {
            9 => 24,
            10 | 14 => 32,
            _ => 16,
        }
    }
}
