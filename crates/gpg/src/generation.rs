//! The request for a key: read from options or a parameter file, or asked for.
//!
//! - [`algorithm`]: `rsa3072/sign+cv25519` and the like;
//! - [`preferences`]: preference lists;
//! - [`parameters`]: the blocks of a parameter file, and [`parameter_file`] the lines of one;
//! - [`key_algorithm`]: the algorithms and sizes that this program makes of them;
//! - [`dialogue`]: the questions of `--generate-key` and `--full-generate-key`.
//!
//! All of them end in a [`Request`].

pub(crate) mod algorithm;
pub(crate) mod dialogue;
pub(crate) mod key_algorithm;
pub(crate) mod parameter_file;
pub(crate) mod parameters;
pub(crate) mod preferences;
pub(crate) mod size;

use engine::cert::effective::Usage;
use engine::cert::facts::Revoker;
use engine::cert::{Keygrip, Timestamp};
use engine::configuration::Compat;

/// A key to generate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) primary: Part,
    pub(crate) subkeys: Vec<Part>,
    pub(crate) user_id: Vec<u8>,
    /// The creation time; now if `None`.
    pub(crate) created: Option<Timestamp>,
    /// The preferences; gpg's default if `None`.
    pub(crate) preferences: Option<keygen::Preferences>,
    pub(crate) revoker: Option<Revoker>,
    pub(crate) keyserver: Option<Vec<u8>>,
}

/// The primary key or a subkey of a [`Request`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) kind: Kind,
    /// Seconds after its creation; 0 for ever.
    pub(crate) valid_for: u32,
}

/// The material of a key and its uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) material: Material,
    pub(crate) usage: Usage,
}

/// The material of a key; sizes in bits, 0 for the default size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Material {
    Rsa {
        bits: u32,
    },
    Dsa {
        bits: u32,
    },
    Elgamal {
        bits: u32,
    },
    Eddsa(Curve),
    Ecdsa(Curve),
    Ecdh(Curve),
    /// An existing secret key, by its keygrip, as one of this algorithm.
    Existing(Keygrip, Family),
}

/// An elliptic curve that gpg has a name for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Curve {
    Curve25519,
    Ed25519,
    /// X448, of keys of version 5 (LibrePGP).
    X448,
    /// Ed448, of keys of version 5.
    Ed448,
    NistP256,
    NistP384,
    NistP521,
    BrainpoolP256r1,
    BrainpoolP384r1,
    BrainpoolP512r1,
    Secp256k1,
}

/// Reads a keygrip: 40 hexadecimal digits, with or without an ampersand before them.
pub(crate) fn keygrip(text: &[u8]) -> Option<Keygrip> {
    let digits = std::str::from_utf8(text.strip_prefix(b"&").unwrap_or(text)).ok()?;
    let mut bytes = [0; 20];
    if digits.len() != 2 * bytes.len() || !digits.is_ascii() {
        return None;
    }
    for (byte, index) in bytes.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(&digits[index..index + 2], 16).ok()?;
    }
    Some(Keygrip(bytes))
}

/// A public-key algorithm for new keys, by OpenPGP's number (RFC 9580, 9.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Family {
    Rsa = 1,
    Elgamal = 16,
    Dsa = 17,
    Ecdh = 18,
    Ecdsa = 19,
    Eddsa = 22,
}

impl Family {
    /// Returns the algorithm with a number.
    pub(crate) fn from_number(number: u32) -> Option<Self> {
        const ALL: [Family; 6] =
            [Family::Rsa, Family::Elgamal, Family::Dsa, Family::Ecdh, Family::Ecdsa, Family::Eddsa];
        ALL.into_iter().find(|family| *family as u32 == number)
    }

    /// Returns all that keys with this algorithm can be used for.
    pub(crate) fn usage(self) -> Usage {
        let signs = Usage::CERTIFY | Usage::SIGN | Usage::AUTHENTICATE;
        match self {
            Self::Rsa => signs | Usage::ENCRYPT,
            Self::Elgamal | Self::Ecdh => Usage::ENCRYPT,
            Self::Dsa | Self::Ecdsa | Self::Eddsa => signs,
        }
    }

    /// Says whether keys with this algorithm can be used for all of `usage`.
    pub(crate) fn allows(self, usage: Usage) -> bool {
        self.usage().contains(usage)
    }

    /// Returns gpg's name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rsa => "RSA",
            Self::Elgamal => "ELG",
            Self::Dsa => "DSA",
            Self::Ecdh => "ECDH",
            Self::Ecdsa | Self::Eddsa => "ECDSA/EdDSA",
        }
    }
}

impl Material {
    /// Says whether it is a key on Curve448, by its name.
    pub(crate) fn is_on_curve448(self) -> bool {
        matches!(self, Self::Eddsa(Curve::Ed448) | Self::Ecdh(Curve::X448))
    }

    /// Returns the algorithm.
    pub(crate) fn family(self) -> Family {
        match self {
            Self::Rsa { .. } => Family::Rsa,
            Self::Dsa { .. } => Family::Dsa,
            Self::Elgamal { .. } => Family::Elgamal,
            Self::Eddsa(_) => Family::Eddsa,
            Self::Ecdsa(_) => Family::Ecdsa,
            Self::Ecdh(_) => Family::Ecdh,
            Self::Existing(_, family) => family,
        }
    }
}

impl Curve {
    /// Reads one of the two names that gpg lists a curve by, since 2.4 in any case.
    pub(crate) fn named(name: &str, compat: Compat) -> Option<Self> {
        let is_name = |known: &&str| match compat {
            Compat::V2_2 => *known == name,
            Compat::V2_4 => known.eq_ignore_ascii_case(name),
        };
        NAMES.iter().find(|(_, names)| names[..2].iter().any(is_name)).map(|(curve, _)| *curve)
    }

    /// Reads the name of a curve in a parameter file: as libgcrypt spells it, or in any case one that gpg made up.
    pub(crate) fn in_parameter_file(name: &str) -> Option<Self> {
        let is_short = |curve| matches!(curve, Self::Curve25519 | Self::Ed25519 | Self::X448 | Self::Ed448);
        let is_named = |curve, names: &[&str]| {
            names.contains(&name) || is_short(curve) && names[1].eq_ignore_ascii_case(name)
        };
        NAMES.iter().find(|(curve, names)| is_named(*curve, names)).map(|(curve, _)| *curve)
    }

    /// Returns the name that OpenPGP programs have for it.
    pub(crate) fn name(self) -> &'static str {
        NAMES.iter().find(|(curve, _)| *curve == self).map_or("", |(_, names)| names[1])
    }
}

/// Names of curves: those of gpg first, then libgcrypt's others.
const NAMES: &[(Curve, &[&str])] = &[
    (Curve::Curve25519, &["Curve25519", "cv25519", "1.3.6.1.4.1.3029.1.5.1"]),
    (Curve::Ed25519, &["Ed25519", "ed25519", "1.3.6.1.4.1.11591.15.1"]),
    (Curve::X448, &["X448", "cv448", "1.3.101.111"]),
    (Curve::Ed448, &["Ed448", "ed448", "1.3.101.113"]),
    (Curve::NistP256, &["NIST P-256", "nistp256", "prime256v1", "secp256r1", "1.2.840.10045.3.1.7"]),
    (Curve::NistP384, &["NIST P-384", "nistp384", "secp384r1", "1.3.132.0.34"]),
    (Curve::NistP521, &["NIST P-521", "nistp521", "secp521r1", "1.3.132.0.35"]),
    (Curve::BrainpoolP256r1, &["brainpoolP256r1", "brainpoolP256r1", "1.3.36.3.3.2.8.1.1.7"]),
    (Curve::BrainpoolP384r1, &["brainpoolP384r1", "brainpoolP384r1", "1.3.36.3.3.2.8.1.1.11"]),
    (Curve::BrainpoolP512r1, &["brainpoolP512r1", "brainpoolP512r1", "1.3.36.3.3.2.8.1.1.13"]),
    (Curve::Secp256k1, &["secp256k1", "secp256k1", "1.3.132.0.10"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_goes_by_the_names_that_gpg_lists_since_2_4_in_any_case() {
        for compat in [Compat::V2_2, Compat::V2_4] {
            assert_eq!(Curve::named("nistp256", compat), Some(Curve::NistP256));
            assert_eq!(Curve::named("NIST P-521", compat), Some(Curve::NistP521));
            assert_eq!(Curve::named("secp256r1", compat), None);
        }
        assert_eq!(Curve::named("ED25519", Compat::V2_2), None);
        assert_eq!(Curve::named("ED25519", Compat::V2_4), Some(Curve::Ed25519));
        assert_eq!(Curve::named("nist p-521", Compat::V2_4), Some(Curve::NistP521));
    }

    #[test]
    fn in_parameter_files_a_curve_goes_by_libgcrypts_names_too_and_only_gpgs_own_in_any_case() {
        let read = Curve::in_parameter_file;
        assert_eq!(read("secp256r1"), Some(Curve::NistP256));
        assert_eq!(read("1.3.36.3.3.2.8.1.1.11"), Some(Curve::BrainpoolP384r1));
        assert_eq!((read("ED25519"), read("Cv448")), (Some(Curve::Ed25519), Some(Curve::X448)));
        for unknown in ["foo", "curve25519", "x448", "NISTP256", "Secp256r1", "BrainpoolP256R1"] {
            assert_eq!(read(unknown), None, "{unknown}");
        }
    }
}
