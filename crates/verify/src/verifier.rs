//! Verifies many signatures at a time, on all cores.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::check::{Check, PublicKey, Verdict};
use crate::cores::on_all_cores;
use crate::{HashAlgorithm, PublicKeyAlgorithm, fast, reference};
use foldhash::fast::RandomState;
use rayon::prelude::*;

/// Verifies signatures, and returns their verdicts in order.
///
/// Large batches use rayon's threads, small ones the caller's thread. Checks with the same slice of an issuer's
/// material share the preparation of the key.
pub fn verify(checks: &[Check<'_>]) -> Vec<Verdict> {
    verify_with(checks, &prepare)
}

/// Verifies several batches, with a cache of prepared keys.
#[derive(Default)]
pub struct Verifier(Mutex<HashMap<Box<[u8]>, Vec<PreparedKey>, RandomState>>);

/// A prepared key with its algorithm and the hash algorithm for which it was prepared.
type PreparedKey = (PublicKeyAlgorithm, HashAlgorithm, Arc<fast::Issuer>);

/// The most keys in the cache, with some 4 KiB for each hash algorithm.
const MAX_CACHED_KEYS: usize = 2 << 10;

impl Verifier {
    /// Verifies signatures as [`verify`] does.
    pub fn verify(&self, checks: &[Check<'_>]) -> Vec<Verdict> {
        verify_with(checks, &|key, hash| self.prepare(key, hash))
    }

    fn prepare(&self, key: PublicKey<'_>, hash: HashAlgorithm) -> Issuer {
        let cache = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let matches = |(algorithm, with, _): &&PreparedKey| (*algorithm, *with) == (key.algorithm, hash);
        if let Some((.., issuer)) = cache().get(key.material).and_then(|keys| keys.iter().find(matches)) {
            return Some(issuer.clone());
        }
        // Keys that only the reference implementation supports may be large, and there is nothing to keep of them.
        let issuer = prepare(key, hash)?;
        let mut cache = cache();
        if cache.len() >= MAX_CACHED_KEYS {
            cache.clear();
        }
        cache.entry(key.material.into()).or_default().push((key.algorithm, hash, issuer.clone()));
        Some(issuer)
    }
}

/// A prepared key; `None` if only the reference implementation supports it.
type Issuer = Option<Arc<fast::Issuer>>;

/// Prepares a key.
type PrepareKey<'m> = dyn Fn(PublicKey<'_>, HashAlgorithm) -> Issuer + Sync + 'm;

fn prepare(key: PublicKey<'_>, hash: HashAlgorithm) -> Issuer {
    fast::Issuer::new(key, hash).map(Arc::new)
}

/// The least number of checks that are verified in parallel: about a millisecond of work.
const MIN_PARALLEL_CHECKS: usize = 16;
/// The number of checks that a thread takes at a time: enough to share prepared keys, and few enough to balance the
/// threads.
const CHUNK: usize = 32;

fn verify_with(checks: &[Check<'_>], prepare_key: &PrepareKey<'_>) -> Vec<Verdict> {
    let mut by_issuer: Vec<usize> = (0..checks.len()).collect();
    by_issuer.sort_unstable_by_key(|&index| issuer_and_hash(&checks[index]));
    let verdicts_by_chunk: Vec<Vec<Verdict>> = if checks.len() < MIN_PARALLEL_CHECKS {
        vec![verify_in_turn(checks, &by_issuer, prepare_key)]
    } else {
        on_all_cores(|| {
            by_issuer.par_chunks(CHUNK).map(|chunk| verify_in_turn(checks, chunk, prepare_key)).collect()
        })
    };
    let mut verdicts = vec![Verdict::Unsupported; checks.len()];
    for (&index, verdict) in by_issuer.iter().zip(verdicts_by_chunk.into_iter().flatten()) {
        verdicts[index] = verdict;
    }
    verdicts
}

/// Identifies an issuer by the address of its material; a copy at another address is only prepared or looked up again.
fn issuer_and_hash(check: &Check<'_>) -> (usize, usize, PublicKeyAlgorithm, HashAlgorithm) {
    let material = check.issuer.material;
    (material.as_ptr().addr(), material.len(), check.issuer.algorithm, check.hash)
}

fn verify_in_turn(checks: &[Check<'_>], indices: &[usize], prepare_key: &PrepareKey<'_>) -> Vec<Verdict> {
    let mut last = None;
    let mut issuer = None;
    let mut verdicts = Vec::with_capacity(indices.len());
    for check in indices.iter().map(|&index| &checks[index]) {
        let this = Some(issuer_and_hash(check));
        if this != last {
            issuer = prepare_key(check.issuer, check.hash);
            last = this;
        }
        let verifies = |issuer: &Arc<fast::Issuer>| issuer.verifies(&check.digest, check.signature);
        let is_final = |issuer: &Arc<fast::Issuer>| issuer.rejects_reliably();
        verdicts.push(if !check.issuer.algorithm.verifies(check.signature.algorithm) {
            Verdict::Bad
        } else {
            match issuer.as_ref().and_then(verifies) {
                Some(true) => Verdict::Good,
                Some(false) if issuer.as_ref().is_some_and(is_final) => Verdict::Bad,
                _ => reference::verify(check),
            }
        });
    }
    verdicts
}
