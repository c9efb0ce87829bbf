//! What is being written while the next batch is made.

use std::panic::resume_unwind;
use std::thread::{Scope, ScopedJoinHandle};

use store::{Fingerprint, JournalId, Transaction};

use super::batch::{Batch, Fingerprints};
use crate::Result;

/// A batch on its way into the database: no snapshot shows it yet.
pub(super) struct Flight<'scope, 'a> {
    fingerprints: Fingerprints,
    writing: ScopedJoinHandle<'scope, Result<(Batch, Written<'a>)>>,
}

/// What a batch has come to.
pub(super) enum Written<'a> {
    /// It is durable, under this entry of the journal.
    Durable(JournalId),
    /// It is a part of what this transaction will commit.
    Part(Box<dyn Transaction + 'a>),
}

impl<'scope, 'a: 'scope> Flight<'scope, 'a> {
    /// Starts to write.
    pub(super) fn start(
        scope: &'scope Scope<'scope, '_>,
        mut batch: Batch,
        write: impl FnOnce(&mut Batch) -> Result<Written<'a>> + Send + 'scope,
    ) -> Self {
        let fingerprints = batch.take_fingerprints();
        let writing = scope.spawn(move || {
            let written = write(&mut batch)?;
            Ok((batch, written))
        });
        Self { fingerprints, writing }
    }

    /// Says whether a certificate with this primary key is in it.
    pub(super) fn holds(&self, fingerprint: &Fingerprint) -> bool {
        self.fingerprints.contains_key(fingerprint)
    }

    /// Waits until the batch is written.
    pub(super) fn land(self) -> Result<(Batch, Written<'a>)> {
        self.writing.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}
