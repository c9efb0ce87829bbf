//! Algorithms and versions of keys.

use crate::error::{Error, Result};
use crate::group::{DsaSize, ElgamalSize};
use crate::rsa::Size;
use libcrypto::Curve;
use std::fmt;
use verify::PublicKeyAlgorithm;

/// The version of a certificate's keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// Version 4 (RFC 4880), which every implementation reads.
    V4,
    /// Version 5 (LibrePGP), which GnuPG 2.4 reads, and makes of keys on Curve448.
    V5,
    /// Version 6 (RFC 9580).
    V6,
}

impl Version {
    /// Returns the version of subkeys for a primary key: its own (RFC 9580, 10.1.1).
    ///
    /// # Errors
    ///
    /// [`Error::Subkey`] for a version whose keys are not made.
    pub fn of_primary(version: u8) -> Result<Self> {
        match version {
            4 => Ok(Self::V4),
            5 => Ok(Self::V5),
            6 => Ok(Self::V6),
            _ => Err(Error::Subkey(version)),
        }
    }

    /// Returns the version of a key as GnuPG 2.4 makes it, as the primary key or a subkey of one with this version: it depends
    /// on the algorithm alone. Beside keys of version 6, which GnuPG does not read, it is 6.
    pub fn in_gnupg(primary: u8, algorithm: Option<Algorithm>) -> Self {
        match (primary, algorithm) {
            (6, _) => Self::V6,
            (_, Some(Algorithm::Curve448)) => Self::V5,
            _ => Self::V4,
        }
    }

    /// Returns the version number as written in packets.
    pub fn number(self) -> u8 {
        match self {
            Self::V4 => 4,
            Self::V5 => 5,
            Self::V6 => 6,
        }
    }
}

/// The algorithm of a key.
///
/// RSA keys can both sign and encrypt. On a curve, and of RFC 9980, keys that sign and keys that encrypt are of different
/// kinds; DSA keys only sign, Elgamal keys only encrypt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// RSA.
    Rsa(Size),
    /// Ed25519 and X25519; keys of version 4 and 5 are written in the form that GnuPG 2.1 introduced.
    Curve25519,
    /// Ed448 and X448; keys of version 5 are written in the form of LibrePGP, others in that of RFC 9580.
    Curve448,
    /// A curve of NIST or Brainpool.
    Weierstrass(Curve),
    /// DSA, in version 4 keys only.
    Dsa(DsaSize),
    /// Elgamal, in version 4 keys only.
    Elgamal(ElgamalSize),
    /// ML-DSA-65 with Ed25519, and ML-KEM-768 with X25519 (RFC 9980); of keys of version 4, only those that encrypt.
    MlDsa65,
    /// ML-DSA-87 with Ed448, and ML-KEM-1024 with X448 (RFC 9980), in version 6 keys only.
    MlDsa87,
    /// SLH-DSA-SHAKE-128s (RFC 9980), in version 6 keys only; encrypts like [`MlDsa65`](Self::MlDsa65).
    SlhDsaShake128s,
    /// SLH-DSA-SHAKE-128f (RFC 9980), in version 6 keys only; encrypts like [`MlDsa65`](Self::MlDsa65).
    SlhDsaShake128f,
    /// SLH-DSA-SHAKE-256s (RFC 9980), in version 6 keys only; encrypts like [`MlDsa87`](Self::MlDsa87).
    SlhDsaShake256s,
}

/// The names of algorithms, GnuPG's among them; the first name of each is displayed.
const NAMES: &[(&str, Algorithm)] = &[
    ("curve25519", Algorithm::Curve25519),
    ("ed25519", Algorithm::Curve25519),
    ("cv25519", Algorithm::Curve25519),
    ("x25519", Algorithm::Curve25519),
    ("curve448", Algorithm::Curve448),
    ("ed448", Algorithm::Curve448),
    ("cv448", Algorithm::Curve448),
    ("x448", Algorithm::Curve448),
    ("nistp256", Algorithm::Weierstrass(Curve::NistP256)),
    ("nistp384", Algorithm::Weierstrass(Curve::NistP384)),
    ("nistp521", Algorithm::Weierstrass(Curve::NistP521)),
    ("brainpoolp256r1", Algorithm::Weierstrass(Curve::BrainpoolP256)),
    ("brainpoolp384r1", Algorithm::Weierstrass(Curve::BrainpoolP384)),
    ("brainpoolp512r1", Algorithm::Weierstrass(Curve::BrainpoolP512)),
    ("ml-dsa-65+ed25519", Algorithm::MlDsa65),
    ("ml-kem-768+x25519", Algorithm::MlDsa65),
    ("ml-dsa-87+ed448", Algorithm::MlDsa87),
    ("ml-kem-1024+x448", Algorithm::MlDsa87),
    ("slh-dsa-shake-128s", Algorithm::SlhDsaShake128s),
    ("slh-dsa-shake-128f", Algorithm::SlhDsaShake128f),
    ("slh-dsa-shake-256s", Algorithm::SlhDsaShake256s),
];

impl Algorithm {
    /// Finds an algorithm by its name, in any case: `rsa3072`, a curve as GnuPG names it, or an algorithm of RFC 9980. DSA and Elgamal have no
    /// names here, since new keys should not use them (RFC 9580, 9.1).
    ///
    /// # Errors
    ///
    /// [`Error::UnknownAlgorithm`] and [`Error::RsaSize`].
    pub fn parse(name: &str) -> Result<Self> {
        let lower = name.to_ascii_lowercase();
        let unknown = || Error::UnknownAlgorithm(name.to_owned());
        if let Some(bits) = lower.strip_prefix("rsa") {
            return Size::new(bits.parse().map_err(|_| unknown())?).map(Self::Rsa);
        }
        NAMES.iter().find(|(known, _)| *known == lower).map(|(_, algorithm)| *algorithm).ok_or_else(unknown)
    }

    /// Returns whether its keys can sign.
    pub fn signs(self) -> bool {
        !matches!(self, Self::Elgamal(_))
    }

    /// Returns whether its keys can encrypt.
    pub fn encrypts(self) -> bool {
        !matches!(self, Self::Dsa(_))
    }

    /// Returns the algorithms of RFC 9980 for keys that sign and keys that encrypt.
    pub(crate) fn post_quantum(self) -> Option<[PublicKeyAlgorithm; 2]> {
        let encrypting = match self {
            Self::MlDsa65 | Self::SlhDsaShake128s | Self::SlhDsaShake128f => {
                PublicKeyAlgorithm::ML_KEM_768_X25519
            }
            _ => PublicKeyAlgorithm::ML_KEM_1024_X448,
        };
        let signing = match self {
            Self::MlDsa65 => PublicKeyAlgorithm::ML_DSA_65_ED25519,
            Self::MlDsa87 => PublicKeyAlgorithm::ML_DSA_87_ED448,
            Self::SlhDsaShake128s => PublicKeyAlgorithm::SLH_DSA_SHAKE_128S,
            Self::SlhDsaShake128f => PublicKeyAlgorithm::SLH_DSA_SHAKE_128F,
            Self::SlhDsaShake256s => PublicKeyAlgorithm::SLH_DSA_SHAKE_256S,
            _ => return None,
        };
        Some([signing, encrypting])
    }

    /// Returns whether one key can both sign and encrypt.
    pub(crate) fn does_both(self) -> bool {
        matches!(self, Self::Rsa(_))
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rsa(size) => write!(f, "rsa{}", size.bits()),
            Self::Dsa(size) => write!(f, "dsa{}", size.bits()),
            Self::Elgamal(size) => write!(f, "elg{}", size.bits()),
            named => {
                let known = NAMES.iter().find(|(_, algorithm)| algorithm == named);
                f.write_str(known.expect("every other algorithm has a name").0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subkey_has_the_version_of_its_primary_key_and_in_gnupg_that_of_its_algorithm() {
        let of_primary = |version| Version::of_primary(version).ok();
        assert_eq!([4, 5, 6].map(of_primary), [Version::V4, Version::V5, Version::V6].map(Some));
        assert!(matches!(Version::of_primary(7), Err(Error::Subkey(7))));
        for (algorithm, versions) in [
            (Some(Algorithm::Curve448), [Version::V5, Version::V5, Version::V6]),
            (Some(Algorithm::Curve25519), [Version::V4, Version::V4, Version::V6]),
            (None, [Version::V4, Version::V4, Version::V6]),
        ] {
            assert_eq!([4, 5, 6].map(|primary| Version::in_gnupg(primary, algorithm)), versions);
        }
    }

    #[test]
    fn algorithms_are_found_by_gnupgs_names_in_any_case() {
        let found = |name| Algorithm::parse(name).unwrap();
        assert_eq!(found("Ed25519"), Algorithm::Curve25519);
        assert_eq!(found("cv25519"), Algorithm::Curve25519);
        assert_eq!(found("NISTP256"), Algorithm::Weierstrass(Curve::NistP256));
        assert_eq!(found("brainpoolP512r1"), Algorithm::Weierstrass(Curve::BrainpoolP512));
        assert_eq!(found("ML-KEM-768+X25519"), Algorithm::MlDsa65);
        assert_eq!(found("RSA3072"), Algorithm::Rsa(Size::new(3072).unwrap()));
    }

    #[test]
    fn what_is_shown_is_found_again() {
        let rsa = Algorithm::Rsa(Size::new(4096).unwrap());
        for algorithm in NAMES.iter().map(|(_, algorithm)| *algorithm).chain([rsa]) {
            assert_eq!(Algorithm::parse(&algorithm.to_string()).unwrap(), algorithm);
        }
    }

    #[test]
    fn other_names_and_sizes_are_refused() {
        for name in ["", "rsa", "rsaXL", "dsa2048", "secp256k1"] {
            assert!(matches!(Algorithm::parse(name), Err(Error::UnknownAlgorithm(_))), "{name}");
        }
        assert!(matches!(Algorithm::parse("rsa1024"), Err(Error::RsaSize(1024))));
    }
}
