//! The transaction into which the writer thread writes a batch part by part.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use store::Fingerprint;

use super::batch::{BATCH_CERTIFICATES, BATCH_INPUT, Batch};
use super::mode::Mode;

/// A transaction that others may wait for takes no further part after this time.
const MAX_TRANSACTION_TIME: Duration = Duration::from_secs(4);

/// What the writer thread has written into the open transaction of a batch.
pub(super) struct BatchTransaction {
    fingerprints: HashSet<Fingerprint>,
    /// Certificates, including those that were refused or change nothing.
    certificates: usize,
    /// The bytes of the certificates themselves.
    input: usize,
    deadline: Option<Instant>,
}

impl BatchTransaction {
    /// Makes one for a transaction that begins now.
    pub(super) fn new(mode: Mode) -> Self {
        let deadline = mode.is_concurrent().then(|| Instant::now() + MAX_TRANSACTION_TIME);
        Self { fingerprints: HashSet::new(), certificates: 0, input: 0, deadline }
    }

    /// Says whether a certificate with this primary key is in one of the parts.
    pub(super) fn contains(&self, fingerprint: &Fingerprint) -> bool {
        self.fingerprints.contains(fingerprint)
    }

    /// Says whether the batch is complete with this part.
    pub(super) fn is_full_with(&self, part: &Batch) -> bool {
        self.certificates + part.reports.len() >= BATCH_CERTIFICATES
            || self.input + part.input >= BATCH_INPUT
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Notes a part.
    pub(super) fn add(&mut self, part: &Batch) {
        self.fingerprints.extend(part.fingerprints());
        self.certificates += part.reports.len();
        self.input += part.input;
    }

    /// Returns the primary keys of all certificates in it.
    pub(super) fn into_fingerprints(self) -> HashSet<Fingerprint> {
        self.fingerprints
    }
}
