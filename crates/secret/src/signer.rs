//! The interfaces of keys that sign and decrypt.

use cert::key::Key;
use verify::HashAlgorithm;
use zeroize::Zeroizing;

use crate::{Ciphertext, Result};

/// A key that signs: an unlocked key, or a key that is unlocked at its first use, wherever the secret is.
pub trait Signer {
    /// Returns the public key.
    fn key(&self) -> Key<'_>;

    /// Signs a digest and returns the algorithm-specific fields of the signature packet (RFC 9580, 5.2.3).
    ///
    /// # Errors
    ///
    /// Those of unlocking, and [`Unsupported`](crate::Error::Unsupported) for a key that cannot sign.
    fn sign(&mut self, hash: HashAlgorithm, digest: &[u8]) -> Result<Vec<u8>>;
}

/// A key that decrypts session keys.
pub trait Decryptor {
    /// Returns the public key.
    fn key(&self) -> Key<'_>;

    /// Decrypts a session key and returns it without the padding; for RSA, Elgamal and ECDH with the cipher and
    /// checksum bytes that version 3 packets have around it.
    ///
    /// # Errors
    ///
    /// Those of unlocking, [`Unsupported`](crate::Error::Unsupported) for a ciphertext of another algorithm than the
    /// key's, and [`Operation`](crate::Error::Operation) if the session key was not encrypted to this key. For RSA and
    /// Elgamal that is no error: the result is another one, or empty, and its checksum is wrong.
    fn decrypt(&mut self, ciphertext: &Ciphertext<'_>) -> Result<Zeroizing<Vec<u8>>>;
}

/// An open key of a store, which signs and decrypts.
pub trait OpenKey: Signer + Decryptor {}

impl<T: Signer + Decryptor> OpenKey for T {}
