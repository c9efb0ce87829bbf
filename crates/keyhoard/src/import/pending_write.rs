//! What is being written while the next batch is made.

use std::collections::HashSet;
use std::panic::resume_unwind;
use std::thread::{Scope, ScopedJoinHandle};

use store::{Fingerprint, JournalId, Transaction};

use super::batch::Report;
use crate::Result;

/// A batch on its way into the database: no snapshot shows it yet.
pub(super) struct PendingWrite<'scope, 'a> {
    fingerprints: HashSet<Fingerprint>,
    writing: ScopedJoinHandle<'scope, Result<Written<'a>>>,
}

/// What a batch has come to, with what is to be reported of it once it is durable.
pub(super) enum Written<'a> {
    /// It is durable, under this entry of the journal.
    Durable(JournalId, Vec<Vec<Report>>),
    /// It is a part of what this transaction will commit.
    Part(Box<dyn Transaction + 'a>, Vec<Report>),
}

impl<'scope, 'a: 'scope> PendingWrite<'scope, 'a> {
    /// Starts to write what has these primary keys.
    pub(super) fn spawn(
        scope: &'scope Scope<'scope, '_>,
        fingerprints: HashSet<Fingerprint>,
        write: impl FnOnce() -> Result<Written<'a>> + Send + 'scope,
    ) -> Self {
        Self { fingerprints, writing: scope.spawn(write) }
    }

    /// Says whether a certificate with this primary key is in it.
    pub(super) fn holds(&self, fingerprint: &Fingerprint) -> bool {
        self.fingerprints.contains(fingerprint)
    }

    /// Says whether there is nothing to wait for any more.
    pub(super) fn is_finished(&self) -> bool {
        self.writing.is_finished()
    }

    /// Waits until the batch is written.
    pub(super) fn join(self) -> Result<Written<'a>> {
        self.writing.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}
