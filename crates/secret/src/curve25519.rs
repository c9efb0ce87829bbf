//! Ed25519 and X25519 keys by aws-lc: derives public keys from secret ones, verifies that they match, and signs.
//!
//! Most keys are of this kind, and initialising OpenSSL takes a millisecond. aws-lc's random generator, whose first use
//! would take even longer, is not needed.

use aws_lc_rs::agreement::{self, PrivateKey};
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use cert::key::Key;
use subtle::ConstantTimeEq as _;
use verify::PublicKeyAlgorithm;
use zeroize::Zeroizing;

use crate::fields::{Fields, write_number};

/// The object identifier of Ed25519 in version 4 keys, without its length byte.
pub const ED25519_OID: &[u8] = &[0x2b, 6, 1, 4, 1, 0xda, 0x47, 0x0f, 1];
/// The object identifier of Curve25519 in version 4 keys, without its length byte.
pub const CURVE25519_OID: &[u8] = &[0x2b, 6, 1, 4, 1, 0x97, 0x55, 1, 5, 1];

/// The prefix of a point in the native form of its curve.
pub const NATIVE: u8 = 0x40;

/// The kind of a key on the curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Signing.
    Ed25519,
    /// Key agreement, which encrypts a session key.
    X25519,
}

impl Kind {
    /// Returns the kind of a key; `None` for a key on no curve, or on another one.
    pub(crate) fn of(key: &Key<'_>) -> Option<Self> {
        match (key.algorithm, key.curve()) {
            (PublicKeyAlgorithm::ED25519, _) | (PublicKeyAlgorithm::EDDSA_LEGACY, Some(ED25519_OID)) => {
                Some(Self::Ed25519)
            }
            (PublicKeyAlgorithm::X25519, _) | (PublicKeyAlgorithm::ECDH, Some(CURVE25519_OID)) => {
                Some(Self::X25519)
            }
            _ => None,
        }
    }

    /// Derives the public key from a secret number; `None` without memory.
    pub fn public_of(self, secret: &[u8; 32]) -> Option<[u8; 32]> {
        match self {
            Self::Ed25519 => {
                let pair = Ed25519KeyPair::from_seed_unchecked(secret).ok()?;
                pair.public_key().as_ref().try_into().ok()
            }
            Self::X25519 => {
                let key = PrivateKey::from_private_key(&agreement::X25519, secret).ok()?;
                key.compute_public_key().ok()?.as_ref().try_into().ok()
            }
        }
    }
}

/// The public and the secret part of a key.
pub(crate) struct Numbers {
    kind: Kind,
    public: [u8; 32],
    /// In a place of its own, so that no copies are left where the numbers are moved from.
    secret: Box<Zeroizing<[u8; 32]>>,
}

impl Numbers {
    /// Reads both parts of a key of this kind in the encoding of packets; `None` if they are malformed.
    pub(crate) fn read(kind: Kind, key: &Key<'_>, material: &[u8]) -> Option<Self> {
        if matches!(key.algorithm, PublicKeyAlgorithm::ED25519 | PublicKeyAlgorithm::X25519) {
            let secret = padded(material).filter(|_| material.len() == 32)?;
            return Some(Self { kind, public: key.material.try_into().ok()?, secret });
        }
        let mut fields = Fields(material);
        let number = fields.number().filter(|_| fields.0.is_empty())?;
        let mut secret = padded(number)?;
        if kind == Kind::X25519 {
            // OpenPGP writes this number in the reverse byte order.
            secret.reverse();
        }
        Some(Self { kind, public: point(key.material)?, secret })
    }

    /// Returns whether both parts belong together.
    pub(crate) fn belong(&self) -> bool {
        self.kind.public_of(&self.secret).is_some_and(|made| made.ct_eq(&self.public).into())
    }

    /// Signs a digest; `None` for a key that does not sign.
    pub(crate) fn sign(&self, digest: &[u8]) -> Option<[u8; 64]> {
        if self.kind != Kind::Ed25519 {
            return None;
        }
        let pair = Ed25519KeyPair::from_seed_unchecked(self.secret()).ok()?;
        pair.sign(digest).as_ref().try_into().ok()
    }

    /// Returns the kind of the key.
    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the secret part, in the byte order of RFC 7748.
    pub(crate) fn secret(&self) -> &[u8] {
        &**self.secret
    }
}

/// Encodes a signature for its packet: as bytes, or as two numbers (RFC 9580, 5.2.3.3 and 5.2.3.4).
pub(crate) fn fields(algorithm: PublicKeyAlgorithm, signature: &[u8; 64]) -> Vec<u8> {
    if algorithm == PublicKeyAlgorithm::ED25519 {
        return signature.to_vec();
    }
    let (r, s) = signature.split_at(32);
    [&write_number(r)[..], &write_number(s)].concat()
}

/// Reads the point of a public key, which comes after the curve.
pub(crate) fn point(material: &[u8]) -> Option<[u8; 32]> {
    let mut fields = Fields(material);
    fields.counted()?;
    fields.number()?.strip_prefix(&[NATIVE])?.try_into().ok()
}

/// Copies a secret number, padded with leading zeros; `None` if it is too long.
fn padded(number: &[u8]) -> Option<Box<Zeroizing<[u8; 32]>>> {
    let mut secret = Box::new(Zeroizing::new([0; 32]));
    secret[32_usize.checked_sub(number.len())?..].copy_from_slice(number);
    Some(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_public_halves_are_those_of_rfc_8032_and_rfc_7748() {
        // RFC 8032, 7.1, test 1.
        let seed = hex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
        let public = hex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
        assert_eq!(Kind::Ed25519.public_of(&seed), Some(public));
        // RFC 7748, 6.1, Alice.
        let secret = hex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a");
        let public = hex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
        assert_eq!(Kind::X25519.public_of(&secret), Some(public));
    }

    #[test]
    fn a_key_belongs_to_its_own_public_half_only() {
        for kind in [Kind::Ed25519, Kind::X25519] {
            let secret = Box::new(Zeroizing::new([7; 32]));
            let public = kind.public_of(&secret).expect("memory");
            let mut numbers = Numbers { kind, public, secret };
            assert!(numbers.belong(), "{kind:?}");
            numbers.public[3] ^= 1;
            assert!(!numbers.belong(), "{kind:?}");
        }
    }

    fn hex(text: &str) -> [u8; 32] {
        let byte = |place| u8::from_str_radix(&text[2 * place..2 * place + 2], 16).expect("digits");
        std::array::from_fn(byte)
    }
}
