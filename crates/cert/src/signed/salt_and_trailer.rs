//! The beginning and the end of every signature's hash input (RFC 9580, 5.2.4).

use crate::signature::Head;
use verify::hash::Hasher;
use verify::{HashAlgorithm, Verdict};

/// Starts a hash, with the salt of version 6.
pub(super) fn after_salt(head: &Head<'_>) -> Result<Hasher, Verdict> {
    let mut hasher = Hasher::new(head.hash_algorithm).ok_or(Verdict::Unsupported)?;
    if salt_length(head.hash_algorithm) != Some(head.salt.len()) {
        return Err(Verdict::Bad);
    }
    hasher.update(head.salt);
    Ok(hasher)
}

/// Hashes the signature's own hashed part and the trailer (RFC 9580, 5.2.4); in version 5, `metadata` between them (LibrePGP,
/// 5.2.4).
pub(super) fn hash_trailer(hasher: &mut Hasher, head: &Head<'_>, metadata: &[u8]) {
    hasher.update(head.covered);
    let length = head.covered.len() as u64;
    match head.version {
        2 | 3 => {}
        5 => {
            hasher.update(metadata);
            hasher.update(&[5, 0xff]);
            hasher.update(&length.to_be_bytes());
        }
        version => {
            hasher.update(&[version, 0xff]);
            hasher.update(&(length as u32).to_be_bytes());
        }
    }
}

/// Returns the length in bytes of a version 6 signature's salt (RFC 9580, 9.5); `None` for a hash algorithm that such
/// signatures must not have.
pub fn salt_length(algorithm: HashAlgorithm) -> Option<usize> {
    match algorithm {
        HashAlgorithm::SHA224 | HashAlgorithm::SHA256 | HashAlgorithm::SHA3_256 => Some(16),
        HashAlgorithm::SHA384 => Some(24),
        HashAlgorithm::SHA512 | HashAlgorithm::SHA3_512 => Some(32),
        _ => None,
    }
}
