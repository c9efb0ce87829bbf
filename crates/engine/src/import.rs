//! Import: from a stream of bytes to rows.
//!
//! `bytes -> split -> (all cores) digest, clean, merge -> writer thread: one transaction a batch -> reports`
//!
//! Certificates are cleaned and merged without the write lock, so a slow input holds up nobody; where the database can be
//! read while it is written, the next batch is made meanwhile. From files alone, a batch goes into its transaction part
//! by part (`Mode`). A certificate is reported when it is durable. Inputs that a complete earlier import has read are
//! recognised by their digest before they are cleaned.

mod batch;
mod batch_transaction;
mod chunk;
mod event;
pub mod key_origin;
mod mode;
mod options;
mod prepare;
mod preview;
mod revocation;
mod secrets;
mod within;
mod writer;

use std::collections::HashSet;
use std::io::Read;
use std::thread::{self, Scope};

use cert::split::{Piece, RawRevocation};
use store::{Fingerprint, InputDigest, Prepared, PutKind, Store, Timestamp};

use crate::Result;
use batch::{Batch, Report};
use batch_transaction::BatchTransaction;
use chunk::{Chunk, read_ahead};
use mode::Mode;
use prepare::{Effect, Incoming, Item, Preparer, Ready};
use writer::{Task, WriterThread};

pub use event::{
    Additions, ImportEvent, ImportOutcome, ImportRefusal, ImportSummary, Imported, ImportedSecret,
    SecretOutcome,
};
pub use options::{Filter, ImportOptions, NewOwnerTrust};
pub use preview::{Preview, preview};
pub use revocation::{StandaloneRevocation, examine};
pub use within::import_within;

/// Imports one input.
///
/// # Errors
///
/// What [`import_all`] returns.
pub fn import(
    store: &dyn Store,
    input: impl Read + Send,
    options: &ImportOptions<'_>,
    now: Timestamp,
    on_event: &mut dyn FnMut(ImportEvent<'_>),
) -> Result<ImportSummary> {
    import_all(store, [input], options, now, on_event)
}

/// Imports inputs, one after the other, under one journal entry.
///
/// # Errors
///
/// The database's errors; what was reported is durable. Damaged certificates are events, not errors.
pub fn import_all<R: Read + Send>(
    store: &dyn Store,
    inputs: impl IntoIterator<Item = R>,
    options: &ImportOptions<'_>,
    now: Timestamp,
    on_event: &mut dyn FnMut(ImportEvent<'_>),
) -> Result<ImportSummary> {
    thread::scope(|scope| {
        let mut importer = Importer {
            store,
            options,
            now,
            mode: Mode::of_next_batch(store, options.is_steady())?,
            batch: Batch::default(),
            transaction: None,
            being_committed: HashSet::new(),
            writer: WriterThread::spawn(scope, store, options, now),
            on_event,
            summary: ImportSummary::default(),
            input: 0,
            bytes: 0,
        };
        let read = inputs.into_iter().try_for_each(|input| importer.read(scope, input));
        // What was written is reported, whatever has happened since.
        read.and(importer.wait())?;
        importer.finish()
    })
}

/// What makes batches, while the writer thread writes them.
struct Importer<'a, 'scope> {
    store: &'a dyn Store,
    options: &'a ImportOptions<'a>,
    now: Timestamp,
    mode: Mode,
    /// The batch, or part of one, that is being made.
    batch: Batch,
    /// What the writer thread has of the batch, if it is written part by part.
    transaction: Option<BatchTransaction>,
    /// The primary keys of what the writer thread makes durable: no snapshot shows it yet.
    being_committed: HashSet<Fingerprint>,
    writer: WriterThread<'scope>,
    on_event: &'a mut dyn FnMut(ImportEvent<'_>),
    summary: ImportSummary,
    /// The number of the input that is being read.
    input: usize,
    /// Bytes of certificates that were read.
    bytes: u64,
}

impl<'scope> Importer<'_, 'scope> {
    /// Reads an input to its end.
    fn read(&mut self, scope: &'scope Scope<'scope, '_>, input: impl Read + Send + 'scope) -> Result<()> {
        for chunk in read_ahead(scope, input, self.options.armor) {
            self.add_chunk(chunk)?;
        }
        self.input += 1;
        Ok(())
    }

    /// Writes what is left and returns the sums.
    fn finish(mut self) -> Result<ImportSummary> {
        self.commit(true)?;
        self.wait()?;
        Ok(ImportSummary { journal: self.writer.finish(), ..self.summary })
    }

    fn add_chunk(&mut self, chunk: Chunk) -> Result<()> {
        if self.is_time_to_write() {
            self.hand_over()?;
        }
        let bytes: usize = chunk.iter().flatten().map(chunk::len).sum();
        let incoming = self.incoming(chunk)?;
        // Until the first load is committed, there is nothing that could be read.
        let is_readable = self.mode != Mode::FirstLoad || self.transaction.is_none();
        let preparer = Preparer {
            store: is_readable.then_some(self.store),
            options: self.options,
            digest_prefix: self.options.digest_prefix(),
            now: self.now,
        };
        let mut clean = preparer.clean(incoming)?;
        if clean.fingerprints().any(|fingerprint| self.being_committed.contains(&fingerprint)) {
            self.wait()?;
            // The database has changed.
            clean.absent.clear();
        }
        let items = preparer.merge(clean, |fingerprint| self.batch.contains(fingerprint))?;
        items.into_iter().for_each(|item| self.take(item));
        self.bytes += bytes as u64;
        (self.on_event)(ImportEvent::Progress { bytes: self.bytes });
        Ok(())
    }

    fn is_time_to_write(&mut self) -> bool {
        let bytes = self.mode.bytes(self.writer.is_busy());
        self.batch.is_full(bytes)
            || self.transaction.as_ref().is_some_and(|written| written.is_full_with(&self.batch))
    }

    /// Makes certificates of all pieces, of standalone revocations too. Pieces without keys are skipped silently, as in
    /// gpg.
    fn incoming(&mut self, chunk: Chunk) -> Result<Vec<Incoming>> {
        let mut incoming = |piece: cert::Result<Piece>| match piece {
            Ok(Piece::Certificate(raw)) => Ok(Some(Incoming::Certificate { raw, revocation: false })),
            Ok(Piece::Ignored(_)) => Ok(None),
            Ok(Piece::Revocation(revocation)) => self.revocation(&revocation).map(Some),
            Err(error) => Ok(Some(Incoming::Unread { position: error.position(), reason: error.into() })),
        };
        chunk.into_iter().filter_map(|piece| incoming(piece).transpose()).collect()
    }

    /// Makes a certificate of a standalone revocation, with the primary key that it names.
    fn revocation(&mut self, revocation: &RawRevocation) -> Result<Incoming> {
        // It may be meant for a certificate that is just being written.
        self.wait()?;
        if self.options.show {
            (self.on_event)(ImportEvent::Revocation(revocation));
        }
        let raw = revocation::with_primary_key(revocation, |issuer| {
            match self.batch.certificate_by_key_id(issuer.key_id) {
                Some(waiting) => Ok(revocation::primary_key(waiting.bytes())),
                None => self.writer.primary_key(*issuer),
            }
        })?;
        Ok(match raw {
            Ok(raw) => Incoming::Certificate { raw, revocation: true },
            Err(reason) => Incoming::Unread { position: revocation.position, reason },
        })
    }

    /// Plans one certificate's write and its report.
    fn take(&mut self, item: Item) {
        let (mut imported, secrets) = match item {
            Item::Refused { position, reason } => {
                self.batch.reports.push(Report::Refused { input: self.input, position, reason });
                return;
            }
            Item::Known { imported, digest, id } => {
                self.batch.remember(digest, id);
                (imported, Vec::new())
            }
            Item::Ready(ready) => {
                let Ready { mut imported, digest, secrets, has_user_ids, shown, prepared, effect } = *ready;
                let mut taken = true;
                if let Some(certificate) = &shown {
                    let secret = imported.secret;
                    (self.on_event)(ImportEvent::Cleaned { certificate, secret, taken: &mut taken });
                }
                imported.outcome = match taken {
                    true => self.plan(prepared, effect, has_user_ids, digest),
                    false => ImportOutcome::Declined,
                };
                (imported, secrets)
            }
        };
        imported.input = self.input;
        self.batch.reports.push(Report::Imported { imported, secrets });
    }

    fn plan(
        &mut self,
        certificate: Prepared,
        effect: Effect,
        has_user_ids: bool,
        digest: Option<InputDigest>,
    ) -> ImportOutcome {
        let fingerprint = certificate.fingerprint();
        // Into what an earlier part has brought, each copy is merged by itself when it is written.
        let is_in_parts = self.transaction.as_ref().is_some_and(|written| written.contains(&fingerprint));
        if !is_in_parts && self.batch.contains(&fingerprint) {
            return self.batch.merge_pending(&certificate, digest);
        }
        match effect {
            Effect::Nothing(id) => {
                if let Some(digest) = digest {
                    self.batch.remember(digest, id);
                }
                ImportOutcome::Unchanged
            }
            Effect::Merge(kind, additions) => {
                self.batch.put(certificate, kind, digest);
                ImportOutcome::Changed(additions)
            }
            Effect::New if self.options.merge_only => ImportOutcome::SkippedNew,
            Effect::New if !has_user_ids && !is_in_parts => ImportOutcome::SkippedWithoutUserId,
            Effect::New => {
                self.batch.put(certificate, PutKind::New, digest);
                ImportOutcome::New
            }
        }
    }

    /// Hands the batch, or a part of one, to the writer thread; waits for it where nobody can read meanwhile.
    fn hand_over(&mut self) -> Result<()> {
        self.wait()?;
        if self.mode.is_in_parts() && self.transaction.is_none() && !self.batch.changes_nothing() {
            if !self.writer.begin(self.mode)? {
                // Without a transaction that takes parts, the batch is to become larger.
                self.mode = Mode::Stream { concurrent: self.mode.is_concurrent() };
                return Ok(());
            }
            self.transaction = Some(BatchTransaction::new(self.mode));
        }
        if let Some(written) = self.transaction.as_mut().filter(|written| !written.is_full_with(&self.batch))
        {
            written.add(&self.batch);
            let part = self.take_batch()?;
            self.writer.hand_over(Task::WritePart(part));
            return Ok(());
        }
        self.commit(false)?;
        if !self.mode.is_concurrent() {
            self.wait()?;
            // The first batch in a new database gives it what concurrent readers take.
            self.mode = Mode::of_next_batch(self.store, self.mode.is_in_parts())?;
        }
        Ok(())
    }

    /// Has the batch, or the last part of one, written and made durable.
    fn commit(&mut self, last: bool) -> Result<()> {
        let batch = self.take_batch()?;
        self.being_committed =
            self.transaction.take().map(BatchTransaction::into_fingerprints).unwrap_or_default();
        self.being_committed.extend(batch.fingerprints());
        self.writer.hand_over(Task::Commit { batch, last });
        Ok(())
    }

    /// Takes the batch, or part, after its secret keys were kept: a secret key without its certificate is no loss.
    fn take_batch(&mut self) -> Result<Batch> {
        if let Some(secret_keys) = self.options.secret_keys {
            secrets::keep(&mut self.batch, secret_keys, self.options.dry_run)?;
        }
        Ok(std::mem::take(&mut self.batch))
    }

    /// Waits for what is being written, if anything is, and reports what is durable.
    fn wait(&mut self) -> Result<()> {
        let reports = self.writer.wait()?;
        self.being_committed.clear();
        for report in reports.into_iter().flatten() {
            match report {
                Report::Imported { mut imported, .. } => {
                    self.retain_missing(&mut imported.missing_revokers)?;
                    self.summary.count(&imported);
                    (self.on_event)(ImportEvent::Certificate(&imported));
                }
                Report::Refused { input, position, reason } => {
                    self.summary.count_refused();
                    (self.on_event)(ImportEvent::Refused { input, position, reason: &reason });
                }
            }
        }
        Ok(())
    }

    /// Leaves out revokers whose certificates are here.
    fn retain_missing(&self, revokers: &mut Vec<Fingerprint>) -> Result<()> {
        if !revokers.is_empty() {
            let mut here = self.store.snapshot()?.by_fingerprint(revokers)?.into_iter();
            revokers.retain(|_| here.next() == Some(None));
        }
        Ok(())
    }
}
