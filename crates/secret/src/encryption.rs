//! Encrypts session keys to public keys.

use cert::key::Key;
use libcrypto::Curve;
use openssl::error::ErrorStack;
use verify::PublicKeyAlgorithm;
use zeroize::Zeroizing;

use crate::curve448::{self, X448_OID};
use crate::curve25519::{self, CURVE25519_OID};
use crate::ecdh::Wrapping;
use crate::fields::write_octets;
use crate::key_wrap::KeySize;
use crate::montgomery::{Agreed, Function};
use crate::post_quantum_encryption::Scheme;
use crate::{Error, Result, elgamal, rsa, weierstrass};

/// Encrypts a session key to a public key; returns the algorithm-specific fields of its packet (RFC 9580, 5.1.3 to
/// 5.1.7, and RFC 9980, 4.3.1). `cipher` is the number of the cipher, which packets of version 3 have and those of version 6 do not.
///
/// # Errors
///
/// [`Error::Unsupported`] for a key that cannot be encrypted to, and for other ciphers than AES in packets of version 3
/// with X25519 or X448, alone or beside ML-KEM.
pub fn encrypt(key: &Key<'_>, cipher: Option<u8>, session_key: &[u8]) -> Result<Vec<u8>> {
    if key.algorithm.encrypts_bare_session_keys()
        && cipher.is_some_and(|cipher| KeySize::of(cipher).is_none())
    {
        return Err(Error::unsupported(key, "encrypting to this key with another cipher than AES"));
    }
    libcrypto::initialise();
    let encrypted = encrypted(key, cipher, session_key);
    let encrypted = encrypted.map_err(|error| Error::failed(key, "encrypting a session key", &error))?;
    encrypted.ok_or_else(|| Error::unsupported(key, "encrypting to this key"))
}

/// Returns whether session keys are encrypted to a key: of an ECDH key, the key derivation and the key wrap are no weaker
/// than SHA-256 and AES-128 (RFC 9580, 11.5.1).
pub fn is_safe_to_encrypt_to(key: &Key<'_>) -> bool {
    key.algorithm != PublicKeyAlgorithm::ECDH || Wrapping::of(key).is_some()
}

/// Encrypts a session key; `None` if the key cannot be encrypted to.
fn encrypted(
    key: &Key<'_>,
    cipher: Option<u8>,
    session_key: &[u8],
) -> std::result::Result<Option<Vec<u8>>, ErrorStack> {
    type Algorithm = PublicKeyAlgorithm;
    let content = || numbered_and_summed(cipher, session_key);
    match key.algorithm {
        algorithm if !algorithm.suits_version(key.version) => Ok(None),
        Algorithm::RSA | Algorithm::RSA_ENCRYPT => rsa::encrypt(key.material, &content()),
        // Only packets of version 3 support it.
        Algorithm::ELGAMAL | Algorithm::ELGAMAL_BOTH if cipher.is_some() => {
            elgamal::encrypt(key.material, &content())
        }
        Algorithm::ECDH => encrypted_by_ecdh(key, &content()),
        Algorithm::X25519 => encrypted_natively(Function::X25519, key.material, cipher, session_key),
        Algorithm::X448 => encrypted_natively(Function::X448, key.material, cipher, session_key),
        algorithm => match Scheme::of(algorithm) {
            Some(scheme) => encrypted_beside_ml_kem(scheme, key.material, cipher, session_key),
            None => Ok(None),
        },
    }
}

/// Returns a session key after the number of its cipher, if there is one, and before the sum of its bytes.
fn numbered_and_summed(cipher: Option<u8>, session_key: &[u8]) -> Zeroizing<Vec<u8>> {
    let sum = session_key.iter().fold(0_u16, |sum, byte| sum.wrapping_add((*byte).into()));
    Zeroizing::new([cipher.as_slice(), session_key, &sum.to_be_bytes()].concat())
}

fn encrypted_by_ecdh(key: &Key<'_>, content: &[u8]) -> std::result::Result<Option<Vec<u8>>, ErrorStack> {
    let Some(wrapping) = Wrapping::of(key) else { return Ok(None) };
    let agreed = match key.curve() {
        Some(CURVE25519_OID) => {
            let Some(public) = curve25519::point(key.material) else { return Ok(None) };
            let agreed = Function::X25519.agree(&public)?;
            agreed.map(|agreed| Agreed {
                ephemeral: [&[curve25519::NATIVE], &agreed.ephemeral[..]].concat(),
                ..agreed
            })
        }
        Some(X448_OID) => match curve448::point(key.material) {
            Some(public) => Function::X448.agree(public)?,
            None => None,
        },
        Some(oid) => match Curve::by_oid(oid) {
            Some(curve) => weierstrass::agree(curve, key.material)?,
            None => None,
        },
        None => None,
    };
    let Some(Agreed { ephemeral: point, shared }) = agreed else { return Ok(None) };
    let Some(wrapped) = wrapping.wrap(&shared, content)? else { return Ok(None) };
    Ok(Some([&write_octets(&point)[..], &[wrapped.len() as u8], &wrapped].concat()))
}

/// Encrypts as RFC 9580 does with its own curves; the number of the cipher is not encrypted.
fn encrypted_natively(
    function: Function,
    public: &[u8],
    cipher: Option<u8>,
    session_key: &[u8],
) -> std::result::Result<Option<Vec<u8>>, ErrorStack> {
    let Some(agreed) = function.agree(public)? else { return Ok(None) };
    let wrapped = function.wrap(public, &agreed, session_key)?;
    let wrapped = [cipher.as_slice(), &wrapped].concat();
    Ok(Some([&agreed.ephemeral[..], &[wrapped.len() as u8], &wrapped].concat()))
}

/// Encrypts as RFC 9980 does with ML-KEM beside a curve of RFC 9580; the number of the cipher is not encrypted.
fn encrypted_beside_ml_kem(
    scheme: Scheme,
    public: &[u8],
    cipher: Option<u8>,
    session_key: &[u8],
) -> std::result::Result<Option<Vec<u8>>, ErrorStack> {
    let Some([ephemeral, ciphertext, wrapped]) = scheme.wrap(public, session_key)? else { return Ok(None) };
    let wrapped = [cipher.as_slice(), &wrapped].concat();
    Ok(Some([&ephemeral[..], &ciphertext, &[wrapped.len() as u8], &wrapped].concat()))
}
