//! sequoia-openpgp with its OpenSSL backend: verifies what aws-lc rejects or does not support.
//!
//! OpenSSL is initialised at the first check.

use crate::limits::{MAX_DSA_BITS, MAX_RSA_BITS};
use crate::mpi::{Fields, bits, padded};
use crate::{Check, PublicKey, PublicKeyAlgorithm, SignatureValue, Verdict};
use sequoia_openpgp::crypto::mpi::{self, MPI};
use sequoia_openpgp::packet::Key;
use sequoia_openpgp::packet::key::{Key4, PublicParts, UnspecifiedRole};
use sequoia_openpgp::types::Curve;
use std::time::UNIX_EPOCH;

/// Verifies one signature.
pub(crate) fn verify(check: &Check<'_>) -> Verdict {
    let Some(key) = prepared(check.issuer) else { return Verdict::Unsupported };
    let Some(signature) = signature(check.signature) else { return Verdict::Bad };
    let verified = key.verify(&signature, check.hash.0.into(), check.digest.as_bytes());
    match verified.map_err(|error| error.downcast::<sequoia_openpgp::Error>()) {
        Ok(()) => Verdict::Good,
        Err(Ok(
            sequoia_openpgp::Error::UnsupportedEllipticCurve(_)
            | sequoia_openpgp::Error::UnsupportedHashAlgorithm(_)
            | sequoia_openpgp::Error::UnsupportedPublicKeyAlgorithm(_),
        )) => Verdict::Unsupported,
        Err(_) => Verdict::Bad,
    }
}

/// Prepares a key; `None` if its algorithm, its curve or its size is not supported.
fn prepared(key: PublicKey<'_>) -> Option<Key<PublicParts, UnspecifiedRole>> {
    let material = public_key(key)?;
    Some(Key4::new(UNIX_EPOCH, key.algorithm.0.into(), material).ok()?.into())
}

/// OpenSSL's limits, like those in [`limits`](crate::limits). OpenSSL would reject good signatures beyond them.
const MAX_RSA_BITS_WITH_LONG_EXPONENT: usize = 3072;
const DSA_SUBGROUP_BITS: [usize; 3] = [160, 224, 256];

fn public_key(key: PublicKey<'_>) -> Option<mpi::PublicKey> {
    let mut fields = Fields(key.material);
    match key.algorithm {
        algorithm if algorithm.is_rsa() => {
            let (n, e) = (fields.mpi()?, fields.mpi()?);
            let fits =
                bits(n) <= MAX_RSA_BITS && (bits(n) <= MAX_RSA_BITS_WITH_LONG_EXPONENT || bits(e) <= 64);
            fits.then(|| mpi::PublicKey::RSA { n: MPI::new(n), e: MPI::new(e) })
        }
        PublicKeyAlgorithm::DSA => {
            let (p, q, g, y) = (fields.mpi()?, fields.mpi()?, fields.mpi()?, fields.mpi()?);
            let fits = bits(p) <= MAX_DSA_BITS && DSA_SUBGROUP_BITS.contains(&bits(q));
            fits.then(|| mpi::PublicKey::DSA {
                p: MPI::new(p),
                q: MPI::new(q),
                g: MPI::new(g),
                y: MPI::new(y),
            })
        }
        PublicKeyAlgorithm::ECDSA => {
            let curve = known_curve(fields.oid()?)?;
            Some(mpi::PublicKey::ECDSA { curve, q: MPI::new(fields.mpi()?) })
        }
        PublicKeyAlgorithm::EDDSA_LEGACY => {
            let curve = Curve::from_oid(fields.oid()?);
            let q = fields.mpi()?;
            let known = curve == Curve::Ed25519 && q.len() == 33 && q[0] == 0x40;
            known.then(|| mpi::PublicKey::EdDSA { curve, q: MPI::new(q) })
        }
        PublicKeyAlgorithm::ED25519 => Some(mpi::PublicKey::Ed25519 { a: *fields.bytes()? }),
        PublicKeyAlgorithm::ED448 => Some(mpi::PublicKey::Ed448 { a: Box::new(*fields.bytes()?) }),
        _ => None,
    }
}

fn known_curve(oid: &[u8]) -> Option<Curve> {
    let curve = Curve::from_oid(oid);
    (curve.is_supported() && !matches!(curve, Curve::Ed25519 | Curve::Cv25519)).then_some(curve)
}

fn signature(signature: SignatureValue<'_>) -> Option<mpi::Signature> {
    let mut fields = Fields(signature.material);
    match signature.algorithm {
        algorithm if algorithm.is_rsa() => Some(mpi::Signature::RSA { s: MPI::new(fields.mpi()?) }),
        PublicKeyAlgorithm::DSA => {
            Some(mpi::Signature::DSA { r: MPI::new(fields.mpi()?), s: MPI::new(fields.mpi()?) })
        }
        PublicKeyAlgorithm::ECDSA => {
            Some(mpi::Signature::ECDSA { r: MPI::new(fields.mpi()?), s: MPI::new(fields.mpi()?) })
        }
        PublicKeyAlgorithm::EDDSA_LEGACY => {
            let (r, s) = (padded::<32>(fields.mpi()?)?, padded::<32>(fields.mpi()?)?);
            Some(mpi::Signature::EdDSA { r: MPI::new(&r), s: MPI::new(&s) })
        }
        PublicKeyAlgorithm::ED25519 => Some(mpi::Signature::Ed25519 { s: Box::new(*fields.bytes()?) }),
        PublicKeyAlgorithm::ED448 => Some(mpi::Signature::Ed448 { s: Box::new(*fields.bytes()?) }),
        _ => None,
    }
}
