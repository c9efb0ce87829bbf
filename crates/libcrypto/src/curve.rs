//! The elliptic curves of ECDSA and ECDH keys.

use openssl::ec::EcGroup;
use openssl::error::ErrorStack;
use openssl::nid::Nid;

/// A curve in Weierstrass form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    /// NIST P-256.
    NistP256,
    /// NIST P-384.
    NistP384,
    /// NIST P-521.
    NistP521,
    /// brainpoolP256r1.
    BrainpoolP256,
    /// brainpoolP384r1.
    BrainpoolP384,
    /// brainpoolP512r1.
    BrainpoolP512,
}

impl Curve {
    /// All curves.
    pub const ALL: [Self; 6] = [
        Self::NistP256,
        Self::NistP384,
        Self::NistP521,
        Self::BrainpoolP256,
        Self::BrainpoolP384,
        Self::BrainpoolP512,
    ];

    /// Finds a curve by its object identifier, without the length byte.
    pub fn by_oid(oid: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|curve| curve.oid() == oid)
    }

    /// Returns the object identifier (RFC 9580, 9.2), without the length byte.
    pub fn oid(self) -> &'static [u8] {
        match self {
            Self::NistP256 => &[0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7],
            Self::NistP384 => &[0x2b, 0x81, 4, 0, 0x22],
            Self::NistP521 => &[0x2b, 0x81, 4, 0, 0x23],
            Self::BrainpoolP256 => &[0x2b, 0x24, 3, 3, 2, 8, 1, 1, 7],
            Self::BrainpoolP384 => &[0x2b, 0x24, 3, 3, 2, 8, 1, 1, 11],
            Self::BrainpoolP512 => &[0x2b, 0x24, 3, 3, 2, 8, 1, 1, 13],
        }
    }

    /// Returns the size in bits.
    pub fn bits(self) -> u32 {
        match self {
            Self::NistP256 | Self::BrainpoolP256 => 256,
            Self::NistP384 | Self::BrainpoolP384 => 384,
            Self::BrainpoolP512 => 512,
            Self::NistP521 => 521,
        }
    }

    /// Returns the group of points.
    ///
    /// # Errors
    ///
    /// An error of OpenSSL without memory.
    pub fn group(self) -> Result<EcGroup, ErrorStack> {
        EcGroup::from_curve_name(match self {
            Self::NistP256 => Nid::X9_62_PRIME256V1,
            Self::NistP384 => Nid::SECP384R1,
            Self::NistP521 => Nid::SECP521R1,
            Self::BrainpoolP256 => Nid::BRAINPOOL_P256R1,
            Self::BrainpoolP384 => Nid::BRAINPOOL_P384R1,
            Self::BrainpoolP512 => Nid::BRAINPOOL_P512R1,
        })
    }
}
