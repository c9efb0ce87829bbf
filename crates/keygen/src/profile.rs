//! What a new certificate is to be.

use crate::algorithm::{Algorithm, Version};
use crate::error::{Error, Result};
use crate::material::Use;
use crate::preferences::Preferences;
use cert::Keygrip;
use cert::facts::Revoker;
use sign::KeyFlags;
use std::num::NonZeroU32;
use verify::{HashAlgorithm, PublicKeyAlgorithm};

/// What a new certificate is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The version of its keys.
    pub version: Version,
    /// The primary key.
    pub primary: Plan,
    /// The subkeys, in their order.
    pub subkeys: Vec<Plan>,
    /// What its owner wants to be sent.
    pub preferences: Preferences,
    /// The user IDs, the primary one first.
    pub user_ids: Vec<Vec<u8>>,
    /// Where to find newer versions of the certificate.
    pub keyserver: Option<Vec<u8>>,
    /// Who else may revoke the certificate.
    pub revoker: Option<Revoker>,
    /// The digest of its signatures, if it is not to be the one that fits each key.
    pub digest: Option<HashAlgorithm>,
}

impl Profile {
    /// Makes the primary key and all subkeys anew, of this algorithm.
    ///
    /// # Errors
    ///
    /// [`Error::Purposes`] if a key is to do what the algorithm cannot.
    pub fn made_of(mut self, algorithm: Algorithm) -> Result<Self> {
        for plan in std::iter::once(&mut self.primary).chain(&mut self.subkeys) {
            *plan = Plan::new(algorithm, plan.flags)?.living(plan.lifetime);
        }
        Ok(self)
    }

    /// Gives the primary key and all subkeys the same lifetime, in seconds; `None` is without end.
    pub fn living(mut self, lifetime: Option<NonZeroU32>) -> Self {
        self.primary.lifetime = lifetime;
        self.subkeys.iter_mut().for_each(|subkey| subkey.lifetime = lifetime);
        self
    }
}

/// Where a key of a new certificate comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// It is made.
    New(Algorithm),
    /// It is there already, with this keygrip; it becomes a key of this public-key algorithm.
    Held(Keygrip, PublicKeyAlgorithm),
}

/// One key of a new certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    source: Source,
    flags: KeyFlags,
    /// Seconds from its creation to its end; `None` is without end.
    pub lifetime: Option<NonZeroU32>,
}

impl Plan {
    /// Plans a key for these purposes, without end.
    ///
    /// # Errors
    ///
    /// [`Error::NoPurpose`] for none, [`Error::Purposes`] for what keys of that algorithm cannot do.
    pub fn new(algorithm: Algorithm, flags: KeyFlags) -> Result<Self> {
        match (signs(flags), encrypts(flags)) {
            (false, false) => Err(Error::NoPurpose),
            (true, true) if !algorithm.does_both() => Err(Error::Purposes(algorithm)),
            (true, _) if !algorithm.signs() => Err(Error::Purposes(algorithm)),
            (_, true) if !algorithm.encrypts() => Err(Error::Purposes(algorithm)),
            _ => Ok(Self { source: Source::New(algorithm), flags, lifetime: None }),
        }
    }

    /// Plans to use a key that is there already, as one of this algorithm.
    ///
    /// # Errors
    ///
    /// [`Error::NoPurpose`].
    pub fn held(keygrip: Keygrip, algorithm: PublicKeyAlgorithm, flags: KeyFlags) -> Result<Self> {
        match signs(flags) || encrypts(flags) {
            false => Err(Error::NoPurpose),
            true => Ok(Self { source: Source::Held(keygrip, algorithm), flags, lifetime: None }),
        }
    }

    /// Gives the key a lifetime, in seconds; `None` is without end.
    pub(crate) fn living(self, lifetime: Option<NonZeroU32>) -> Self {
        Self { lifetime, ..self }
    }

    /// Returns where the key comes from.
    pub fn source(&self) -> Source {
        self.source
    }

    /// Returns what the key is made of, if it is made.
    pub fn algorithm(&self) -> Option<Algorithm> {
        match self.source {
            Source::New(algorithm) => Some(algorithm),
            Source::Held(..) => None,
        }
    }

    /// Returns what the key is for.
    pub fn flags(&self) -> KeyFlags {
        self.flags
    }

    pub(crate) fn purpose(&self) -> Use {
        if signs(self.flags) { Use::Sign } else { Use::Encrypt }
    }
}

fn signs(KeyFlags(flags): KeyFlags) -> bool {
    flags & (KeyFlags::CERTIFY | KeyFlags::SIGN | KeyFlags::AUTHENTICATE).0 != 0
}

fn encrypts(KeyFlags(flags): KeyFlags) -> bool {
    flags & KeyFlags::ENCRYPT.0 != 0
}

/// The profiles that are always there: name and what it is good for.
pub const NAMED: [(&str, &str); 3] = [
    ("compatible", "version 4, Ed25519 and Cv25519: every GnuPG since 2.1 reads it"),
    ("modern", "version 6, Ed25519 and X25519, as RFC 9580 has them"),
    ("rsa4096", "version 4, RSA with 4096 bits: everything reads it"),
];

/// The profile that is taken where none is named.
pub const DEFAULT: &str = NAMED[0].0;

impl Profile {
    /// Returns a profile that is always there, without user IDs; `None` for another name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "compatible" => Some(Self::usual(Version::V4, Algorithm::Curve25519)),
            "modern" => Some(Self::usual(Version::V6, Algorithm::Curve25519)),
            "rsa4096" => Some(Self::usual(Version::V4, Algorithm::parse("rsa4096").ok()?)),
            _ => None,
        }
    }

    /// Returns the profile with a primary key that certifies and signs, and a subkey that encrypts.
    pub fn usual(version: Version, algorithm: Algorithm) -> Self {
        let plan = |flags| Plan::new(algorithm, flags).expect("either signs or encrypts");
        Self {
            version,
            primary: plan(KeyFlags::CERTIFY | KeyFlags::SIGN),
            subkeys: vec![plan(KeyFlags::ENCRYPT)],
            preferences: Preferences::of_version(version),
            user_ids: Vec::new(),
            keyserver: None,
            revoker: None,
            digest: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::{DsaSize, ElgamalSize};

    #[test]
    fn a_key_on_a_curve_signs_or_encrypts() {
        let both = KeyFlags::SIGN | KeyFlags::ENCRYPT;
        assert!(matches!(Plan::new(Algorithm::NistP256, both), Err(Error::Purposes(Algorithm::NistP256))));
        assert!(Plan::new(Algorithm::parse("rsa2048").unwrap(), both).is_ok());
        assert!(matches!(Plan::new(Algorithm::NistP256, KeyFlags(0)), Err(Error::NoPurpose)));
        let (dsa, elgamal) = (
            Algorithm::Dsa(DsaSize::new(1024).unwrap()),
            Algorithm::Elgamal(ElgamalSize::new(1024).unwrap()),
        );
        assert!(Plan::new(dsa, KeyFlags::SIGN).is_ok() && Plan::new(elgamal, KeyFlags::ENCRYPT).is_ok());
        assert!(matches!(Plan::new(dsa, KeyFlags::ENCRYPT), Err(Error::Purposes(_))));
        assert!(matches!(Plan::new(elgamal, KeyFlags::SIGN), Err(Error::Purposes(_))));
    }

    #[test]
    fn every_named_profile_is_there() {
        for (name, _) in NAMED {
            assert!(Profile::named(name).is_some(), "{name}");
        }
        assert_eq!(Profile::named("fast"), None);
    }

    #[test]
    fn all_keys_of_a_profile_get_the_same_lifetime() {
        let year = NonZeroU32::new(365 * 86400);
        let profile = Profile::named(DEFAULT).unwrap().living(year);
        assert_eq!([profile.primary.lifetime, profile.subkeys[0].lifetime], [year; 2]);
    }
}
