//! The writer thread of an import: it alone begins, fills and commits transactions.

use std::panic::resume_unwind;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread::{Scope, ScopedJoinHandle};

use cert::facts::Issuer;
use store::{JournalId, Store, Timestamp, Transaction};

use super::batch::{Batch, Report};
use super::mode::Mode;
use super::options::ImportOptions;
use super::revocation::stored_primary_key;
use crate::Result;
use crate::retry::retry_transient;

/// What is to be reported of a batch, part by part.
pub(super) type Reports = Vec<Vec<Report>>;

/// Tasks that wait for the writer thread: each holds a batch at most, so that memory is bounded.
const QUEUED_TASKS: usize = 1;

/// What the writer thread is to do.
pub(super) enum Task {
    /// Begins a transaction that takes a batch part by part; the reply says whether the database has one.
    Begin(Mode, Sender<Result<bool>>),
    /// Writes a part of a batch into it.
    WritePart(Batch),
    /// Writes the last part of a batch, or a batch in a transaction of its own, and makes everything durable. The
    /// journal entry is complete with the `last` one.
    Commit { batch: Batch, last: bool },
    /// Looks the primary key up that may have issued a signature, in what is written, durable or not.
    FindPrimaryKey(Issuer, Sender<Result<Option<Vec<u8>>>>),
}

/// The writer thread, as the thread sees it that gives it batches.
pub(super) struct WriterThread<'scope> {
    tasks: SyncSender<Task>,
    /// The outcome of each batch or part: what is durable now.
    written: Receiver<Result<Reports>>,
    thread: ScopedJoinHandle<'scope, Option<JournalId>>,
    /// A batch or part was handed over whose outcome was not taken.
    is_pending: bool,
    /// That outcome, if it came.
    outcome: Option<Result<Reports>>,
}

impl<'scope> WriterThread<'scope> {
    /// Starts the thread.
    pub(super) fn spawn<'a: 'scope>(
        scope: &'scope Scope<'scope, '_>,
        store: &'a dyn Store,
        options: &'a ImportOptions<'_>,
        now: Timestamp,
    ) -> Self {
        let (tasks, received) = mpsc::sync_channel(QUEUED_TASKS);
        let (sender, written) = mpsc::channel();
        let journal = options.journal;
        let writer = Writer { store, options, now, journal, transaction: None, reports: Vec::new() };
        let thread = scope.spawn(move || writer.run(received, &sender));
        Self { tasks, written, thread, is_pending: false, outcome: None }
    }

    /// Begins a transaction that takes a batch part by part; false if the database has none.
    pub(super) fn begin(&self, mode: Mode) -> Result<bool> {
        self.ask(|reply| Task::Begin(mode, reply))
    }

    /// Hands a batch or a part of one over; the outcome of the one before must have been taken.
    pub(super) fn hand_over(&mut self, task: Task) {
        self.is_pending = true;
        self.send(task);
    }

    /// Looks the primary key up that may have issued a signature, in what is written, durable or not.
    pub(super) fn primary_key(&self, issuer: Issuer) -> Result<Option<Vec<u8>>> {
        self.ask(|reply| Task::FindPrimaryKey(issuer, reply))
    }

    /// Says whether the batch or part that was handed over last is still being written.
    pub(super) fn is_busy(&mut self) -> bool {
        if self.is_pending && self.outcome.is_none() {
            self.outcome = self.written.try_recv().ok();
        }
        self.is_pending && self.outcome.is_none()
    }

    /// Waits until what was handed over is written, and returns what is durable by that.
    pub(super) fn wait(&mut self) -> Result<Reports> {
        if !std::mem::take(&mut self.is_pending) {
            return Ok(Reports::new());
        }
        self.outcome
            .take()
            .unwrap_or_else(|| self.written.recv().expect("the writer answers unless it panics"))
    }

    /// Ends the thread and returns the import's journal entry, if anything was written.
    pub(super) fn finish(self) -> Option<JournalId> {
        drop(self.tasks);
        self.thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }

    fn ask<T>(&self, task: impl FnOnce(Sender<Result<T>>) -> Task) -> Result<T> {
        let (reply, answer) = mpsc::channel();
        self.send(task(reply));
        answer.recv().expect("the writer answers unless it panics")
    }

    fn send(&self, task: Task) {
        self.tasks.send(task).expect("the writer listens unless it panics");
    }
}

/// The state of the writer thread.
struct Writer<'a> {
    store: &'a dyn Store,
    options: &'a ImportOptions<'a>,
    now: Timestamp,
    journal: Option<JournalId>,
    /// The transaction that takes a batch part by part, if one lasts.
    transaction: Option<Box<dyn Transaction + 'a>>,
    /// What is to be reported of the parts once they are durable.
    reports: Reports,
}

impl Writer<'_> {
    /// Performs tasks until there will be no more. A transaction that is still open then is rolled back.
    fn run(mut self, tasks: Receiver<Task>, written: &Sender<Result<Reports>>) -> Option<JournalId> {
        for task in tasks {
            // Nobody takes an answer after an error of its own.
            match task {
                Task::Begin(mode, reply) => drop(reply.send(self.begin(mode))),
                Task::WritePart(part) => drop(written.send(self.write_part(part))),
                Task::Commit { batch, last } => drop(written.send(self.commit(batch, last))),
                Task::FindPrimaryKey(issuer, reply) => drop(reply.send(self.primary_key(&issuer))),
            }
        }
        self.journal
    }

    fn begin(&mut self, mode: Mode) -> Result<bool> {
        let command = &self.options.command;
        self.transaction = match mode {
            Mode::Stream { .. } => None,
            Mode::Files => self.store.begin_deferred_indexes(command, self.journal, self.now)?,
            Mode::FirstLoad => self.store.begin_bulk_load(command, self.now)?,
        };
        Ok(self.transaction.is_some())
    }

    fn write_part(&mut self, mut part: Batch) -> Result<Reports> {
        let transaction = self.transaction.as_mut().expect("a part comes after the transaction was begun");
        part.write_into(transaction.as_mut(), self.options)?;
        self.reports.push(part.reports);
        Ok(Reports::new())
    }

    fn commit(&mut self, mut batch: Batch, last: bool) -> Result<Reports> {
        if let Some(mut transaction) = self.transaction.take() {
            batch.write_into(transaction.as_mut(), self.options)?;
            self.journal = Some(commit(transaction, last)?);
            self.reports.push(batch.reports);
            return Ok(std::mem::take(&mut self.reports));
        }
        let ends_journal = last && self.journal.is_some();
        let is_to_be_written = !batch.changes_nothing() || ends_journal;
        if is_to_be_written && !self.options.dry_run {
            // Every step can be done again: what was written is found to be there, and nothing is added to it.
            self.journal = Some(retry_transient(|| {
                let mut transaction =
                    self.store.begin_concurrent(&self.options.command, self.journal, self.now)?;
                batch.write_into(transaction.as_mut(), self.options)?;
                commit(transaction, last)
            })?);
        }
        Ok(vec![batch.reports])
    }

    fn primary_key(&mut self, issuer: &Issuer) -> Result<Option<Vec<u8>>> {
        match &mut self.transaction {
            Some(transaction) => stored_primary_key(transaction.snapshot()?, issuer),
            None => stored_primary_key(self.store.snapshot()?.as_ref(), issuer),
        }
    }
}

/// Makes a transaction durable and returns its journal entry, which is complete with the `last` one.
fn commit(mut transaction: Box<dyn Transaction + '_>, last: bool) -> Result<JournalId> {
    if last {
        transaction.finish_journal()?;
    }
    let journal = transaction.journal();
    transaction.commit()?;
    Ok(journal)
}
