//! Ed448 and X448 keys in the form of LibrePGP: points, secrets and signatures are written as numbers are, but with the
//! zeros before them.

use cert::key::Key;
use verify::PublicKeyAlgorithm;

use crate::fields::{Fields, write_octets};
use crate::raw_key;

/// The object identifier of Ed448 without its length byte, 1.3.101.113.
pub const ED448_OID: &[u8] = &[0x2b, 0x65, 0x71];
/// The object identifier of X448 without its length byte, 1.3.101.111.
pub const X448_OID: &[u8] = &[0x2b, 0x65, 0x6f];

/// Returns whether it is an Ed448 key in this form.
pub fn is_ed448(key: &Key<'_>) -> bool {
    key.algorithm == PublicKeyAlgorithm::EDDSA_LEGACY && key.curve() == Some(ED448_OID)
}

/// Returns whether it is an X448 key in this form.
pub fn is_x448(key: &Key<'_>) -> bool {
    key.algorithm == PublicKeyAlgorithm::ECDH && key.curve() == Some(X448_OID)
}

/// Reads both parts of a key; `None` if they are malformed, or on another curve.
pub(crate) fn numbers<'a>(key: &Key<'a>, secret: &'a [u8]) -> Option<raw_key::Numbers<'a>> {
    let mut fields = Fields(secret);
    let secret = fields.octets().filter(|_| fields.0.is_empty())?;
    let point = point(key.material)?;
    match key.curve()? {
        ED448_OID => raw_key::Numbers::ed448(point, secret),
        X448_OID => raw_key::Numbers::x448(point, secret),
        _ => None,
    }
}

/// Reads the point of a public key, which comes after the curve.
pub(crate) fn point(material: &[u8]) -> Option<&[u8]> {
    let mut fields = Fields(material);
    fields.counted()?;
    fields.octets()
}

/// Returns the point of an ephemeral key with the zeros before it; `None` if it is too long.
pub fn ephemeral(number: &[u8]) -> Option<[u8; 56]> {
    let mut point = [0; 56];
    point[56_usize.checked_sub(number.len())?..].copy_from_slice(number);
    Some(point)
}

/// Encodes a signature as two numbers.
pub(crate) fn fields(signature: &[u8]) -> Vec<u8> {
    let (r, s) = signature.split_at(signature.len() / 2);
    [&write_octets(r)[..], &write_octets(s)].concat()
}
