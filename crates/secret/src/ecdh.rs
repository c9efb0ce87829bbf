//! Session keys that are wrapped with a key which ECDH and a digest derive (RFC 6637; RFC 9580, 11.5).

use cert::key::Key;
use openssl::error::ErrorStack;
use openssl::md::{Md, MdRef};
use openssl::md_ctx::MdCtx;
use verify::{HashAlgorithm, PublicKeyAlgorithm};
use zeroize::Zeroizing;

use crate::fields::Fields;
use crate::key_wrap::{self, KeySize};

/// The length to which session keys are padded, so that their lengths do not show.
const PADDED: usize = 40;

/// How session keys for an ECDH key are wrapped.
pub(crate) struct Wrapping {
    digest: &'static MdRef,
    size: KeySize,
    /// The curve, the algorithms and the key's fingerprint, which the derived key depends on.
    parameters: Vec<u8>,
}

impl Wrapping {
    /// Reads the last fields of a key; `None` if they are malformed, or other algorithms than SHA-2 and AES.
    pub(crate) fn of(key: &Key<'_>) -> Option<Self> {
        let mut fields = Fields(key.material);
        let curve = fields.counted()?;
        fields.number()?;
        let algorithms = fields.counted().filter(|_| fields.0.is_empty())?;
        let &[1, hash, cipher] = algorithms else { return None };
        let digest = match HashAlgorithm(hash) {
            HashAlgorithm::SHA256 => Md::sha256(),
            HashAlgorithm::SHA384 => Md::sha384(),
            HashAlgorithm::SHA512 => Md::sha512(),
            _ => return None,
        };
        let mut parameters = vec![curve.len() as u8];
        parameters.extend_from_slice(curve);
        parameters.extend_from_slice(&[PublicKeyAlgorithm::ECDH.0, 3, 1, hash, cipher]);
        parameters.extend_from_slice(b"Anonymous Sender    ");
        let fingerprint = key.fingerprint();
        let fingerprint = fingerprint.as_bytes();
        // Of version 5 the first 20 bytes (LibrePGP).
        parameters.extend_from_slice(if key.version == 5 { &fingerprint[..20] } else { fingerprint });
        Some(Self { digest, size: KeySize::of(cipher)?, parameters })
    }

    /// Wraps a session key with what is derived from the shared secret; `None` if it is too long.
    pub(crate) fn wrap(&self, shared: &[u8], content: &[u8]) -> Result<Option<Vec<u8>>, ErrorStack> {
        let Some(filling) = PADDED.checked_sub(content.len()).filter(|filling| *filling > 0) else {
            return Ok(None);
        };
        let mut padded = Zeroizing::new([filling as u8; PADDED]);
        padded[..content.len()].copy_from_slice(content);
        key_wrap::wrap(self.size, &self.derived(shared)?, &*padded).map(Some)
    }

    /// Unwraps a session key; `None` if it was not wrapped for this key.
    pub(crate) fn unwrap(
        &self,
        shared: &[u8],
        wrapped: &[u8],
    ) -> Result<Option<Zeroizing<Vec<u8>>>, ErrorStack> {
        let unwrapped = key_wrap::unwrap(self.size, &self.derived(shared)?, wrapped)?;
        Ok(unwrapped.and_then(|padded| unpadded(&padded).map(|content| Zeroizing::new(content.to_vec()))))
    }

    fn derived(&self, shared: &[u8]) -> Result<Zeroizing<Vec<u8>>, ErrorStack> {
        let mut context = MdCtx::new()?;
        context.digest_init(self.digest)?;
        context.digest_update(&[0, 0, 0, 1])?;
        context.digest_update(shared)?;
        context.digest_update(&self.parameters)?;
        let mut key = Zeroizing::new(vec![0; self.digest.size()]);
        context.digest_final(&mut key)?;
        // No digest is shorter than a key of AES.
        key.truncate(self.size.bytes());
        Ok(key)
    }
}

/// Returns what stands before the padding, whose bytes are its length; `None` for other padding.
///
/// The key wrap has verified the content before, so that errors tell nobody anything about it.
fn unpadded(padded: &[u8]) -> Option<&[u8]> {
    let filling = usize::from(*padded.last()?);
    let (content, padding) = padded.split_at_checked(padded.len().checked_sub(filling)?)?;
    (filling > 0 && padding.iter().all(|byte| usize::from(*byte) == filling)).then_some(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_removed_and_other_bytes_are_none() {
        assert_eq!(unpadded(&[1, 2, 3, 5, 5, 5, 5, 5]), Some(&[1, 2, 3][..]));
        assert_eq!(unpadded(&[2, 2]), Some(&[][..]));
        for wrong in [&[][..], &[0], &[1, 0], &[3, 3], &[1, 2, 3, 3]] {
            assert_eq!(unpadded(wrong), None, "{wrong:?}");
        }
    }
}
