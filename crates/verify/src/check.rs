//! The batch verifier.

use crate::mpi::{Fields, bits};
use crate::{HashAlgorithm, PublicKeyAlgorithm, fast, hash::Digest, reference};
use rayon::prelude::*;

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

/// Answers every check, in order.
///
/// A batch that is worth it is spread over rayon's threads; a small one is answered on the caller's. Checks of one
/// issuer that share the slice of its material share the work of making the key ready, wherever they stand.
pub fn verify(checks: &[Check<'_>]) -> Vec<Verdict> {
    let mut by_issuer: Vec<usize> = (0..checks.len()).collect();
    by_issuer.sort_unstable_by_key(|&index| issuer_and_hash(&checks[index]));
    let answers: Vec<Vec<Verdict>> = if checks.len() < WORTH_SPREADING {
        vec![verify_in_turn(checks, &by_issuer)]
    } else {
        by_issuer.par_chunks(PIECE).map(|piece| verify_in_turn(checks, piece)).collect()
    };
    let mut verdicts = vec![Verdict::Unsupported; checks.len()];
    for (&index, verdict) in by_issuer.iter().zip(answers.into_iter().flatten()) {
        verdicts[index] = verdict;
    }
    verdicts
}

/// From this many checks on other threads are asked to help: about a millisecond of work.
const WORTH_SPREADING: usize = 16;
/// Checks that one thread takes at a time: enough to share a key, few enough to end together.
const PIECE: usize = 32;

/// Where the issuer's material stands stands for what it is: a copy elsewhere is only made ready once more.
fn issuer_and_hash(check: &Check<'_>) -> (usize, usize, PublicKeyAlgorithm, HashAlgorithm) {
    let material = check.issuer.material;
    (material.as_ptr().addr(), material.len(), check.issuer.algorithm, check.hash)
}

fn verify_in_turn(checks: &[Check<'_>], indices: &[usize]) -> Vec<Verdict> {
    let mut last = None;
    let mut issuer = None;
    let mut verdicts = Vec::with_capacity(indices.len());
    for check in indices.iter().map(|&index| &checks[index]) {
        let this = Some(issuer_and_hash(check));
        if this != last {
            issuer = fast::Issuer::new(check.issuer, check.hash);
            last = this;
        }
        let says_good = |issuer: &fast::Issuer| issuer.says_good(&check.digest, check.signature);
        verdicts.push(if !check.issuer.algorithm.verifies(check.signature.algorithm) {
            Verdict::Bad
        } else if issuer.as_ref().and_then(says_good) == Some(true) {
            Verdict::Good
        } else {
            reference::verify(check)
        });
    }
    verdicts
}
