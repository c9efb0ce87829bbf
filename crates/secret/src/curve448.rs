//! Ed448 and X448 keys.

use openssl::error::ErrorStack;
use openssl::pkey::{Id, PKey, Private};
use openssl::sign::Signer;

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

    fn read<const LENGTH: usize>(id: Id, public: &'a [u8], secret: &'a [u8]) -> Option<Self> {
        (public.len() == LENGTH && secret.len() == LENGTH).then_some(Self { id, public, secret })
    }

    /// Returns whether both parts belong together.
    pub(crate) fn belong(&self) -> Result<bool, ErrorStack> {
        Ok(self.private_key()?.raw_public_key()? == self.public)
    }

    /// Signs a digest, with Ed448.
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
