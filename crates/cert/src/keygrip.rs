//! libgcrypt's keygrip: the SHA-1 of a key's public parameters.

use crate::curve::{self, Curve, Form};
use crate::fields::Number;
use crate::identity::Keygrip;
use crate::key::Material;
use verify::naming::sha1;

/// Returns the keygrip; `None` for a key of an unknown algorithm or curve.
///
/// RSA: the modulus with a leading zero octet, if its first bit is set. Everything else: each parameter as
/// `(1:<letter><length>:<octets>)`.
pub(crate) fn keygrip(fields: &Material<'_>) -> Option<Keygrip> {
    match *fields {
        Material::Rsa { n } => {
            let zero: &[u8] = if n.bits() % 8 == 0 { &[0] } else { &[] };
            Some(Keygrip(sha1(&[zero, n.octets])))
        }
        Material::Dsa { p, q, g, y } => {
            Some(of_parameters(&[(b'p', p.octets), (b'q', q.octets), (b'g', g.octets), (b'y', y.octets)]))
        }
        Material::Elgamal { p, g, y } => {
            Some(of_parameters(&[(b'p', p.octets), (b'g', g.octets), (b'y', y.octets)]))
        }
        Material::Curve { oid, point } => curve::by_oid(oid).map(|curve| of_point(curve, point)),
        // GnuPG has no keygrip for RFC 9580's packets; the same key has one in the older form.
        Material::Fixed | Material::Unknown => None,
    }
}

fn of_point(curve: &Curve, point: Number<'_>) -> Keygrip {
    let q = match (curve.form, point.octets) {
        // The octet 0x40 marks a point in its curve's native form.
        (Form::Edwards | Form::Montgomery, [0x40, native @ ..]) => native,
        (_, octets) => octets,
    };
    let Curve { p, a, b, g, n, .. } = *curve;
    of_parameters(&[(b'p', p), (b'a', a), (b'b', b), (b'g', g), (b'n', n), (b'q', q)])
}

fn of_parameters(parameters: &[(u8, &[u8])]) -> Keygrip {
    let mut text = Vec::with_capacity(1024);
    for &(letter, octets) in parameters {
        text.extend(format!("(1:{}{}:", char::from(letter), octets.len()).bytes());
        text.extend(octets);
        text.push(b')');
    }
    Keygrip(sha1(&[&text]))
}
