//! The usage of keys.

use std::ops::{BitOr, BitOrAssign};
use verify::PublicKeyAlgorithm as Algorithm;

/// A set of uses, from key flags (RFC 9580, 5.2.3.29) or from the capabilities of the algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage(u8);

impl Usage {
    /// Certifies keys and user IDs.
    pub const CERTIFY: Self = Self(1);
    /// Signs data.
    pub const SIGN: Self = Self(2);
    /// Encrypts, in transit or at rest.
    pub const ENCRYPT: Self = Self(4);
    /// Authenticates.
    pub const AUTHENTICATE: Self = Self(8);
    /// Another key flag.
    pub const OTHER: Self = Self(16);
    /// There are key flags, but none is set, which differs from no key flags.
    pub const NONE: Self = Self(32);
    /// Decrypts what is encrypted to another key of the certificate (LibrePGP's additional decryption subkey).
    pub const ALSO_DECRYPT: Self = Self(64);

    /// Returns whether all of `uses` are in the set.
    pub fn contains(self, uses: Self) -> bool {
        self.0 & uses.0 == uses.0
    }

    /// Returns the set without some uses.
    pub fn without(self, uses: Self) -> Self {
        Self(self.0 & !uses.0)
    }

    /// Converts key flags; the empty set means that there is no subpacket.
    pub(super) fn from_flags(flags: Option<[u8; 2]>) -> Self {
        let Some(flags) = flags.map(u16::from_le_bytes) else { return Self::default() };
        let named = [
            (0x0001, Self::CERTIFY),
            (0x0002, Self::SIGN),
            (0x000c, Self::ENCRYPT),
            (0x0020, Self::AUTHENTICATE),
            (0x00d0, Self::OTHER),
            (0x0400, Self::ALSO_DECRYPT),
        ];
        let usage = named
            .into_iter()
            .filter(|(bits, _)| flags & bits != 0)
            .fold(Self::default(), |set, (_, usage)| set | usage);
        if usage == Self::default() { Self::NONE } else { usage }
    }

    /// Returns the capabilities of an algorithm; the empty set for an unknown one.
    pub(super) fn of_algorithm(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::RSA => Self::CERTIFY | Self::SIGN | Self::ENCRYPT | Self::AUTHENTICATE,
            Algorithm::RSA_ENCRYPT
            | Algorithm::ECDH
            | Algorithm::ELGAMAL
            | Algorithm::X25519
            | Algorithm::X448
            | Algorithm::ML_KEM_768_X25519
            | Algorithm::ML_KEM_1024_X448 => Self::ENCRYPT,
            Algorithm::RSA_SIGN => Self::CERTIFY | Self::SIGN,
            Algorithm::DSA
            | Algorithm::ECDSA
            | Algorithm::EDDSA_LEGACY
            | Algorithm::ED25519
            | Algorithm::ED448
            | Algorithm::ML_DSA_65_ED25519
            | Algorithm::ML_DSA_87_ED448
            | Algorithm::SLH_DSA_SHAKE_128S
            | Algorithm::SLH_DSA_SHAKE_128F
            | Algorithm::SLH_DSA_SHAKE_256S => Self::CERTIFY | Self::SIGN | Self::AUTHENTICATE,
            _ => Self::default(),
        }
    }

    /// Restricts key flags to the capabilities of an algorithm. Without flags the result is all capabilities, for an
    /// unknown algorithm the flags.
    pub(super) fn under(self, algorithm: Algorithm) -> Self {
        let possible = Self::of_algorithm(algorithm);
        match (self, possible) {
            (Self(0), possible) => possible,
            (flags, Self(0)) => flags,
            (flags, possible) if possible.contains(Self::ENCRYPT) => {
                Self(flags.0 & (possible | Self::ALSO_DECRYPT).0)
            }
            (flags, possible) => Self(flags.0 & possible.0),
        }
    }

    /// Returns whether the set says nothing.
    pub(super) fn is_unset(self) -> bool {
        self == Self::default()
    }
}

/// Returns whether keys of an algorithm and a version can be used at all; a subkey of any other is never valid.
pub(super) fn is_usable(algorithm: Algorithm, version: u8) -> bool {
    algorithm != Algorithm::ELGAMAL_BOTH
        && !Usage::of_algorithm(algorithm).is_unset()
        && algorithm.suits_version(version)
}

/// Returns whether keys of an algorithm can make signatures at all.
pub(super) fn signs(algorithm: Algorithm) -> bool {
    Usage::of_algorithm(algorithm).contains(Usage::SIGN)
}

/// Returns whether a primary key of an algorithm can certify, sign or authenticate at all.
pub fn can_be_primary(algorithm: Algorithm) -> bool {
    let possible = Usage::of_algorithm(algorithm);
    [Usage::CERTIFY, Usage::SIGN, Usage::AUTHENTICATE].into_iter().any(|usage| possible.contains(usage))
}

impl BitOr for Usage {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Usage {
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}
