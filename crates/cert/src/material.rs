//! The algorithm-specific public fields of a key packet (RFC 9580, 5.5.5).

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
    /// A key of an algorithm of RFC 9580 with a fixed curve and size.
    Fixed,
    Unknown,
}

impl<'a> Material<'a> {
    /// Parses the fields of a key of `algorithm`; all remaining bytes if the algorithm is unknown.
    pub(crate) fn read(algorithm: PublicKeyAlgorithm, fields: &mut Fields<'a>) -> Result<Self, Flaw> {
        type Algorithm = PublicKeyAlgorithm;
        let fixed = |fields: &mut Fields<'a>, count| fields.take(count).map(|_| Material::Fixed);
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
                Ok(Material::Curve { oid: fields.counted()?, point: fields.number()? })
            }
            Algorithm::ECDH => {
                let material = Material::Curve { oid: fields.counted()?, point: fields.number()? };
                fields.counted()?;
                Ok(material)
            }
            Algorithm::X25519 | Algorithm::ED25519 => fixed(fields, 32),
            Algorithm::X448 => fixed(fields, 56),
            Algorithm::ED448 => fixed(fields, 57),
            _ => {
                fields.take(fields.rest().len())?;
                Ok(Material::Unknown)
            }
        }
    }
}
