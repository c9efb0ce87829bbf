//! A batch that is being written while the next one is made.

use std::panic::resume_unwind;
use std::thread::{Scope, ScopedJoinHandle};

use store::{Fingerprint, JournalId};

use super::batch::{Batch, Fingerprints};
use crate::Result;

/// A batch on its way into the database: no snapshot shows it yet.
pub(super) struct Flight<'scope> {
    fingerprints: Fingerprints,
    writing: ScopedJoinHandle<'scope, Result<(Batch, JournalId)>>,
}

impl<'scope> Flight<'scope> {
    /// Starts to write.
    pub(super) fn start(
        scope: &'scope Scope<'scope, '_>,
        mut batch: Batch,
        write: impl FnOnce(&mut Batch) -> Result<JournalId> + Send + 'scope,
    ) -> Self {
        let fingerprints = batch.take_fingerprints();
        let writing = scope.spawn(move || {
            let journal = write(&mut batch)?;
            Ok((batch, journal))
        });
        Self { fingerprints, writing }
    }

    /// Says whether a certificate with this primary key is in it.
    pub(super) fn holds(&self, fingerprint: &Fingerprint) -> bool {
        self.fingerprints.contains_key(fingerprint)
    }

    /// Waits until the batch is durable; returns it and its journal entry.
    pub(super) fn land(self) -> Result<(Batch, JournalId)> {
        self.writing.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}
