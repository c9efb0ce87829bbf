//! gpg's names of algorithms and curves.

use std::borrow::Cow;
use std::fmt::Write as _;

use engine::cert::facts::KeyFacts;
use engine::configuration::Compat;
use verify::PublicKeyAlgorithm as Algorithm;

use super::digits::decimal;
use crate::algorithms;

/// Appends algorithm and size: `rsa4096`, `ed25519`, or `4096R` in the legacy form.
pub(crate) fn description(key: &KeyFacts, legacy: bool, compat: Compat, out: &mut Vec<u8>) {
    if legacy {
        return legacy_description(key, out);
    }
    let prefix: &[u8] = match key.algorithm {
        Algorithm::RSA | Algorithm::RSA_ENCRYPT | Algorithm::RSA_SIGN => b"rsa",
        Algorithm::ELGAMAL => b"elg",
        Algorithm::DSA => b"dsa",
        Algorithm::ELGAMAL_BOTH => b"xxx",
        _ => return named(key, compat, out),
    };
    out.extend(prefix);
    decimal(key.bits, out);
}

fn named(key: &KeyFacts, compat: Compat, out: &mut Vec<u8>) {
    match (key.algorithm, curve(key, compat)) {
        (Algorithm::X25519, _) => out.extend(b"cv25519"),
        (Algorithm::X448, _) => out.extend(b"cv448"),
        (Algorithm::ED25519, _) => out.extend(b"ed25519"),
        (Algorithm::ED448, _) => out.extend(b"ed448"),
        (Algorithm::KYBER, Some(curve)) => {
            out.extend(b"ky");
            decimal(key.bits, out);
            out.push(b'_');
            out.extend(curve.name().as_bytes());
        }
        (_, Some(Curve::Known(name))) => out.extend(name.as_bytes()),
        (_, Some(Curve::Other(oid))) => {
            out.extend(b"E_");
            out.extend(oid.as_bytes());
        }
        (algorithm, None) => match algorithm.post_quantum_name() {
            Some(name) => out.extend(name.as_bytes()),
            None => {
                out.extend(b"unknown_");
                decimal(algorithm.0.into(), out);
            }
        },
    }
}

fn legacy_description(key: &KeyFacts, out: &mut Vec<u8>) {
    let start = out.len();
    decimal(key.bits, out);
    while out.len() - start < 4 {
        out.insert(start, b' ');
    }
    out.push(match key.algorithm {
        Algorithm::RSA => b'R',
        Algorithm::RSA_ENCRYPT => b'r',
        Algorithm::RSA_SIGN => b's',
        Algorithm::ELGAMAL => b'g',
        Algorithm::ELGAMAL_BOTH => b'G',
        Algorithm::DSA => b'D',
        Algorithm::ECDH => b'e',
        Algorithm::ECDSA | Algorithm::EDDSA_LEGACY => b'E',
        _ => b'?',
    });
}

/// Returns the curve's name, or its object identifier where it has none; `None` for keys without a curve.
pub(super) fn curve_name(key: &KeyFacts, compat: Compat) -> Option<Cow<'static, str>> {
    curve(key, compat).map(Curve::name)
}

/// Says whether a key meets the rules of the German VS-NfD, which gpg reports in field 18 of its records.
pub(super) fn is_vs_compliant(key: &KeyFacts, compat: Compat) -> bool {
    match key.algorithm {
        Algorithm::RSA | Algorithm::RSA_ENCRYPT | Algorithm::RSA_SIGN => {
            matches!(key.bits, 2048 | 3072 | 4096)
        }
        Algorithm::DSA => matches!(key.bits, 2048 | 3072) && key.subgroup_bits == 256,
        Algorithm::ECDH | Algorithm::ECDSA => matches!(
            curve(key, compat),
            Some(Curve::Known("brainpoolP256r1" | "brainpoolP384r1" | "brainpoolP512r1"))
        ),
        _ => false,
    }
}

enum Curve {
    Known(&'static str),
    /// In dotted form.
    Other(String),
}

impl Curve {
    fn name(self) -> Cow<'static, str> {
        match self {
            Self::Known(name) => Cow::Borrowed(name),
            Self::Other(oid) => Cow::Owned(oid),
        }
    }
}

fn curve(key: &KeyFacts, compat: Compat) -> Option<Curve> {
    let oid = key.curve.as_deref()?;
    let name = algorithms::curve_name(oid, compat);
    Some(name.map_or_else(|| Curve::Other(dotted(oid)), Curve::Known))
}

/// What gpg prints for an object identifier with an arc that is too large or cannot be.
const BOGUS_OID: &str = "1.3.6.1.4.1.11591.2.12242973";

/// Writes an object identifier in dotted form (X.690, 8.19); an arc that is cut short ends where it is cut.
pub(crate) fn dotted(oid: &[u8]) -> String {
    let arcs: Option<Vec<u64>> = oid.chunk_by(|byte, _| byte & 0x80 != 0).map(arc).collect();
    let Some(arcs) = arcs else { return BOGUS_OID.into() };
    let Some((&first, rest)) = arcs.split_first() else { return String::new() };
    let (root, second) = match first {
        0..40 => (0, first),
        40..80 => (1, first - 40),
        _ => (2, first - 80),
    };
    if root < 2 && oid[0] & 0x80 != 0 {
        return BOGUS_OID.into();
    }
    let mut text = format!("{root}.{second}");
    rest.iter().for_each(|arc| write!(text, ".{arc}").expect("a string takes everything"));
    text
}

/// Reads one arc, seven bits to the byte; `None` if it does not fit 64 bits.
fn arc(bytes: &[u8]) -> Option<u64> {
    bytes.iter().try_fold(0u64, |arc, byte| (arc >> 57 == 0).then_some(arc << 7 | u64::from(byte & 0x7f)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_identifier_is_written_with_dots() {
        assert_eq!(dotted(&[0x2b, 0x81, 0x04, 0x00, 0x22]), "1.3.132.0.34");
        assert_eq!(dotted(&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]), "1.2.840.10045.3.1.7");
        assert_eq!(dotted(&[0x88, 0x37]), "2.999");
        assert_eq!(dotted(&[0x2b, 0x81]), "1.3.1");
        assert_eq!(dotted(&[]), "");
    }

    #[test]
    fn an_arc_that_is_too_large_makes_it_bogus() {
        let mut large = vec![0xff; 9];
        large.push(0x7f);
        for oid in [large, vec![0x80, 0x01]] {
            assert_eq!(dotted(&oid), BOGUS_OID, "{oid:x?}");
        }
    }
}
