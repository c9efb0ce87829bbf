//! Parses key packets (RFC 9580, 5.5).

use crate::error::Flaw;
use crate::facts::KeyFacts;
use crate::fields::{Fields, Number};
use crate::identity::{Fingerprint, Timestamp};
use crate::material::{self, Material};
use crate::packet::Tag;
use crate::{curve, keygrip};
use verify::{PublicKey, PublicKeyAlgorithm, limits, naming};

const PACKET: &str = "a key";

/// The parsed body of a key packet.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    /// The version of the packet: 4, 5 (LibrePGP) or 6.
    pub version: u8,
    /// The creation time.
    pub created: Timestamp,
    /// The algorithm.
    pub algorithm: PublicKeyAlgorithm,
    /// The body of the public key packet, over which fingerprints and signatures are computed.
    pub public: &'a [u8],
    /// The algorithm-specific public fields, the end of `public`.
    pub material: &'a [u8],
    /// The bytes after the public part; empty in public key packets.
    pub secret: &'a [u8],
    fields: Material<'a>,
}

/// One of a key's algorithm-specific public fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter<'a> {
    /// A number, most significant byte first, without leading zeros, or a point of a curve, which is written as one.
    Number(&'a [u8]),
    /// Other bytes with their length byte: a curve, or the parameters of a key derivation.
    Bytes(&'a [u8]),
}

impl Parameter<'_> {
    /// Returns the size in bits of the number or bytes.
    pub fn bits(&self) -> u32 {
        match *self {
            Self::Number(bytes) => Number { bytes }.bits(),
            Self::Bytes(bytes) => bytes.len() as u32 * 8,
        }
    }
}

/// Returns the object identifier, without its length byte, and the size in bits of the curve with a name of GnuPG's or
/// libgcrypt's; `None` for an unknown one.
pub fn curve(name: &str) -> Option<(&'static [u8], u32)> {
    let curve = curve::named(name)?;
    Some((curve.oids.first().copied()?, curve.bits))
}

/// Parses the body of a public key packet.
pub fn parse_public(body: &[u8]) -> Result<Key<'_>, Flaw> {
    let key = parse(body)?;
    if key.secret.is_empty() { Ok(key) } else { Err(Flaw::Overlong(PACKET)) }
}

/// Parses the public part of the body of a secret key packet.
pub fn parse_secret(body: &[u8]) -> Result<Key<'_>, Flaw> {
    let key = parse(body)?;
    match key.fields {
        // Without the length (version 4), the end of the public part is unknown.
        Material::Unknown if key.version == 4 => Err(Flaw::InseparableSecret(key.algorithm.0)),
        _ if key.secret.is_empty() => Err(Flaw::CutShort("a secret key")),
        _ => Ok(key),
    }
}

fn parse(body: &[u8]) -> Result<Key<'_>, Flaw> {
    let mut fields = Fields::new(body, PACKET);
    let version = match fields.u8()? {
        version @ 4..=6 => version,
        version @ (2 | 3) => return Err(Flaw::ObsoleteKey(version)),
        version => return Err(Flaw::UnknownKey(version)),
    };
    let created = Timestamp(fields.u32()?);
    let algorithm = PublicKeyAlgorithm(fields.u8()?);
    let (read, material, secret) = if version == 4 {
        let all = fields.rest();
        let read = Material::read(algorithm, version, &mut fields)?;
        let secret = fields.rest();
        (read, &all[..all.len() - secret.len()], secret)
    } else {
        let count = fields.u32()? as usize;
        let material = fields.take(count)?;
        let mut inner = Fields::new(material, PACKET);
        let read = Material::read(algorithm, version, &mut inner)?;
        inner.finish()?;
        (read, material, fields.rest())
    };
    let public = &body[..body.len() - secret.len()];
    // The length is two bytes in the input of version 4 fingerprints.
    let limit = if version == 4 { usize::from(u16::MAX) } else { limits::MAX_KEY_PACKET };
    if public.len() > limit || body.len() > limits::MAX_KEY_PACKET {
        return Err(Flaw::TooLarge { tag: Tag::PUBLIC_KEY.0, length: body.len() as u32 });
    }
    Ok(Key { version, created, algorithm, public, material, secret, fields: read })
}

impl<'a> Key<'a> {
    /// Returns the fingerprint (RFC 9580, 5.5.4; LibrePGP for version 5).
    pub fn fingerprint(&self) -> Fingerprint {
        let length = self.public.len() as u32;
        let long = length.to_be_bytes();
        match self.version {
            4 => Fingerprint::V4(naming::sha1(&[&[0x99, long[2], long[3]], self.public])),
            5 => Fingerprint::V5(naming::sha256(&[&[0x9a], &long, self.public])),
            _ => Fingerprint::V6(naming::sha256(&[&[0x9b], &long, self.public])),
        }
    }

    /// Returns the size in bits as GnuPG defines it: that of the modulus, the prime or the curve; 0 if unknown. The size of
    /// a key of RFC 9980 is that of its public fields, and of GnuPG's Kyber the number in its name.
    pub fn bits(&self) -> u32 {
        match self.fields {
            Material::Rsa { n } => n.bits(),
            Material::Dsa { p, .. } | Material::Elgamal { p, .. } => p.bits(),
            Material::Curve { oid, .. } => curve::by_oid(oid).map_or(0, |curve| curve.bits),
            Material::Fixed if self.algorithm.is_post_quantum() => self.material.len() as u32 * 8,
            Material::Kyber { kyber, .. } => match kyber.len() {
                1184 => 768,
                1568 => 1024,
                _ => 0,
            },
            Material::Fixed => match self.algorithm {
                PublicKeyAlgorithm::X448 | PublicKeyAlgorithm::ED448 => 448,
                _ => 255,
            },
            Material::Unknown => 0,
        }
    }

    /// Returns whether its algorithm is known, so that its fields were parsed.
    pub(crate) fn is_of_known_algorithm(&self) -> bool {
        !matches!(self.fields, Material::Unknown)
    }

    /// Returns the object identifier of the curve, without its length byte.
    pub fn curve(&self) -> Option<&'a [u8]> {
        match self.fields {
            Material::Curve { oid, .. } | Material::Kyber { oid, .. } => Some(oid),
            _ => None,
        }
    }

    /// Returns the public key for verification.
    pub fn public_key(&self) -> PublicKey<'a> {
        PublicKey { algorithm: self.algorithm, material: self.material }
    }

    /// Returns the algorithm-specific public fields; none for an unknown algorithm.
    pub fn parameters(&self) -> Vec<Parameter<'a>> {
        let is_number: &[bool] = match (self.fields, self.algorithm) {
            (Material::Rsa { .. }, _) => &[true; 2],
            (Material::Dsa { .. }, _) => &[true; 4],
            (Material::Elgamal { .. }, _) => &[true; 3],
            (Material::Curve { .. }, PublicKeyAlgorithm::ECDH) => &[false, true, false],
            (Material::Curve { .. }, _) => &[false, true],
            (Material::Fixed, _) => return vec![Parameter::Bytes(self.material)],
            (Material::Kyber { .. } | Material::Unknown, _) => &[],
        };
        let mut fields = Fields::new(self.material, PACKET);
        let parameter = |&is_number: &bool| {
            if is_number {
                let number = match self.fields {
                    Material::Curve { oid, .. } => material::point(oid, &mut fields),
                    _ => fields.number(),
                };
                return number.ok().map(|number| Parameter::Number(number.bytes));
            }
            let all = fields.rest();
            fields.counted().ok().map(|bytes| Parameter::Bytes(&all[..bytes.len() + 1]))
        };
        is_number.iter().map_while(parameter).collect()
    }

    /// Returns the facts of the key.
    pub fn facts(&self) -> KeyFacts {
        KeyFacts {
            fingerprint: self.fingerprint(),
            created: self.created,
            algorithm: self.algorithm,
            bits: self.bits(),
            curve: self.curve().map(<[u8]>::to_vec),
            keygrip: keygrip::keygrip(&self.fields),
            subgroup_bits: match self.fields {
                Material::Dsa { q, .. } => q.bits() as u16,
                _ => 0,
            },
        }
    }
}
