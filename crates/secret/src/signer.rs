//! What signs, and what opens session keys.

use cert::key::Key;
use verify::HashAlgorithm;
use zeroize::Zeroizing;

use crate::{Ciphertext, Result};

/// What signs: an unlocked key, or a key whose secret is unlocked when it is first needed, wherever it lives.
pub trait Signer {
    /// Returns the public half.
    fn key(&self) -> Key<'_>;

    /// Signs a digest and returns the signature's algorithm-specific fields (RFC 9580, 5.2.3), ready for the packet.
    ///
    /// # Errors
    ///
    /// Those of unlocking, and [`Unsupported`](crate::Error::Unsupported) for a key that cannot sign.
    fn sign(&mut self, hash: HashAlgorithm, digest: &[u8]) -> Result<Vec<u8>>;
}

/// What opens session keys.
pub trait Decryptor {
    /// Returns the public half.
    fn key(&self) -> Key<'_>;

    /// Opens a session key and returns what the padding held: for RSA, Elgamal and ECDH with the bytes of cipher and
    /// checksum that a packet of version 3 puts around it.
    ///
    /// `length` is how long that is, if it is known.
    ///
    /// # Errors
    ///
    /// Those of unlocking, and [`Operation`](crate::Error::Operation) if the session key was not encrypted to this key.
    fn decrypt(&mut self, ciphertext: &Ciphertext<'_>, length: Option<usize>) -> Result<Zeroizing<Vec<u8>>>;
}

/// A key of a store, ready for both.
pub trait OpenKey: Signer + Decryptor {}

impl<T: Signer + Decryptor> OpenKey for T {}
