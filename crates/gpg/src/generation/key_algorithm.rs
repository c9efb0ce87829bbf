//! The algorithm and the flags of a key to generate.

use engine::cert::effective::Usage;
use engine::configuration::{Compat, Configuration};
use keygen::{Algorithm, DsaSize, ElgamalSize, Size};
use sign::KeyFlags;

use super::{Curve, Material, size};
use crate::code::Code;
use crate::settings::Settings;
use crate::settings::compliance::Compliance;

/// Returns the algorithm of a key to generate, and gpg's notes about its size.
///
/// # Errors
///
/// gpg's code for an algorithm that cannot be generated.
pub(crate) fn key_algorithm(
    material: Material,
    settings: &Settings,
) -> Result<(Algorithm, Vec<String>), Code> {
    let (bits, notes) = match material {
        Material::Rsa { bits } | Material::Dsa { bits } | Material::Elgamal { bits } => {
            size::corrected(bits, material.family(), settings.large_rsa, settings.expert)
        }
        _ => (0, Vec::new()),
    };
    let unsupported = |_| Code::UNSUPPORTED_ALGORITHM;
    let algorithm = match material {
        Material::Rsa { .. } => Algorithm::Rsa(rsa_size(bits).map_err(unsupported)?),
        Material::Dsa { .. } => Algorithm::Dsa(DsaSize::new(bits).map_err(unsupported)?),
        Material::Elgamal { .. } => Algorithm::Elgamal(ElgamalSize::at_least(bits).map_err(unsupported)?),
        Material::Eddsa(Curve::Ed25519) | Material::Ecdh(Curve::Curve25519) => Algorithm::Curve25519,
        Material::Eddsa(Curve::Ed448) | Material::Ecdh(Curve::X448) if settings.compat >= Compat::V2_4 => {
            Algorithm::Curve448
        }
        Material::Eddsa(_) => return Err(Code::UNKNOWN_CURVE),
        Material::Ecdsa(curve) | Material::Ecdh(curve) => on_curve(curve)?,
        Material::Existing(..) => return Err(Code::GENERAL),
    };
    Ok((algorithm, notes))
}

/// What gpg says of a key on Curve448 that is asked for by its name.
pub(crate) const NEEDS_COMPLIANCE: &str = "Cannot create Ed448 or Curve448 key without --compliance=gnupg.";

/// Checks that a key on Curve448 may be asked for by its name: as gpg 2.4 does for keys of version 5 (LibrePGP).
///
/// # Errors
///
/// [`Code::UNKNOWN_CURVE`], and [`Code::INVALID_PUBLIC_KEY_ALGORITHM`], of which gpg says [`NEEDS_COMPLIANCE`].
pub(crate) fn allows_curve448(settings: &Settings) -> Result<(), Code> {
    match (settings.compat, settings.compliance) {
        (Compat::V2_2, _) => Err(Code::UNKNOWN_CURVE),
        (_, Compliance::Gnupg) => Ok(()),
        _ => Err(Code::INVALID_PUBLIC_KEY_ALGORITHM),
    }
}

/// Checks the size of an RSA key; a weak one has to be allowed by the configuration.
fn rsa_size(bits: u32) -> keygen::Result<Size> {
    let is_weak_allowed = || Configuration::read().is_ok_and(|read| read.allow_weak_keys);
    match Size::new(bits) {
        Err(_) if is_weak_allowed() => Size::perhaps_weak(bits),
        checked => checked,
    }
}

/// Returns the flags of a key for these uses.
pub(crate) fn key_flags(usage: Usage) -> KeyFlags {
    let flags = [
        (Usage::CERTIFY, KeyFlags::CERTIFY),
        (Usage::SIGN, KeyFlags::SIGN),
        (Usage::ENCRYPT, KeyFlags::ENCRYPT),
        (Usage::AUTHENTICATE, KeyFlags::AUTHENTICATE),
    ];
    flags
        .into_iter()
        .filter(|(asked, _)| usage.contains(*asked))
        .fold(KeyFlags(0), |all, (_, flag)| all | flag)
}

fn on_curve(curve: Curve) -> Result<Algorithm, Code> {
    Ok(match curve {
        Curve::NistP256 => Algorithm::Weierstrass(keygen::Curve::NistP256),
        Curve::NistP384 => Algorithm::Weierstrass(keygen::Curve::NistP384),
        Curve::NistP521 => Algorithm::Weierstrass(keygen::Curve::NistP521),
        Curve::BrainpoolP256r1 => Algorithm::Weierstrass(keygen::Curve::BrainpoolP256),
        Curve::BrainpoolP384r1 => Algorithm::Weierstrass(keygen::Curve::BrainpoolP384),
        Curve::BrainpoolP512r1 => Algorithm::Weierstrass(keygen::Curve::BrainpoolP512),
        Curve::Curve25519 | Curve::Ed25519 | Curve::X448 | Curve::Ed448 => return Err(Code::UNKNOWN_CURVE),
        Curve::Secp256k1 => return Err(Code::UNSUPPORTED_ALGORITHM),
    })
}
