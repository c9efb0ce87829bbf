//! The algorithm-specific public fields of a key packet (RFC 9580, 5.5.5).

use crate::curve;
use crate::error::Flaw;
use crate::fields::{Fields, Number};
use verify::PublicKeyAlgorithm;

/// The algorithm-specific public fields.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Material<'a> {
    Rsa {
        n: Number<'a>,
    },
    Dsa {
        p: Number<'a>,
        q: Number<'a>,
        g: Number<'a>,
        y: Number<'a>,
    },
    Elgamal {
        p: Number<'a>,
        g: Number<'a>,
        y: Number<'a>,
    },
    Curve {
        oid: &'a [u8],
        point: Number<'a>,
    },
    /// A key of an algorithm of RFC 9580 or RFC 9980 with fixed parameters and size.
    Fixed,
    /// A key of GnuPG 2.5 (LibrePGP): a point on a curve, and a key of Kyber.
    Kyber {
        oid: &'a [u8],
        kyber: &'a [u8],
    },
    Unknown,
}

/// Reads a point of the curve with this object identifier.
pub(crate) fn point<'a>(oid: &[u8], fields: &mut Fields<'a>) -> Result<Number<'a>, Flaw> {
    if curve::has_bare_points(oid) { fields.octets() } else { fields.number() }
}

impl<'a> Material<'a> {
    /// Parses the fields of a key of `algorithm`; all remaining bytes if the algorithm is unknown in keys of this version.
    pub(crate) fn read(
        algorithm: PublicKeyAlgorithm,
        version: u8,
        fields: &mut Fields<'a>,
    ) -> Result<Self, Flaw> {
        type Algorithm = PublicKeyAlgorithm;
        if let Some(length) = algorithm.fixed_public_length().filter(|_| algorithm.suits_version(version)) {
            return fields.take(length).map(|_| Material::Fixed);
        }
        match algorithm {
            Algorithm::RSA | Algorithm::RSA_ENCRYPT | Algorithm::RSA_SIGN => {
                let n = fields.number()?;
                fields.number()?;
                Ok(Material::Rsa { n })
            }
            Algorithm::DSA => Ok(Material::Dsa {
                p: fields.number()?,
                q: fields.number()?,
                g: fields.number()?,
                y: fields.number()?,
            }),
            Algorithm::ELGAMAL | Algorithm::ELGAMAL_BOTH => {
                Ok(Material::Elgamal { p: fields.number()?, g: fields.number()?, y: fields.number()? })
            }
            Algorithm::ECDSA | Algorithm::EDDSA_LEGACY => {
                let oid = fields.counted()?;
                Ok(Material::Curve { oid, point: point(oid, fields)? })
            }
            Algorithm::ECDH => {
                let oid = fields.counted()?;
                let point = point(oid, fields)?;
                fields.counted()?;
                Ok(Material::Curve { oid, point })
            }
            Algorithm::KYBER if version < 6 => {
                let oid = fields.counted()?;
                fields.number()?;
                let length = fields.u32()? as usize;
                Ok(Material::Kyber { oid, kyber: fields.take(length)? })
            }
            _ => {
                fields.take(fields.rest().len())?;
                Ok(Material::Unknown)
            }
        }
    }
}
