//! Profiles of new certificates.

use crate::algorithm::{Algorithm, Version};
use crate::error::{Error, Result};
use crate::material::KeyUse;
use crate::preferences::Preferences;
use cert::Keygrip;
use cert::facts::Revoker;
use sign::KeyFlags;
use std::num::NonZeroU32;
use verify::{HashAlgorithm, PublicKeyAlgorithm};

/// Describes a new certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The version of its keys.
    pub version: Version,
    /// The primary key.
    pub primary: Plan,
    /// The subkeys in order.
    pub subkeys: Vec<Plan>,
    /// The algorithm preferences.
    pub preferences: Preferences,
    /// The user IDs, the primary one first.
    pub user_ids: Vec<Vec<u8>>,
    /// The preferred key server.
    pub keyserver: Option<Vec<u8>>,
    /// Its designated revokers.
    pub revokers: Vec<Revoker>,
    /// Keys of others to which is encrypted what is encrypted to the certificate.
    pub decryption_subkeys: Vec<DecryptionSubkey>,
    /// The hash algorithm of its signatures; `None` for the one that suits each key.
    pub digest: Option<HashAlgorithm>,
}

/// A key of another certificate that is bound as an additional decryption subkey (LibrePGP).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecryptionSubkey {
    /// The body of its packet.
    pub public: Vec<u8>,
    /// Its lifetime in seconds from its creation time.
    pub lifetime: Option<NonZeroU32>,
}

impl Profile {
    /// Plans new keys of one algorithm for the primary key and all subkeys.
    ///
    /// # Errors
    ///
    /// [`Error::Purposes`] if keys of the algorithm cannot serve the purposes of a key.
    pub fn made_of(mut self, algorithm: Algorithm) -> Result<Self> {
        for plan in std::iter::once(&mut self.primary).chain(&mut self.subkeys) {
            *plan = Plan::new(algorithm, plan.flags)?.living(plan.lifetime);
        }
        Ok(self)
    }

    /// Sets the lifetime of the primary key and all subkeys, in seconds; with `None` they never expire.
    pub fn living(mut self, lifetime: Option<NonZeroU32>) -> Self {
        self.primary.lifetime = lifetime;
        self.subkeys.iter_mut().for_each(|subkey| subkey.lifetime = lifetime);
        self
    }
}

/// The origin of a key of a new certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeySource {
    /// The key is generated.
    New(Algorithm),
    /// The existing key with this keygrip, used with this public-key algorithm.
    Existing(Keygrip, PublicKeyAlgorithm),
}

/// One key of a new certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    source: KeySource,
    flags: KeyFlags,
    /// The lifetime in seconds from the creation time; `None` if the key never expires.
    pub lifetime: Option<NonZeroU32>,
    /// The version of the key; `None` for the certificate's.
    pub version: Option<Version>,
}

impl Plan {
    /// Plans a new key for these purposes that never expires.
    ///
    /// # Errors
    ///
    /// [`Error::NoPurpose`] without a purpose, [`Error::Purposes`] if keys of the algorithm cannot serve them.
    pub fn new(algorithm: Algorithm, flags: KeyFlags) -> Result<Self> {
        match (signs(flags), encrypts(flags)) {
            (false, false) => Err(Error::NoPurpose),
            (true, true) if !algorithm.does_both() => {
                Err(Error::Purposes { algorithm: algorithm.to_string() })
            }
            (true, _) if !algorithm.signs() => Err(Error::Purposes { algorithm: algorithm.to_string() }),
            (_, true) if !algorithm.encrypts() => Err(Error::Purposes { algorithm: algorithm.to_string() }),
            _ => Ok(Self { source: KeySource::New(algorithm), flags, lifetime: None, version: None }),
        }
    }

    /// Plans to use an existing key with this algorithm.
    ///
    /// # Errors
    ///
    /// [`Error::NoPurpose`].
    pub fn existing(keygrip: Keygrip, algorithm: PublicKeyAlgorithm, flags: KeyFlags) -> Result<Self> {
        match signs(flags) || encrypts(flags) {
            false => Err(Error::NoPurpose),
            true => {
                let source = KeySource::Existing(keygrip, algorithm);
                Ok(Self { source, flags, lifetime: None, version: None })
            }
        }
    }

    /// Sets the lifetime in seconds; with `None` the key never expires.
    pub(crate) fn living(self, lifetime: Option<NonZeroU32>) -> Self {
        Self { lifetime, ..self }
    }

    /// Returns the origin of the key.
    pub fn source(&self) -> KeySource {
        self.source
    }

    /// Returns the algorithm of a key that is generated.
    pub fn algorithm(&self) -> Option<Algorithm> {
        match self.source {
            KeySource::New(algorithm) => Some(algorithm),
            KeySource::Existing(..) => None,
        }
    }

    /// Returns the key flags.
    pub fn flags(&self) -> KeyFlags {
        self.flags
    }

    pub(crate) fn purpose(&self) -> KeyUse {
        if signs(self.flags) { KeyUse::Sign } else { KeyUse::Encrypt }
    }
}

fn signs(KeyFlags(flags): KeyFlags) -> bool {
    flags & (KeyFlags::CERTIFY | KeyFlags::SIGN | KeyFlags::AUTHENTICATE).0 != 0
}

fn encrypts(KeyFlags(flags): KeyFlags) -> bool {
    flags & KeyFlags::ENCRYPT.0 != 0
}

/// The built-in profiles: names and descriptions.
pub const NAMED: [(&str, &str); 4] = [
    ("compatible", "version 4, Ed25519 and Cv25519: every GnuPG since 2.1 reads it"),
    ("modern", "version 6, Ed25519 and X25519, as RFC 9580 has them"),
    ("post-quantum", "version 6, ML-DSA-65 with Ed25519 and ML-KEM-768 with X25519, as RFC 9980 has them"),
    ("rsa4096", "version 4, RSA with 4096 bits: everything reads it"),
];

/// The name of the default profile.
pub const DEFAULT: &str = NAMED[0].0;

impl Profile {
    /// Finds a built-in profile, which has no user IDs; `None` for another name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "compatible" => Some(Self::usual(Version::V4, Algorithm::Curve25519)),
            "modern" => Some(Self::usual(Version::V6, Algorithm::Curve25519)),
            "post-quantum" => Some(Self::usual(Version::V6, Algorithm::MlDsa65)),
            "rsa4096" => Some(Self::usual(Version::V4, Algorithm::parse("rsa4096").ok()?)),
            _ => None,
        }
    }

    /// Returns a profile with a primary key that certifies and signs, and a subkey that encrypts.
    pub fn usual(version: Version, algorithm: Algorithm) -> Self {
        let plan = |flags| Plan::new(algorithm, flags).expect("either signs or encrypts");
        Self {
            version,
            primary: plan(KeyFlags::CERTIFY | KeyFlags::SIGN),
            subkeys: vec![plan(KeyFlags::ENCRYPT)],
            preferences: Preferences::of_version(version),
            user_ids: Vec::new(),
            keyserver: None,
            revokers: Vec::new(),
            decryption_subkeys: Vec::new(),
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
        assert!(
            matches!(Plan::new(Algorithm::Weierstrass(libcrypto::Curve::NistP256), both), Err(Error::Purposes { algorithm }) if algorithm == "nistp256")
        );
        assert!(Plan::new(Algorithm::parse("rsa2048").unwrap(), both).is_ok());
        assert!(matches!(
            Plan::new(Algorithm::Weierstrass(libcrypto::Curve::NistP256), KeyFlags(0)),
            Err(Error::NoPurpose)
        ));
        let (dsa, elgamal) = (
            Algorithm::Dsa(DsaSize::new(1024).unwrap()),
            Algorithm::Elgamal(ElgamalSize::at_least(2048).unwrap()),
        );
        assert!(Plan::new(dsa, KeyFlags::SIGN).is_ok() && Plan::new(elgamal, KeyFlags::ENCRYPT).is_ok());
        assert!(matches!(Plan::new(dsa, KeyFlags::ENCRYPT), Err(Error::Purposes { .. })));
        assert!(matches!(Plan::new(elgamal, KeyFlags::SIGN), Err(Error::Purposes { .. })));
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
