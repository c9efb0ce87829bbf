//! A cipher's key from a passphrase.

use aws_lc_rs::hkdf;
use cert::Fingerprint;
use sequoia_openpgp::crypto::{Password, S2K, SessionKey};

use crate::memory::Guarded;
use crate::{Error, Passphrase, Result, S2k};

/// The most memory that Argon2 gets, as its exponent: 2 GiB, what RFC 9106 recommends at most.
const MAX_ARGON2_EXPONENT: u8 = 21;

/// The most passes that Argon2 gets over the most memory; less memory allows more.
const MAX_ARGON2_PASSES: u32 = 8;

impl S2k {
    /// Makes a cipher's key of so many octets.
    ///
    /// # Errors
    ///
    /// [`Error::TooExpensive`] above the limits, [`Error::UnknownProtection`] for a digest that is not known.
    pub(crate) fn derive(&self, key: Fingerprint, passphrase: &Passphrase, length: usize) -> Result<Guarded> {
        self.refuse_expensive(key)?;
        let password = Password::from(passphrase.as_bytes());
        let derived = self.as_sequoia(key)?.derive_key(&password, length);
        let derived: SessionKey = derived.map_err(|error| Error::Operation {
            key,
            what: "making a key of the passphrase",
            reason: error.to_string(),
        })?;
        Ok(Guarded::copy_of(&derived))
    }

    fn refuse_expensive(&self, key: Fingerprint) -> Result<()> {
        let Self::Argon2 { passes, lanes, exponent, .. } = *self else { return Ok(()) };
        if passes == 0 || lanes == 0 || 1u64 << exponent.min(63) < 8 * u64::from(lanes) {
            return Err(Error::Malformed { key, what: "its Argon2 parameters are impossible" });
        }
        let most_passes = MAX_ARGON2_PASSES << (MAX_ARGON2_EXPONENT.saturating_sub(exponent)).min(20);
        if exponent > MAX_ARGON2_EXPONENT || u32::from(passes) > most_passes {
            return Err(Error::TooExpensive { key, exponent, limit: MAX_ARGON2_EXPONENT });
        }
        Ok(())
    }

    #[allow(deprecated)] // What others wrote long ago is read.
    fn as_sequoia(&self, key: Fingerprint) -> Result<S2K> {
        Ok(match *self {
            Self::Implicit => S2K::Implicit,
            Self::Simple { hash } => S2K::Simple { hash: known(key, hash)? },
            Self::Salted { hash, salt } => S2K::Salted { hash: known(key, hash)?, salt },
            Self::Iterated { hash, salt, count } => {
                S2K::Iterated { hash: known(key, hash)?, salt, hash_bytes: Self::octets(count) }
            }
            Self::Argon2 { salt, passes, lanes, exponent } => {
                S2K::Argon2 { salt, t: passes, p: lanes, m: exponent }
            }
        })
    }
}

fn known(key: Fingerprint, hash: verify::HashAlgorithm) -> Result<sequoia_openpgp::types::HashAlgorithm> {
    let known = sequoia_openpgp::types::HashAlgorithm::from(hash.0);
    if known.is_supported() {
        Ok(known)
    } else {
        Err(Error::UnknownProtection { key, what: format!("digest {}", hash.0) })
    }
}

/// Expands a key with HKDF and SHA-256, without salt (RFC 9580, 3.7.2.1).
pub(crate) fn expand(key: &[u8], info: &[u8], length: usize) -> Guarded {
    struct Length(usize);
    impl hkdf::KeyType for Length {
        fn len(&self) -> usize {
            self.0
        }
    }
    let mut expanded = Guarded::zeroed(length);
    let salt = hkdf::Salt::new(hkdf::HKDF_SHA256, &[]);
    let done =
        salt.extract(key).expand(&[info], Length(length)).and_then(|material| material.fill(&mut expanded));
    done.expect("a cipher's key is far shorter than what HKDF can give");
    expanded
}
