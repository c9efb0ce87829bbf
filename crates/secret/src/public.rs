//! Converts the public numbers of a key to another algorithm.

use cert::key::Key;
use verify::PublicKeyAlgorithm;

use crate::fields::Fields;

/// The fields after the point of an ECDH key: the hash algorithm and the cipher that session keys are wrapped with, by
/// the size of the curve in bits (RFC 9580, 11.5.1).
const WRAPPING: [(u32, [u8; 4]); 4] =
    [(256, [3, 1, 8, 7]), (384, [3, 1, 9, 8]), (512, [3, 1, 10, 9]), (521, [3, 1, 10, 9])];

/// Returns the algorithm-specific fields of a key for another algorithm; `None` if they cannot be converted.
pub(crate) fn material_for(key: &Key<'_>, algorithm: PublicKeyAlgorithm) -> Option<Vec<u8>> {
    type Algorithm = PublicKeyAlgorithm;
    match (key.algorithm, algorithm) {
        (own, wanted) if own == wanted || (own.is_rsa() && wanted.is_rsa()) => Some(key.material.to_vec()),
        (Algorithm::ECDH, Algorithm::ECDSA) => Some(curve_and_point(key)?.to_vec()),
        (Algorithm::ECDSA, Algorithm::ECDH) => {
            let (_, wrapping) = WRAPPING.iter().find(|(bits, _)| *bits == key.bits())?;
            Some([curve_and_point(key)?, wrapping].concat())
        }
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
    (WRAPPING.iter().any(|(bits, _)| *bits == key.bits())).then(|| &key.material[..length])
}
