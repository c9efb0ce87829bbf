//! ML-KEM with X25519 or X448 (RFC 9980, 4).

use libcrypto::post_quantum::KeyEncapsulation;
use openssl::error::ErrorStack;
use openssl::md::Md;
use openssl::md_ctx::MdCtx;
use verify::PublicKeyAlgorithm;
use zeroize::Zeroizing;

use crate::key_wrap::{self, KeySize};
use crate::montgomery::{Agreed, Function};
use crate::raw_key;

/// The two parts of an algorithm.
#[derive(Clone, Copy)]
pub(crate) struct Scheme {
    algorithm: PublicKeyAlgorithm,
    function: Function,
    kem: KeyEncapsulation,
}

impl Scheme {
    /// Returns the parts of an algorithm; `None` for another one.
    pub(crate) fn of(algorithm: PublicKeyAlgorithm) -> Option<Self> {
        let kem = algorithm.key_encapsulation()?;
        let function = match algorithm.curve_part()? {
            PublicKeyAlgorithm::X448 => Function::X448,
            _ => Function::X25519,
        };
        Some(Self { algorithm, function, kem })
    }

    /// Returns the length in bytes of the ephemeral key on the curve.
    pub(crate) fn ephemeral_length(self) -> usize {
        match self.function {
            Function::X25519 => 32,
            Function::X448 => 56,
        }
    }

    /// Returns the length in bytes of ML-KEM's ciphertext.
    pub(crate) fn ciphertext_length(self) -> usize {
        self.kem.ciphertext_length()
    }

    /// Wraps a session key for a public key, and returns the ephemeral key, ML-KEM's ciphertext and the wrapped session
    /// key; `None` if the public key is malformed.
    pub(crate) fn wrap(self, public: &[u8], session_key: &[u8]) -> Result<Option<[Vec<u8>; 3]>, ErrorStack> {
        let Some((on_curve, public)) = self.split(public) else { return Ok(None) };
        let Some(Agreed { ephemeral, shared }) = self.function.agree(on_curve)? else { return Ok(None) };
        let encapsulated = match self.kem.encapsulate(public) {
            Err(errors) if libcrypto::is_about_input(&errors) => return Ok(None),
            encapsulated => encapsulated?,
        };
        let key = self.wrapping_key(&encapsulated.shared, &shared, &ephemeral, on_curve)?;
        let wrapped = key_wrap::wrap(KeySize::Aes256, &key, session_key)?;
        Ok(Some([ephemeral, encapsulated.ciphertext, wrapped]))
    }

    /// Returns the key on the curve and that of ML-KEM.
    fn split(self, public: &[u8]) -> Option<(&[u8], &[u8])> {
        public
            .split_at_checked(self.ephemeral_length())
            .filter(|(_, public)| public.len() == self.kem.public_length())
    }

    /// Combines the two shared secrets (RFC 9980, 4.2.1).
    fn wrapping_key(
        self,
        shared_by_kem: &[u8],
        shared_on_curve: &[u8],
        ephemeral: &[u8],
        public_on_curve: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, ErrorStack> {
        const DOMAIN: &[u8] = b"OpenPGPCompositeKDFv1";
        let mut context = MdCtx::new()?;
        context.digest_init(Md::sha3_256())?;
        for part in [
            shared_by_kem,
            shared_on_curve,
            ephemeral,
            public_on_curve,
            &[self.algorithm.0],
            DOMAIN,
            &[DOMAIN.len() as u8],
        ] {
            context.digest_update(part)?;
        }
        let mut key = Zeroizing::new(vec![0; KeySize::Aes256.bytes()]);
        context.digest_final(&mut key)?;
        Ok(key)
    }
}

/// The public and the secret part of a key.
pub(crate) struct Numbers<'a> {
    scheme: Scheme,
    on_curve: raw_key::Numbers<'a>,
    public_on_curve: &'a [u8],
    public: &'a [u8],
    seed: &'a [u8],
}

impl<'a> Numbers<'a> {
    /// Reads both parts of a key; `None` if one of them has another length.
    pub(crate) fn read(algorithm: PublicKeyAlgorithm, public: &'a [u8], secret: &'a [u8]) -> Option<Self> {
        let scheme = Scheme::of(algorithm)?;
        let (public_on_curve, public) = scheme.split(public)?;
        let (secret_on_curve, seed) =
            secret.split_at_checked(secret.len().checked_sub(scheme.kem.secret_length())?)?;
        let on_curve = raw_key::Numbers::part(algorithm.curve_part()?, public_on_curve, secret_on_curve)?;
        Some(Self { scheme, on_curve, public_on_curve, public, seed })
    }

    /// Returns whether both parts belong together.
    pub(crate) fn belong(&self) -> Result<bool, ErrorStack> {
        Ok(self.on_curve.belong()? && self.scheme.kem.public_of(self.seed)? == self.public)
    }

    /// Unwraps a session key; `None` if it was not wrapped for this key.
    pub(crate) fn unwrap(
        &self,
        ephemeral: &[u8],
        ciphertext: &[u8],
        wrapped: &[u8],
    ) -> Result<Option<Zeroizing<Vec<u8>>>, ErrorStack> {
        let Self { scheme, on_curve, public_on_curve, seed, .. } = self;
        let Some(shared) = scheme.function.shared(on_curve.secret(), ephemeral)? else { return Ok(None) };
        let shared_by_kem = scheme.kem.decapsulate(seed, ciphertext)?;
        let key = scheme.wrapping_key(&shared_by_kem, &shared, ephemeral, public_on_curve)?;
        key_wrap::unwrap(KeySize::Aes256, &key, wrapped)
    }
}
