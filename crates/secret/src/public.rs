//! Converts the public numbers of a key to another algorithm.

use cert::key::Key;
use symmetric::Cipher;
use verify::{HashAlgorithm, PublicKeyAlgorithm};

use crate::fields::Fields;

/// Returns the fields after the point of an ECDH key for a curve by its size in bits: the hash algorithm and the cipher
/// that session keys are wrapped with (RFC 9580, 11.5.1, table 30); `None` if there is no such curve.
pub fn wrapping(bits: u32) -> Option<[u8; 4]> {
    let (hash, cipher) = match bits {
        256 => (HashAlgorithm::SHA256, Cipher::Aes128),
        384 => (HashAlgorithm::SHA384, Cipher::Aes192),
        512 | 521 => (HashAlgorithm::SHA512, Cipher::Aes256),
        _ => return None,
    };
    Some([3, 1, hash.0, cipher.number()])
}

/// Returns the algorithm-specific fields of a key for another algorithm; `None` if they cannot be converted.
pub(crate) fn material_for(key: &Key<'_>, algorithm: PublicKeyAlgorithm) -> Option<Vec<u8>> {
    type Algorithm = PublicKeyAlgorithm;
    match (key.algorithm, algorithm) {
        (own, wanted) if own == wanted || (own.is_rsa() && wanted.is_rsa()) => Some(key.material.to_vec()),
        (Algorithm::ECDH, Algorithm::ECDSA) => Some(curve_and_point(key)?.to_vec()),
        (Algorithm::ECDSA, Algorithm::ECDH) => Some([curve_and_point(key)?, &wrapping(key.bits())?].concat()),
        _ => None,
    }
}

/// Returns the fields that ECDH and ECDSA keys have in common.
fn curve_and_point<'a>(key: &Key<'a>) -> Option<&'a [u8]> {
    let mut fields = Fields(key.material);
    fields.counted()?;
    fields.number()?;
    let length = key.material.len() - fields.0.len();
    // Not for Curve25519 and Curve448, where the points of keys that sign are written in another way.
    wrapping(key.bits()).map(|_| &key.material[..length])
}
