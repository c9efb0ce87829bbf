//! The numbers of one new key: RSA from [`crate::rsa`], DSA and Elgamal from [`crate::group`], other curves than
//! Curve25519 from sequoia-openpgp.

use crate::algorithm::{Algorithm, Version};
use crate::error::{Error, Result};
use crate::progress::Progress;
use crate::{group, rsa};
use cert::Timestamp;
use secret::curve25519::{CURVE25519_OID, ED25519_OID, Kind, NATIVE};
use secret::{Role, Unlocked, write_number};
use sequoia_openpgp::crypto::mpi;
use sequoia_openpgp::packet::key::{Key4, PrimaryRole, SecretKeyMaterial, SecretParts};
use sequoia_openpgp::serialize::MarshalInto as _;
use sequoia_openpgp::types::Curve;
use verify::PublicKeyAlgorithm;
use zeroize::Zeroizing;

/// Which half of a curve's use a key is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Sign,
    Encrypt,
}

/// The fields of a key packet that depend on the algorithm.
struct Material {
    algorithm: PublicKeyAlgorithm,
    public: Vec<u8>,
    secret: Zeroizing<Vec<u8>>,
}

/// Makes a key, and uses it once: it signs what verifies, or decrypts what was encrypted.
pub(crate) fn make(
    version: Version,
    algorithm: Algorithm,
    purpose: Use,
    role: Role,
    created: Timestamp,
    progress: &mut dyn Progress,
) -> Result<Unlocked> {
    let material = match algorithm {
        Algorithm::Rsa(size) => of_rsa(&rsa::generate(size, progress)?),
        Algorithm::Dsa(_) | Algorithm::Elgamal(_) if version != Version::V4 => {
            return Err(Error::Version(algorithm));
        }
        Algorithm::Dsa(size) => of_group(PublicKeyAlgorithm::DSA, &group::dsa(size, progress)?),
        Algorithm::Elgamal(size) => of_group(PublicKeyAlgorithm::ELGAMAL, &group::elgamal(size, progress)?),
        Algorithm::Curve25519 => of_curve25519(purpose, version)?,
        curve => of_curve(curve, purpose).map_err(Error::Curve)?,
    };
    let public = public_body(version, created, &material);
    let key = Unlocked::new(role, &public, &material.secret)?;
    key.try_out()?;
    Ok(key)
}

/// The body of the public key packet (RFC 9580, 5.5.2).
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

fn of_rsa(numbers: &rsa::Numbers) -> Material {
    let public =
        [&numbers.n, &numbers.e].into_iter().flat_map(|number| write_number(number).to_vec()).collect();
    let secret = [&numbers.d, &numbers.p, &numbers.q, &numbers.u];
    let mut written = Zeroizing::new(Vec::with_capacity(secret.iter().map(|number| number.len() + 2).sum()));
    for number in secret {
        written.extend_from_slice(&write_number(number));
    }
    Material { algorithm: PublicKeyAlgorithm::RSA, public, secret: written }
}

fn of_group(algorithm: PublicKeyAlgorithm, numbers: &group::Numbers) -> Material {
    let public = numbers.public.iter().flat_map(|number| write_number(number).to_vec()).collect();
    Material { algorithm, public, secret: write_number(&numbers.x) }
}

type Key = Key4<SecretParts, PrimaryRole>;

/// Makes the numbers of a key on Curve25519; in version 4 keys they have the form that GnuPG 2.1 introduced.
fn of_curve25519(purpose: Use, version: Version) -> Result<Material> {
    /// SHA-256 and AES-128 (RFC 9580, 11.5.1, table 30).
    const WRAPPING: &[u8] = &[3, 1, 8, 7];
    let kind = if purpose == Use::Sign { Kind::Ed25519 } else { Kind::X25519 };
    let mut secret = Zeroizing::new([0; 32]);
    getrandom::fill(&mut *secret)?;
    if kind == Kind::X25519 {
        // What RFC 7748, 5, makes of any secret before it is used.
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
            (PublicKeyAlgorithm::ECDH, [&counted(CURVE25519_OID), &native()[..], WRAPPING].concat())
        }
    };
    let secret = match version {
        Version::V6 => Zeroizing::new(secret.to_vec()),
        Version::V4 => write_number(&*secret),
    };
    Ok(Material { algorithm, public, secret })
}

fn of_curve(curve: Algorithm, purpose: Use) -> sequoia_openpgp::Result<Material> {
    let key: Key = match (curve, purpose) {
        (Algorithm::Curve448, Use::Sign) => Key4::generate_ed448(),
        (Algorithm::Curve448, Use::Encrypt) => Key4::generate_x448(),
        (curve, purpose) => Key4::generate_ecc(purpose == Use::Sign, weierstrass(curve)),
    }?;
    let mut public = key.mpis().to_vec()?;
    if let mpi::PublicKey::ECDH { curve, .. } = key.mpis() {
        // The last two bytes are the digest and the cipher that session keys are wrapped with.
        let parameters = public.len() - 2;
        public[parameters..].copy_from_slice(&wrapping(curve));
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

/// The digest and the cipher that session keys are wrapped with for keys on a curve (RFC 9580, 11.5.1, table 30).
fn wrapping(curve: &Curve) -> [u8; 2] {
    const SHA256: u8 = 8;
    const SHA384: u8 = 9;
    const SHA512: u8 = 10;
    const AES128: u8 = 7;
    const AES192: u8 = 8;
    const AES256: u8 = 9;
    match curve {
        Curve::NistP384 | Curve::BrainpoolP384 => [SHA384, AES192],
        Curve::NistP521 | Curve::BrainpoolP512 => [SHA512, AES256],
        _ => [SHA256, AES128],
    }
}
