//! Generates the key material of one key: RSA by [`crate::rsa`], DSA and Elgamal by [`crate::group`], curves other than
//! Curve25519 by sequoia-openpgp.

use crate::algorithm::{Algorithm, Version};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::{group, rsa};
use cert::Timestamp;
use secret::curve25519::{CURVE25519_OID, ED25519_OID, Kind, NATIVE};
use secret::{Role, Unlocked, wrapping, write_number};
use sequoia_openpgp::crypto::mpi;
use sequoia_openpgp::packet::key::{Key4, PrimaryRole, SecretKeyMaterial, SecretParts};
use sequoia_openpgp::serialize::MarshalInto as _;
use sequoia_openpgp::types::Curve;
use verify::PublicKeyAlgorithm;
use zeroize::Zeroizing;

/// Whether a key signs or encrypts, which decides its kind on a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyUse {
    Sign,
    Encrypt,
}

/// The fields of a key packet that depend on the algorithm.
struct Material {
    algorithm: PublicKeyAlgorithm,
    public: Vec<u8>,
    secret: Zeroizing<Vec<u8>>,
}

/// Generates a key, and tries it: its signature must verify, or it must decrypt what was encrypted to it.
pub(crate) fn generate(
    version: Version,
    algorithm: Algorithm,
    purpose: KeyUse,
    role: Role,
    created: Timestamp,
    progress: &mut dyn Progress,
) -> Result<Unlocked> {
    let material = match algorithm {
        Algorithm::Rsa(size) => rsa_material(&rsa::generate(size, progress)?),
        Algorithm::Dsa(_) | Algorithm::Elgamal(_) if version != Version::V4 => {
            return Err(Error::Version { algorithm: algorithm.to_string() });
        }
        Algorithm::Dsa(size) => group_material(PublicKeyAlgorithm::DSA, &group::dsa(size, progress)?),
        Algorithm::Elgamal(size) => {
            group_material(PublicKeyAlgorithm::ELGAMAL, &group::elgamal(size, progress)?)
        }
        Algorithm::Curve25519 => curve25519_material(purpose, version)?,
        curve => curve_material(curve, purpose).map_err(|error| Error::Curve(error.into()))?,
    };
    let public = public_body(version, created, &material);
    let key = Unlocked::new(role, &public, &material.secret)?;
    key.try_out()?;
    Ok(key)
}

/// Returns the body of the public key packet (RFC 9580, 5.5.2).
fn public_body(version: Version, created: Timestamp, material: &Material) -> Vec<u8> {
    let mut body = vec![version.number()];
    body.extend(created.0.to_be_bytes());
    body.push(material.algorithm.0);
    if version == Version::V6 {
        body.extend((material.public.len() as u32).to_be_bytes());
    }
    body.extend(&material.public);
    body
}

fn rsa_material(numbers: &rsa::Numbers) -> Material {
    let public =
        [&numbers.n, &numbers.e].into_iter().flat_map(|number| write_number(number).to_vec()).collect();
    let secret = [&numbers.d, &numbers.p, &numbers.q, &numbers.u];
    let mut written = Zeroizing::new(Vec::with_capacity(secret.iter().map(|number| number.len() + 2).sum()));
    for number in secret {
        written.extend_from_slice(&write_number(number));
    }
    Material { algorithm: PublicKeyAlgorithm::RSA, public, secret: written }
}

fn group_material(algorithm: PublicKeyAlgorithm, numbers: &group::Numbers) -> Material {
    let public = numbers.public.iter().flat_map(|number| write_number(number).to_vec()).collect();
    Material { algorithm, public, secret: write_number(&numbers.x) }
}

type Key = Key4<SecretParts, PrimaryRole>;

/// Generates a key on Curve25519; version 4 keys have the form that GnuPG 2.1 introduced.
fn curve25519_material(purpose: KeyUse, version: Version) -> Result<Material> {
    let kind = if purpose == KeyUse::Sign { Kind::Ed25519 } else { Kind::X25519 };
    let mut secret = Zeroizing::new([0; 32]);
    getrandom::fill(&mut *secret)?;
    if kind == Kind::X25519 {
        // Clamps the secret (RFC 7748, 5).
        secret[0] &= 0xf8;
        secret[31] = secret[31] & 0x7f | 0x40;
    }
    let point = kind.public_of(&secret).ok_or(Error::Memory)?;
    let native = || write_number(&[&[NATIVE], &point[..]].concat()).to_vec();
    let counted = |oid: &[u8]| [&[oid.len() as u8], oid].concat();
    let (algorithm, public) = match (kind, version) {
        (Kind::Ed25519, Version::V6) => (PublicKeyAlgorithm::ED25519, point.to_vec()),
        (Kind::X25519, Version::V6) => (PublicKeyAlgorithm::X25519, point.to_vec()),
        (Kind::Ed25519, Version::V4) => {
            (PublicKeyAlgorithm::EDDSA_LEGACY, [counted(ED25519_OID), native()].concat())
        }
        (Kind::X25519, Version::V4) => {
            secret.reverse();
            (
                PublicKeyAlgorithm::ECDH,
                [&counted(CURVE25519_OID), &native()[..], &wrapping(256).expect("a known size")].concat(),
            )
        }
    };
    let secret = match version {
        Version::V6 => Zeroizing::new(secret.to_vec()),
        Version::V4 => write_number(&*secret),
    };
    Ok(Material { algorithm, public, secret })
}

fn curve_material(curve: Algorithm, purpose: KeyUse) -> sequoia_openpgp::Result<Material> {
    let key: Key = match (curve, purpose) {
        (Algorithm::Curve448, KeyUse::Sign) => Key4::generate_ed448(),
        (Algorithm::Curve448, KeyUse::Encrypt) => Key4::generate_x448(),
        (curve, purpose) => Key4::generate_ecc(purpose == KeyUse::Sign, weierstrass(curve)),
    }?;
    let mut public = key.mpis().to_vec()?;
    if let mpi::PublicKey::ECDH { curve, .. } = key.mpis() {
        // The last fields are the hash algorithm and the cipher that session keys are wrapped with.
        let fields = wrapping(curve.bits()? as u32).expect("a known size");
        let end = public.len() - fields.len();
        public[end..].copy_from_slice(&fields);
    }
    let SecretKeyMaterial::Unencrypted(secret) = key.secret() else {
        unreachable!("a new key is not locked")
    };
    let secret = Zeroizing::new(secret.map(|secret| secret.to_vec())?);
    Ok(Material { algorithm: PublicKeyAlgorithm(key.pk_algo().into()), public, secret })
}

fn weierstrass(curve: Algorithm) -> Curve {
    match curve {
        Algorithm::NistP256 => Curve::NistP256,
        Algorithm::NistP384 => Curve::NistP384,
        Algorithm::NistP521 => Curve::NistP521,
        Algorithm::BrainpoolP256 => Curve::BrainpoolP256,
        Algorithm::BrainpoolP384 => Curve::BrainpoolP384,
        Algorithm::BrainpoolP512 => Curve::BrainpoolP512,
        Algorithm::Rsa(_) | Algorithm::Dsa(_) | Algorithm::Elgamal(_) => unreachable!("no curve"),
        Algorithm::Curve25519 | Algorithm::Curve448 => unreachable!("made in another way"),
    }
}
