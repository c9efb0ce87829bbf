//! What is verified: a signature over a digest under a public key, and the verdict.

use crate::mpi::{Fields, bits};
use crate::{HashAlgorithm, PublicKeyAlgorithm, hash::Digest};

/// A public key as its packet holds it.
#[derive(Clone, Copy, Debug)]
pub struct PublicKey<'a> {
    /// The packet's algorithm number.
    pub algorithm: PublicKeyAlgorithm,
    /// The algorithm-specific fields (MPIs, curve OID, ...), exactly as they stand in the packet.
    pub material: &'a [u8],
}

impl PublicKey<'_> {
    /// Returns how long a verification under this key takes, in those under an RSA key of 4096 bits, roughly: 1 or more.
    ///
    /// Some keys take a hundred times as long as others, and their maker chooses.
    pub fn cost(&self) -> usize {
        /// Multiplications of 4096 bits that an exponent of 17 bits takes.
        const UNIT: u64 = 4096 * 4096 * 17;
        let mut fields = Fields(self.material);
        if self.algorithm == PublicKeyAlgorithm::ECDSA {
            fields.oid();
        }
        let mut number = || fields.mpi().map_or(0, |value| bits(value) as u64);
        let multiplications = match self.algorithm {
            algorithm if algorithm.is_rsa() => number().pow(2) * number().max(17),
            PublicKeyAlgorithm::DSA => number().pow(2) * 2 * number(),
            // A point has two numbers of the curve's size, and adding points takes many multiplications.
            PublicKeyAlgorithm::ECDSA => 68 * (number() / 2).pow(3),
            _ => 0,
        };
        multiplications.div_ceil(UNIT).max(1) as usize
    }
}

/// The algorithm-specific fields of a signature, exactly as they stand in the packet.
#[derive(Clone, Copy, Debug)]
pub struct SignatureValue<'a> {
    /// The signature's public-key algorithm number.
    pub algorithm: PublicKeyAlgorithm,
    /// MPIs, or the fixed-length bytes of RFC 9580's algorithms.
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
