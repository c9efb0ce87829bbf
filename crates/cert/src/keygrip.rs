//! libgcrypt's keygrip: the SHA-1 of the public parameters of a key.

use crate::curve::{self, Curve};
use crate::fields::Number;
use crate::identity::Keygrip;
use crate::material::Material;
use verify::naming::sha1;

/// Returns the keygrip; `None` for a key of an unknown algorithm or curve.
///
/// For RSA it is the digest of the modulus, for other algorithms that of all parameters, each encoded as
/// `(1:<letter><length>:<bytes>)`.
pub(crate) fn keygrip(fields: &Material<'_>) -> Option<Keygrip> {
    match *fields {
        Material::Rsa { n } => Some(Keygrip(sha1(&[sign_byte(n), n.bytes]))),
        Material::Dsa { p, q, g, y } => Some(of_numbers([(b'p', p), (b'q', q), (b'g', g), (b'y', y)])),
        Material::Elgamal { p, g, y } => Some(of_numbers([(b'p', p), (b'g', g), (b'y', y)])),
        Material::Curve { oid, point } => curve::by_oid(oid).map(|curve| of_point(curve, oid, point)),
        // GnuPG defines none for the key packets of RFC 9580, and two for Kyber.
        Material::Fixed | Material::Kyber { .. } | Material::Unknown => None,
    }
}

/// Returns the zero byte before a number whose highest bit is set, since libgcrypt writes signed numbers.
fn sign_byte(number: Number<'_>) -> &'static [u8] {
    if number.bits().is_multiple_of(8) { &[0] } else { &[] }
}

fn of_numbers<const N: usize>(numbers: [(u8, Number<'_>); N]) -> Keygrip {
    let mut text = Vec::with_capacity(2048);
    for (letter, number) in numbers {
        let sign = sign_byte(number);
        let bytes = sign.iter().chain(number.bytes).copied();
        write_parameter(&mut text, letter, sign.len() + number.bytes.len(), bytes);
    }
    Keygrip(sha1(&[&text]))
}

fn of_point(curve: &Curve, oid: &[u8], point: Number<'_>) -> Keygrip {
    let Curve { p, a, b, g, n, .. } = *curve;
    let mut text = Vec::with_capacity(1024);
    for (letter, number) in [(b'p', p), (b'a', a), (b'b', b), (b'g', g), (b'n', n)] {
        write_parameter(&mut text, letter, number.len() / 2, curve::bytes(number));
    }
    let point = curve::native_point(oid, point.bytes);
    write_parameter(&mut text, b'q', point.len(), point.iter().copied());
    Keygrip(sha1(&[&text]))
}

fn write_parameter(text: &mut Vec<u8>, letter: u8, length: usize, bytes: impl Iterator<Item = u8>) {
    text.extend_from_slice(b"(1:");
    text.push(letter);
    text.extend_from_slice(length.to_string().as_bytes());
    text.push(b':');
    text.extend(bytes);
    text.push(b')');
}
