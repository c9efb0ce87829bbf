//! A batch that is written while it is being made, part by part.
//!
//! What changes an index in no order changes most of its pages, however little it is: so a batch should be large, and
//! memory is small. If nothing but the machine decides how long an import takes, a transaction takes one part of a batch
//! while the next one is verified. It is one transaction still, all or nothing, and after some seconds no further part
//! begins, since others may wait; in an empty database, where they can miss nothing, it takes a whole batch.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use store::{Fingerprint, JournalId, ReadCertificates, Store, Timestamp, Transaction};

use super::batch::{self, Batch, BatchSize, Report};
use super::options::ImportOptions;
use crate::Result;

/// No further part begins once a transaction that others may wait for has lasted so long.
const LONGEST: Duration = Duration::from_secs(4);

/// The transaction of a batch, and what went into it.
pub(super) struct BatchTransaction<'a> {
    /// Away while a part is being written.
    transaction: Option<Box<dyn Transaction + 'a>>,
    fingerprints: HashSet<Fingerprint>,
    load: BatchSize,
    ends: Option<Instant>,
    /// What is to be reported once everything is durable.
    reports: Vec<Vec<Report>>,
}

impl<'a> BatchTransaction<'a> {
    /// Begins the first batch, if the database is empty and nobody else writes.
    pub(super) fn begin_first(
        store: &'a dyn Store,
        options: &ImportOptions<'_>,
        now: Timestamp,
    ) -> Result<Option<Self>> {
        let transaction = store.begin_bulk_load(&options.command, now)?;
        Ok(transaction.map(|transaction| Self::of(transaction, None)))
    }

    /// Begins a later batch, if the engine can have it in parts.
    pub(super) fn begin(
        store: &'a dyn Store,
        options: &ImportOptions<'_>,
        journal: Option<JournalId>,
        now: Timestamp,
    ) -> Result<Option<Self>> {
        let transaction = store.begin_deferred_indexes(&options.command, journal, now)?;
        let ends = Instant::now() + LONGEST;
        Ok(transaction.map(|transaction| Self::of(transaction, Some(ends))))
    }

    fn of(transaction: Box<dyn Transaction + 'a>, ends: Option<Instant>) -> Self {
        let transaction = Some(transaction);
        Self {
            transaction,
            fingerprints: HashSet::new(),
            load: BatchSize::default(),
            ends,
            reports: Vec::new(),
        }
    }

    /// Says whether a certificate with this primary key went into it.
    pub(super) fn holds(&self, fingerprint: &Fingerprint) -> bool {
        self.fingerprints.contains(fingerprint)
    }

    /// Says whether it is a whole batch with this part.
    pub(super) fn is_full_with(&self, part: &Batch) -> bool {
        let load = self.load.and(part.load());
        load.is_whole_batch() || self.ends.is_some_and(|ends| Instant::now() >= ends)
    }

    /// Reads what was written; nothing can be read while a part is being written.
    pub(super) fn snapshot(&mut self) -> Result<Option<&dyn ReadCertificates>> {
        let Some(transaction) = &mut self.transaction else { return Ok(None) };
        Ok(Some(transaction.snapshot()?))
    }

    /// Gives the transaction away for this part to be written.
    pub(super) fn lend(&mut self, part: &Batch) -> Box<dyn Transaction + 'a> {
        self.fingerprints.extend(part.fingerprints());
        self.load = self.load.and(part.load());
        self.transaction.take().expect("one part is written at a time, and none after an error")
    }

    /// Takes the transaction back once the part is written.
    pub(super) fn take_back(&mut self, transaction: Box<dyn Transaction + 'a>, reports: Vec<Report>) {
        self.transaction = Some(transaction);
        self.reports.push(reports);
    }

    /// Takes out which primary keys the batch has with its last part.
    pub(super) fn take_fingerprints(&mut self, part: &Batch) -> HashSet<Fingerprint> {
        self.fingerprints.extend(part.fingerprints());
        std::mem::take(&mut self.fingerprints)
    }

    /// Writes the last part and makes everything durable; returns the journal entry, and what is to be reported.
    pub(super) fn finish(
        mut self,
        mut part: Batch,
        options: &ImportOptions<'_>,
        last: bool,
    ) -> Result<(JournalId, Vec<Vec<Report>>)> {
        let mut transaction = self.lend(&part);
        part.write_into(transaction.as_mut(), options)?;
        self.reports.push(std::mem::take(&mut part.reports));
        // The rest takes a while, and needs it no more.
        drop(part);
        let journal = batch::commit(transaction, last)?;
        Ok((journal, self.reports))
    }
}
