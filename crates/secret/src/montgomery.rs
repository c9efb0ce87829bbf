//! Key agreement by X25519 and X448, and the keys that it derives for session keys of RFC 9580 (5.1.6 and 5.1.7).

use openssl::derive::Deriver;
use openssl::error::ErrorStack;
use openssl::pkey::{Id, PKey, PKeyRef, Private};
use symmetric::HkdfHash;
use zeroize::Zeroizing;

use crate::key_wrap::{self, KeySize};

/// A function of RFC 7748.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    X25519,
    X448,
}

/// An ephemeral public key, and the secret that it shares with a recipient's key.
pub(crate) struct Agreed {
    pub(crate) ephemeral: Vec<u8>,
    pub(crate) shared: Zeroizing<Vec<u8>>,
}

impl Function {
    /// Makes an ephemeral key for a public one; `None` if that has a small order or another length.
    pub(crate) fn agree(self, public: &[u8]) -> Result<Option<Agreed>, ErrorStack> {
        libcrypto::initialise();
        let own = match self {
            Self::X25519 => PKey::generate_x25519()?,
            Self::X448 => PKey::generate_x448()?,
        };
        let ephemeral = own.raw_public_key()?;
        Ok(self.derived(&own, public)?.map(|shared| Agreed { ephemeral, shared }))
    }

    /// Returns the secret that a secret key shares with an ephemeral one; `None` if that has a small order or another
    /// length.
    pub(crate) fn shared(
        self,
        secret: &[u8],
        ephemeral: &[u8],
    ) -> Result<Option<Zeroizing<Vec<u8>>>, ErrorStack> {
        libcrypto::initialise();
        self.derived(&*PKey::private_key_from_raw_bytes(secret, self.id())?, ephemeral)
    }

    fn derived(
        self,
        own: &PKeyRef<Private>,
        partner: &[u8],
    ) -> Result<Option<Zeroizing<Vec<u8>>>, ErrorStack> {
        let Ok(partner) = PKey::public_key_from_raw_bytes(partner, self.id()) else { return Ok(None) };
        let mut deriver = Deriver::new(own)?;
        deriver.set_peer(&partner)?;
        // The only error is a secret of zeros, to which points of small order lead (RFC 7748, 6).
        Ok(deriver.derive_to_vec().ok().map(Zeroizing::new))
    }

    /// Wraps a session key, whose length is a multiple of 8, for a public key.
    pub(crate) fn wrap(
        self,
        public: &[u8],
        agreed: &Agreed,
        session_key: &[u8],
    ) -> Result<Vec<u8>, ErrorStack> {
        let key = self.wrapping_key(&agreed.ephemeral, public, &agreed.shared);
        key_wrap::wrap(self.size(), &key, session_key)
    }

    /// Unwraps a session key; `None` if it was not wrapped for the public key.
    pub(crate) fn unwrap(
        self,
        public: &[u8],
        ephemeral: &[u8],
        shared: &[u8],
        wrapped: &[u8],
    ) -> Result<Option<Zeroizing<Vec<u8>>>, ErrorStack> {
        key_wrap::unwrap(self.size(), &self.wrapping_key(ephemeral, public, shared), wrapped)
    }

    fn wrapping_key(self, ephemeral: &[u8], public: &[u8], shared: &[u8]) -> Zeroizing<Vec<u8>> {
        let (hash, info): (_, &[u8]) = match self {
            Self::X25519 => (HkdfHash::Sha256, b"OpenPGP X25519"),
            Self::X448 => (HkdfHash::Sha512, b"OpenPGP X448"),
        };
        let input = Zeroizing::new([ephemeral, public, shared].concat());
        let mut key = Zeroizing::new(vec![0; self.size().bytes()]);
        symmetric::expand(hash, &input, &[], info, &mut key);
        key
    }

    fn size(self) -> KeySize {
        match self {
            Self::X25519 => KeySize::Aes128,
            Self::X448 => KeySize::Aes256,
        }
    }

    fn id(self) -> Id {
        match self {
            Self::X25519 => Id::X25519,
            Self::X448 => Id::X448,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_of_small_order_and_a_key_of_another_length_share_no_secret() {
        for (function, length) in [(Function::X25519, 32), (Function::X448, 56)] {
            let secret = vec![9; length];
            let mut one = vec![0; length];
            one[0] = 1;
            for point in [vec![0; length], one, vec![5; length - 1], Vec::new()] {
                assert!(function.shared(&secret, &point).expect("memory").is_none(), "{function:?}");
                assert!(function.agree(&point).expect("memory").is_none(), "{function:?}");
            }
            assert!(function.shared(&secret, &vec![5; length]).expect("memory").is_some(), "{function:?}");
        }
    }
}
