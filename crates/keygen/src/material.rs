//! Generates the key material of one key: RSA by [`crate::race`], DSA and Elgamal by [`crate::group`], Curve25519 by
//! aws-lc, the other curves and the algorithms of RFC 9980 by OpenSSL.

use crate::algorithm::{Algorithm, Version};
use crate::error::{Error, Result};
use crate::progress::{Progress, Step};
use crate::{group, race, rsa};
use cert::Timestamp;
use libcrypto::Curve;
use libcrypto::post_quantum::{KeyEncapsulation, SignatureScheme};
use openssl::bn::BigNumContext;
use openssl::ec::{EcKey, PointConversionForm};
use openssl::error::ErrorStack;
use openssl::pkey::PKey;
use secret::curve448::{ED448_OID, X448_OID};
use secret::curve25519::{CURVE25519_OID, ED25519_OID, Kind, NATIVE};
use secret::{Role, Unlocked, wrapping, write_number, write_octets};
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
        Algorithm::Rsa(size) => rsa_material(&race::generate(size, progress)?),
        Algorithm::Dsa(_) | Algorithm::Elgamal(_) if version == Version::V6 => {
            return Err(Error::Version { algorithm: algorithm.to_string(), version: 4 });
        }
        Algorithm::Dsa(size) => {
            let numbers = group::dsa(size)?;
            progress.step(Step::Prime);
            group_material(PublicKeyAlgorithm::DSA, &numbers)
        }
        Algorithm::Elgamal(size) => group_material(PublicKeyAlgorithm::ELGAMAL, &group::elgamal(size)?),
        Algorithm::Curve25519 => curve25519_material(purpose, version)?,
        Algorithm::Curve448 => curve448_material(purpose, version)?,
        Algorithm::Weierstrass(curve) => weierstrass_material(curve, purpose)?,
        Algorithm::MlDsa65
        | Algorithm::MlDsa87
        | Algorithm::SlhDsaShake128s
        | Algorithm::SlhDsaShake128f
        | Algorithm::SlhDsaShake256s => post_quantum_material(algorithm, purpose, version)?,
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
    if version != Version::V4 {
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

/// Generates a key on Curve25519; keys of version 4 and 5 have the form that GnuPG 2.1 introduced.
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
    let (algorithm, public) = match (kind, version) {
        (Kind::Ed25519, Version::V6) => (PublicKeyAlgorithm::ED25519, point.to_vec()),
        (Kind::X25519, Version::V6) => (PublicKeyAlgorithm::X25519, point.to_vec()),
        (Kind::Ed25519, Version::V4 | Version::V5) => {
            (PublicKeyAlgorithm::EDDSA_LEGACY, [counted(ED25519_OID), native()].concat())
        }
        (Kind::X25519, Version::V4 | Version::V5) => {
            secret.reverse();
            (
                PublicKeyAlgorithm::ECDH,
                [&counted(CURVE25519_OID), &native()[..], &wrapping(256).expect("a known size")].concat(),
            )
        }
    };
    let secret = match version {
        Version::V6 => Zeroizing::new(secret.to_vec()),
        Version::V4 | Version::V5 => write_number(&*secret),
    };
    Ok(Material { algorithm, public, secret })
}

/// Returns an object identifier after its length.
fn counted(oid: &[u8]) -> Vec<u8> {
    [&[oid.len() as u8], oid].concat()
}

/// Generates an Ed448 or X448 key; keys of version 5 have the form of LibrePGP.
fn curve448_material(purpose: KeyUse, version: Version) -> std::result::Result<Material, ErrorStack> {
    libcrypto::initialise();
    let key = match purpose {
        KeyUse::Sign => PKey::generate_ed448()?,
        KeyUse::Encrypt => PKey::generate_x448()?,
    };
    let (public, secret) = (key.raw_public_key()?, Zeroizing::new(key.raw_private_key()?));
    Ok(match (version, purpose) {
        (Version::V5, KeyUse::Sign) => Material {
            algorithm: PublicKeyAlgorithm::EDDSA_LEGACY,
            public: [&counted(ED448_OID), &write_octets(&public)[..]].concat(),
            secret: write_octets(&secret),
        },
        (Version::V5, KeyUse::Encrypt) => Material {
            algorithm: PublicKeyAlgorithm::ECDH,
            public: [&counted(X448_OID), &write_octets(&public)[..], &X448_WRAPPING].concat(),
            secret: write_octets(&secret),
        },
        (_, KeyUse::Sign) => Material { algorithm: PublicKeyAlgorithm::ED448, public, secret },
        (_, KeyUse::Encrypt) => Material { algorithm: PublicKeyAlgorithm::X448, public, secret },
    })
}

/// The fields after the point of an X448 key of version 5, as GnuPG writes them: SHA2-512 and AES-256.
const X448_WRAPPING: [u8; 4] = [3, 1, 10, 9];

/// Generates a key of RFC 9980: the part on a curve, if there is one, and the post-quantum part, independently of it.
fn post_quantum_material(algorithm: Algorithm, purpose: KeyUse, version: Version) -> Result<Material> {
    let wrong = || Error::Version { algorithm: algorithm.to_string(), version: 6 };
    let [signing, encrypting] = algorithm.post_quantum().ok_or_else(wrong)?;
    let number = if purpose == KeyUse::Sign { signing } else { encrypting };
    if !number.suits_version(version.number()) {
        return Err(wrong());
    }
    Ok(composite_material(number)?)
}

fn composite_material(algorithm: PublicKeyAlgorithm) -> std::result::Result<Material, ErrorStack> {
    libcrypto::initialise();
    let on_curve = match algorithm.curve_part() {
        Some(PublicKeyAlgorithm::ED25519) => Some(PKey::generate_ed25519()?),
        Some(PublicKeyAlgorithm::ED448) => Some(PKey::generate_ed448()?),
        Some(PublicKeyAlgorithm::X25519) => Some(PKey::generate_x25519()?),
        Some(PublicKeyAlgorithm::X448) => Some(PKey::generate_x448()?),
        _ => None,
    };
    let (mut public, mut secret) = (Vec::new(), Zeroizing::new(Vec::with_capacity(MAX_SECRET)));
    if let Some(key) = on_curve {
        public.extend(key.raw_public_key()?);
        secret.extend_from_slice(&Zeroizing::new(key.raw_private_key()?));
    }
    let pairs = [
        algorithm.signature_scheme().map(SignatureScheme::generate),
        algorithm.key_encapsulation().map(KeyEncapsulation::generate),
    ];
    for pair in pairs.into_iter().flatten() {
        let pair = pair?;
        public.extend(pair.public);
        secret.extend_from_slice(&pair.secret);
    }
    Ok(Material { algorithm, public, secret })
}

/// The most bytes of the secret part of a key of RFC 9980, those of SLH-DSA-SHAKE-256s, so that no copies are left where
/// a growing vector was.
const MAX_SECRET: usize = 128;

/// Generates an ECDSA or ECDH key.
fn weierstrass_material(curve: Curve, purpose: KeyUse) -> std::result::Result<Material, ErrorStack> {
    libcrypto::initialise();
    let group = curve.group()?;
    let key = EcKey::generate(&group)?;
    let form = PointConversionForm::UNCOMPRESSED;
    let point = key.public_key().to_bytes(&group, form, &mut *BigNumContext::new()?)?;
    let oid = curve.oid();
    let mut public = [&[oid.len() as u8], oid, &write_number(&point)].concat();
    if purpose == KeyUse::Encrypt {
        public.extend(wrapping(curve.bits()).expect("a known size"));
    }
    let algorithm = match purpose {
        KeyUse::Sign => PublicKeyAlgorithm::ECDSA,
        KeyUse::Encrypt => PublicKeyAlgorithm::ECDH,
    };
    let scalar = Zeroizing::new(key.private_key().to_vec());
    Ok(Material { algorithm, public, secret: write_number(&scalar) })
}
