//! ML-DSA with Ed25519 or Ed448, and SLH-DSA (RFC 9980, 5 and 6).

use libcrypto::post_quantum::SignatureScheme;
use openssl::error::ErrorStack;
use verify::PublicKeyAlgorithm;

use crate::raw_key;

/// The public and the secret part of a key.
pub(crate) struct Numbers<'a> {
    /// None for SLH-DSA.
    on_curve: Option<raw_key::Numbers<'a>>,
    scheme: SignatureScheme,
    public: &'a [u8],
    secret: &'a [u8],
}

impl<'a> Numbers<'a> {
    /// Reads both parts of a key; `None` if one of them has another length.
    pub(crate) fn read(algorithm: PublicKeyAlgorithm, public: &'a [u8], secret: &'a [u8]) -> Option<Self> {
        let scheme = algorithm.signature_scheme()?;
        let (public_on_curve, public) =
            public.split_at_checked(public.len().checked_sub(scheme.public_length())?)?;
        let (secret_on_curve, secret) =
            secret.split_at_checked(secret.len().checked_sub(scheme.secret_length())?)?;
        let on_curve = match algorithm.curve_part() {
            Some(curve) => Some(raw_key::Numbers::part(curve, public_on_curve, secret_on_curve)?),
            None if public_on_curve.is_empty() && secret_on_curve.is_empty() => None,
            None => return None,
        };
        Some(Self { on_curve, scheme, public, secret })
    }

    /// Returns whether both parts belong together.
    pub(crate) fn belong(&self) -> Result<bool, ErrorStack> {
        // SLH-DSA repeats the public key at the end of the secret one.
        let is_repeated = self.on_curve.is_some() || self.secret.ends_with(self.public);
        let on_curve = self.on_curve.as_ref().map_or(Ok(true), raw_key::Numbers::belong)?;
        Ok(is_repeated && on_curve && self.scheme.public_of(self.secret)? == self.public)
    }

    /// Signs a digest, of at least 256 bits, with both parts; `None` for a shorter one (RFC 9980, 5.3.1 and 6.2.1).
    pub(crate) fn sign(&self, digest: &[u8]) -> Result<Option<Vec<u8>>, ErrorStack> {
        const SHORTEST: usize = 32;
        if digest.len() < SHORTEST {
            return Ok(None);
        }
        let mut signature = match &self.on_curve {
            Some(numbers) => numbers.sign(digest)?,
            None => Vec::new(),
        };
        signature.extend(self.scheme.sign(self.secret, digest)?);
        Ok(Some(signature))
    }
}
