//! The algorithm and the flags of a key to generate.

use keygen::{Algorithm, DsaSize, ElgamalSize};
use keyhoard::cert::effective::Usage;
use sign::KeyFlags;

use super::size::{self, Corrected};
use super::{Curve, Material};
use crate::code::Code;
use crate::settings::Settings;

/// Returns the algorithm of a key to generate, and gpg's notes about its size.
///
/// # Errors
///
/// gpg's code for an algorithm that cannot be generated.
pub(crate) fn key_algorithm(
    material: Material,
    settings: &Settings,
) -> Result<(Algorithm, Vec<String>), Code> {
    let corrected = |bits| size::corrected(bits, material.family(), settings.large_rsa, settings.expert);
    let unsupported = |_| Code::UnsupportedAlgorithm;
    Ok(match material {
        Material::Rsa { bits } => {
            let Corrected { bits, notes } = corrected(bits);
            (Algorithm::parse(&format!("rsa{bits}")).map_err(unsupported)?, notes)
        }
        Material::Dsa { bits } => {
            let Corrected { bits, notes } = corrected(bits);
            (Algorithm::Dsa(DsaSize::new(bits).map_err(unsupported)?), notes)
        }
        Material::Elgamal { bits } => {
            let Corrected { bits, notes } = corrected(bits);
            (Algorithm::Elgamal(ElgamalSize::new(bits).map_err(unsupported)?), notes)
        }
        Material::Eddsa(Curve::Ed25519) | Material::Ecdh(Curve::Curve25519) => {
            (Algorithm::Curve25519, Vec::new())
        }
        Material::Eddsa(_) => return Err(Code::UnknownCurve),
        Material::Ecdsa(curve) | Material::Ecdh(curve) => (on_curve(curve)?, Vec::new()),
        Material::Existing(..) => return Err(Code::General),
    })
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
        Curve::NistP256 => Algorithm::NistP256,
        Curve::NistP384 => Algorithm::NistP384,
        Curve::NistP521 => Algorithm::NistP521,
        Curve::BrainpoolP256r1 => Algorithm::BrainpoolP256,
        Curve::BrainpoolP384r1 => Algorithm::BrainpoolP384,
        Curve::BrainpoolP512r1 => Algorithm::BrainpoolP512,
        Curve::Curve25519 | Curve::Ed25519 => return Err(Code::UnknownCurve),
        Curve::Secp256k1 => return Err(Code::UnsupportedAlgorithm),
    })
}
