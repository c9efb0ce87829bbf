//! The first batch of a database, written while it is being made.
//!
//! Nobody can miss anything in an empty database. So its first transaction begins early and takes one part of the batch
//! while the next one is verified. It is one transaction still: all or nothing.

use std::collections::HashSet;

use store::{Fingerprint, JournalId, Snapshot, Store, Timestamp, Transaction};

use super::batch::{self, Batch, Load, Report};
use super::options::ImportOptions;
use crate::Result;

/// The transaction of the first batch, and what went into it.
pub(super) struct First<'a> {
    /// Away while a part is being written.
    transaction: Option<Box<dyn Transaction + 'a>>,
    fingerprints: HashSet<Fingerprint>,
    load: Load,
    /// What is to be reported once everything is durable.
    reports: Vec<Report>,
}

impl<'a> First<'a> {
    /// Begins, if the database is empty and nobody else writes.
    pub(super) fn begin(
        store: &'a dyn Store,
        options: &ImportOptions<'_>,
        now: Timestamp,
    ) -> Result<Option<Self>> {
        let transaction = store.begin_first(&options.command, now)?;
        Ok(transaction.map(|transaction| Self {
            transaction: Some(transaction),
            fingerprints: HashSet::new(),
            load: Load::default(),
            reports: Vec::new(),
        }))
    }

    /// Says whether a certificate with this primary key went into it.
    pub(super) fn holds(&self, fingerprint: &Fingerprint) -> bool {
        self.fingerprints.contains(fingerprint)
    }

    /// Says whether it is a whole batch with this part.
    pub(super) fn is_full_with(&self, part: &Batch) -> bool {
        self.load.and(part.load()).is_full(batch::BATCH_BYTES)
    }

    /// Reads what was written; nothing can be read while a part is being written.
    pub(super) fn snapshot(&self) -> Option<&dyn Snapshot> {
        self.transaction.as_ref().map(|transaction| transaction.snapshot())
    }

    /// Gives the transaction away for this part to be written.
    pub(super) fn lend(&mut self, part: &Batch) -> Box<dyn Transaction + 'a> {
        self.fingerprints.extend(part.fingerprints());
        self.load = self.load.and(part.load());
        self.transaction.take().expect("one part is written at a time, and none after an error")
    }

    /// Takes the transaction back once the part is written.
    pub(super) fn take_back(&mut self, transaction: Box<dyn Transaction + 'a>, part: Batch) {
        self.transaction = Some(transaction);
        self.reports.extend(part.reports);
    }

    /// Writes the last part and makes everything durable; returns the journal entry, and what is to be reported.
    pub(super) fn finish(
        mut self,
        mut part: Batch,
        options: &ImportOptions<'_>,
        last: bool,
    ) -> Result<(JournalId, Vec<Report>)> {
        let mut transaction = self.lend(&part);
        part.write_into(transaction.as_mut(), options)?;
        let journal = batch::commit(transaction, last)?;
        self.reports.extend(part.reports);
        Ok((journal, self.reports))
    }
}
