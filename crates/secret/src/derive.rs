//! Derives cipher keys from passphrases.

use cert::Fingerprint;
use symmetric::{Aead, AeadKey, Cipher, HkdfHash, S2k};

use crate::memory::Guarded;
use crate::{Error, Passphrase, Result, Role};

/// Derives a cipher's key from the passphrase of the secret key `key`.
///
/// # Errors
///
/// [`Error::TooExpensive`] above the limits, [`Error::UnknownProtection`] for an unknown hash algorithm.
pub(crate) fn derive(s2k: S2k, key: Fingerprint, passphrase: &Passphrase, cipher: Cipher) -> Result<Guarded> {
    let mut derived = Guarded::zeroed(cipher.key_size());
    s2k.fill(passphrase.as_bytes(), &mut derived).map_err(|error| derivation_error(error, key))?;
    Ok(derived)
}

/// Turns an error of the key derivation into an error about the secret key.
fn derivation_error(error: symmetric::Error, key: Fingerprint) -> Error {
    match error {
        symmetric::Error::TooExpensive { exponent, .. } => {
            Error::TooExpensive { key, exponent, limit: symmetric::MAX_ARGON2_EXPONENT }
        }
        symmetric::Error::ImpossibleArgon2 => {
            Error::Malformed { key, what: "its Argon2 parameters are impossible" }
        }
        symmetric::Error::UnknownHash(hash) => {
            Error::UnknownProtection { key, what: format!("digest {}", hash.0) }
        }
        other => Error::UnknownProtection { key, what: other.to_string() },
    }
}

/// Returns the key of an authenticated mode and the associated data, to which the secret is bound: the type of the packet
/// and its public part (RFC 9580, 3.7.2.1).
pub(crate) fn authenticated(
    cipher: Cipher,
    mode: Aead,
    derived: &[u8],
    role: Role,
    public: &[u8],
    key: Fingerprint,
) -> Result<(AeadKey, Vec<u8>)> {
    let tag = 0xc0 | role.secret_tag().0;
    let mut expanded = Guarded::zeroed(derived.len());
    let info = [tag, key.version(), cipher.number(), mode.number()];
    symmetric::expand(HkdfHash::Sha256, derived, &[], &info, &mut expanded);
    let aead = AeadKey::new(cipher, mode, &expanded).map_err(|error| derivation_error(error, key))?;
    Ok((aead, [&[tag], public].concat()))
}
