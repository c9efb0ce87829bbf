//! The batch verifier.

use crate::{HashAlgorithm, PublicKeyAlgorithm, hash::Digest};

/// A public key as its packet holds it.
#[derive(Clone, Copy, Debug)]
pub struct PublicKey<'a> {
    /// The packet's algorithm number.
    pub algorithm: PublicKeyAlgorithm,
    /// The algorithm-specific fields (MPIs, curve OID, ...), exactly as they stand in the packet.
    pub material: &'a [u8],
}

/// The algorithm-specific fields of a signature, exactly as they stand in the packet.
#[derive(Clone, Copy, Debug)]
pub struct SignatureValue<'a> {
    /// The signature's public-key algorithm number.
    pub algorithm: PublicKeyAlgorithm,
    /// MPIs, or the fixed-length octets of RFC 9580's algorithms.
    pub material: &'a [u8],
}

/// One question: is `signature` over `digest` made by `issuer`?
#[derive(Clone, Copy, Debug)]
pub struct Check<'a> {
    /// The key that is said to have made the signature.
    pub issuer: PublicKey<'a>,
    /// The algorithm that made the digest.
    pub hash: HashAlgorithm,
    /// The digest of the signed bytes.
    pub digest: Digest,
    /// The signature's value.
    pub signature: SignatureValue<'a>,
}

/// The answer to a [`Check`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The equation holds.
    Good,
    /// The equation does not hold.
    Bad,
    /// No implementation here knows the algorithm, the curve or the size.
    Unsupported,
}

/// Answers every check, in order, on all cores.
pub fn verify(checks: &[Check<'_>]) -> Vec<Verdict> {
    let _ = checks;
    todo!()
}
