//! A cipher's key from a passphrase.

use aws_lc_rs::hkdf;
use cert::Fingerprint;
use sequoia_openpgp::crypto::{Password, S2K};
use verify::HashAlgorithm;
use verify::hash::Hasher;
use zeroize::Zeroizing;

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
        match *self {
            Self::Implicit => hashed(key, HashAlgorithm::MD5, &[], passphrase, 0, length),
            Self::Simple { hash } => hashed(key, hash, &[], passphrase, 0, length),
            Self::Salted { hash, salt } => hashed(key, hash, &salt, passphrase, 0, length),
            Self::Iterated { hash, salt, count } => {
                hashed(key, hash, &salt, passphrase, Self::octets(count) as usize, length)
            }
            Self::Argon2 { salt, passes, lanes, exponent } => {
                let argon2 = S2K::Argon2 { salt, t: passes, p: lanes, m: exponent };
                let derived = argon2.derive_key(&Password::from(passphrase.as_bytes()), length);
                let derived = derived.map_err(|error| Error::Operation {
                    key,
                    what: "making a key of the passphrase",
                    reason: error.to_string(),
                })?;
                Ok(Guarded::copy_of(&derived))
            }
        }
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
}

/// Hashes salt and passphrase, repeated up to `octets`, but at least once; behind one zero more for each further digest
/// that the length asks for (RFC 9580, 3.7.1.1 to 3.7.1.3).
fn hashed(
    key: Fingerprint,
    hash: HashAlgorithm,
    salt: &[u8],
    passphrase: &Passphrase,
    octets: usize,
    length: usize,
) -> Result<Guarded> {
    /// Octets that are handed to the digest at once.
    const PIECE: usize = 16 << 10;
    let unknown = || Error::UnknownProtection { key, what: format!("digest {}", hash.0) };
    let once = Zeroizing::new([salt, passphrase.as_bytes()].concat());
    let octets = octets.max(once.len());
    let repeated = Zeroizing::new(once.repeat(PIECE / once.len().max(1) + 1));
    let mut derived = Guarded::zeroed(length);
    let mut filled = 0;
    for zeros in 0.. {
        if filled == length {
            break;
        }
        let mut hasher = Hasher::new(hash).ok_or_else(unknown)?;
        hasher.update(&vec![0; zeros]);
        let mut left = octets;
        while left > 0 {
            let piece = repeated.len().min(left);
            hasher.update(&repeated[..piece]);
            left -= piece;
        }
        let digest = hasher.finish().ok_or_else(unknown)?;
        let more = digest.as_bytes().len().min(length - filled);
        derived[filled..filled + more].copy_from_slice(&digest.as_bytes()[..more]);
        filled += more;
    }
    Ok(derived)
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
