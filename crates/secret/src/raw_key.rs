//! Keys whose parts are bytes of a fixed length: Ed448, X448, and the parts on a curve of RFC 9980's keys.

use openssl::error::ErrorStack;
use openssl::pkey::{Id, PKey, Private};
use openssl::sign::Signer;
use verify::PublicKeyAlgorithm;

/// The public and the secret part of a key.
pub(crate) struct Numbers<'a> {
    id: Id,
    public: &'a [u8],
    secret: &'a [u8],
}

impl<'a> Numbers<'a> {
    /// Reads both parts of an Ed448 key; `None` if one of them has another length.
    pub(crate) fn ed448(public: &'a [u8], secret: &'a [u8]) -> Option<Self> {
        Self::read::<57>(Id::ED448, public, secret)
    }

    /// Reads both parts of an X448 key; `None` if one of them has another length.
    pub(crate) fn x448(public: &'a [u8], secret: &'a [u8]) -> Option<Self> {
        Self::read::<56>(Id::X448, public, secret)
    }

    /// Reads both parts of the key on a curve that belongs to a key of RFC 9980; `None` if one of them has another length.
    pub(crate) fn part(curve: PublicKeyAlgorithm, public: &'a [u8], secret: &'a [u8]) -> Option<Self> {
        match curve {
            PublicKeyAlgorithm::ED25519 => Self::read::<32>(Id::ED25519, public, secret),
            PublicKeyAlgorithm::X25519 => Self::read::<32>(Id::X25519, public, secret),
            PublicKeyAlgorithm::ED448 => Self::ed448(public, secret),
            PublicKeyAlgorithm::X448 => Self::x448(public, secret),
            _ => None,
        }
    }

    fn read<const LENGTH: usize>(id: Id, public: &'a [u8], secret: &'a [u8]) -> Option<Self> {
        (public.len() == LENGTH && secret.len() == LENGTH).then_some(Self { id, public, secret })
    }

    /// Returns whether both parts belong together.
    pub(crate) fn belong(&self) -> Result<bool, ErrorStack> {
        Ok(self.private_key()?.raw_public_key()? == self.public)
    }

    /// Signs a digest, with Ed448 or Ed25519.
    pub(crate) fn sign(&self, digest: &[u8]) -> Result<Vec<u8>, ErrorStack> {
        Signer::new_without_digest(&*self.private_key()?)?.sign_oneshot_to_vec(digest)
    }

    /// Returns the secret part.
    pub(crate) fn secret(&self) -> &[u8] {
        self.secret
    }

    fn private_key(&self) -> Result<PKey<Private>, ErrorStack> {
        PKey::private_key_from_raw_bytes(self.secret, self.id)
    }
}
