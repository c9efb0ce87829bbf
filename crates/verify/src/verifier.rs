//! Verifies many signatures at a time, on all cores.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::check::{Check, PublicKey, Verdict};
use crate::{HashAlgorithm, PublicKeyAlgorithm, fast, reference};
use foldhash::fast::RandomState;
use rayon::prelude::*;

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
        let is_final = |issuer: &Arc<fast::Issuer>| issuer.is_sure_of_no();
        verdicts.push(if !check.issuer.algorithm.verifies(check.signature.algorithm) {
            Verdict::Bad
        } else {
            match issuer.as_ref().and_then(says_good) {
                Some(true) => Verdict::Good,
                Some(false) if issuer.as_ref().is_some_and(is_final) => Verdict::Bad,
                _ => reference::verify(check),
            }
        });
    }
    verdicts
}
