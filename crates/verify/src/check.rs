//! The batch verifier.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::mpi::{Fields, bits};
use crate::{HashAlgorithm, PublicKeyAlgorithm, fast, hash::Digest, reference};
use foldhash::fast::RandomState;
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
    verify_with(checks, &ready)
}

/// Answers batch after batch, and keeps the keys ready that it has met.
#[derive(Default)]
pub struct Verifier(Mutex<HashMap<Box<[u8]>, Vec<Way>, RandomState>>);

/// A way to use a key's material: of which algorithm it is, and the digest that it is used with.
type Way = (PublicKeyAlgorithm, HashAlgorithm, Ready);

/// The most keys that are kept ready, at some 4 KiB for each digest that they are used with.
const MANY: usize = 2 << 10;

impl Verifier {
    /// Answers every check as [`verify`] does.
    pub fn verify(&self, checks: &[Check<'_>]) -> Vec<Verdict> {
        verify_with(checks, &|key, hash| self.ready(key, hash))
    }

    fn ready(&self, key: PublicKey<'_>, hash: HashAlgorithm) -> Ready {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |(algorithm, with, _): &&Way| (*algorithm, *with) == (key.algorithm, hash);
        if let Some((.., ready)) = kept().get(key.material).and_then(|ways| ways.iter().find(is_it)) {
            return ready.clone();
        }
        let ready = ready(key, hash);
        let mut kept = kept();
        if kept.len() >= MANY {
            kept.clear();
        }
        kept.entry(key.material.into()).or_default().push((key.algorithm, hash, ready.clone()));
        ready
    }
}

/// A key made ready; `None` where only the reference is asked.
type Ready = Option<Arc<fast::Issuer>>;

/// Makes a key ready.
type MakeReady<'m> = dyn Fn(PublicKey<'_>, HashAlgorithm) -> Ready + Sync + 'm;

fn ready(key: PublicKey<'_>, hash: HashAlgorithm) -> Ready {
    fast::Issuer::new(key, hash).map(Arc::new)
}

/// From this many checks on other threads are asked to help: about a millisecond of work.
const WORTH_SPREADING: usize = 16;
/// Checks that one thread takes at a time: enough to share a key, few enough to end together.
const PIECE: usize = 32;

fn verify_with(checks: &[Check<'_>], make_ready: &MakeReady<'_>) -> Vec<Verdict> {
    let mut by_issuer: Vec<usize> = (0..checks.len()).collect();
    by_issuer.sort_unstable_by_key(|&index| issuer_and_hash(&checks[index]));
    let answers: Vec<Vec<Verdict>> = if checks.len() < WORTH_SPREADING {
        vec![verify_in_turn(checks, &by_issuer, make_ready)]
    } else {
        by_issuer.par_chunks(PIECE).map(|piece| verify_in_turn(checks, piece, make_ready)).collect()
    };
    let mut verdicts = vec![Verdict::Unsupported; checks.len()];
    for (&index, verdict) in by_issuer.iter().zip(answers.into_iter().flatten()) {
        verdicts[index] = verdict;
    }
    verdicts
}

/// Where the issuer's material stands stands for what it is: a copy elsewhere is only made ready, or found, once more.
fn issuer_and_hash(check: &Check<'_>) -> (usize, usize, PublicKeyAlgorithm, HashAlgorithm) {
    let material = check.issuer.material;
    (material.as_ptr().addr(), material.len(), check.issuer.algorithm, check.hash)
}

fn verify_in_turn(checks: &[Check<'_>], indices: &[usize], make_ready: &MakeReady<'_>) -> Vec<Verdict> {
    let mut last = None;
    let mut issuer = None;
    let mut verdicts = Vec::with_capacity(indices.len());
    for check in indices.iter().map(|&index| &checks[index]) {
        let this = Some(issuer_and_hash(check));
        if this != last {
            issuer = make_ready(check.issuer, check.hash);
            last = this;
        }
        let says_good = |issuer: &Arc<fast::Issuer>| issuer.says_good(&check.digest, check.signature);
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
