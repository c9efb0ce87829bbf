//! Import: from a stream of bytes to rows.
//!
//! `bytes -> split -> (all cores) digest, clean -> merge -> one transaction a batch -> reports`
//!
//! Everything up to the merge happens without the write lock, so a slow input holds up nobody; where the database can
//! be read beside its writer, it happens while the batch before is being written. Only if all inputs are files, the lock
//! is taken after the first part of a batch, and the batch goes into its transaction part by part. A certificate is
//! reported when it is durable. Inputs that a complete earlier import has seen are recognised by their digest before they
//! are cleaned.

mod batch;
mod batch_transaction;
mod chunk;
mod event;
mod options;
mod pending_write;
mod preview;
mod revocation;
mod secrets;
mod work;

use std::collections::HashSet;
use std::io::Read;
use std::sync::mpsc::sync_channel;
use std::thread::{self, Scope};

use cert::clean::CleaningNote;
use cert::split::Piece;
use store::{InputDigest, JournalId, Prepared, PutKind, Store, Timestamp};

use crate::Result;
use batch::{AHEAD_BYTES, BATCH_BYTES, BESIDE_BYTES, Batch, PART_BYTES, Report};
use batch_transaction::BatchTransaction;
use chunk::{CHUNKS_AHEAD, Chunk, read_ahead};
use pending_write::{PendingWrite, Written};
use work::{Effect, Incoming, Item, KnownCertificate, Name, Ready, Source, Worker};

pub use event::{
    Additions, ImportEvent, ImportOutcome, ImportRefusal, ImportSummary, Imported, ImportedSecret,
    SecretOutcome,
};
pub use options::{Filter, ImportOptions, NewOwnerTrust};
pub use preview::{Preview, preview};
pub use revocation::{LoneRevocation, examine};

/// Imports one input.
///
/// # Errors
///
/// What [`Importer::add`] and [`Importer::finish`] return.
pub fn import(
    store: &dyn Store,
    input: impl Read + Send,
    options: &ImportOptions<'_>,
    now: Timestamp,
    on_event: &mut dyn FnMut(ImportEvent<'_>),
) -> Result<ImportSummary> {
    let mut importer = Importer::new(store, options, now);
    importer.add(input, on_event)?;
    importer.finish(on_event)
}

/// One import of any number of inputs, under one journal entry.
pub struct Importer<'a> {
    store: &'a dyn Store,
    options: &'a ImportOptions<'a>,
    now: Timestamp,
    digest_prefix: Option<Vec<u8>>,
    batch: Batch,
    /// The database can be read while a batch is being written.
    beside: bool,
    /// Batches may be written in parts.
    may_be_in_parts: bool,
    /// The batch that is being written part by part.
    parts: Option<BatchTransaction<'a>>,
    journal: Option<JournalId>,
    summary: ImportSummary,
    /// The number of the input that is being read.
    input: usize,
    bytes: u64,
}

impl<'a> Importer<'a> {
    /// Starts an import. Nothing is written before [`Importer::add`] has filled a batch.
    pub fn new(store: &'a dyn Store, options: &'a ImportOptions<'a>, now: Timestamp) -> Self {
        Self {
            store,
            options,
            now,
            digest_prefix: options.digest_prefix(),
            batch: Batch::default(),
            beside: false,
            may_be_in_parts: options.is_steady(),
            parts: None,
            journal: None,
            summary: ImportSummary::default(),
            input: 0,
            bytes: 0,
        }
    }

    /// Reads an input to its end.
    ///
    /// # Errors
    ///
    /// The database's errors. Damaged certificates are events, not errors.
    pub fn add(&mut self, input: impl Read + Send, on_event: &mut dyn FnMut(ImportEvent<'_>)) -> Result<()> {
        if self.parts.is_none() {
            self.beside = self.store.supports_concurrent_readers()?;
        }
        thread::scope(|scope| {
            let (sender, chunks) = sync_channel(CHUNKS_AHEAD);
            scope.spawn(move || read_ahead(input, &sender));
            let mut pending = None;
            let added =
                chunks.iter().try_for_each(|chunk| self.add_chunk(chunk, scope, &mut pending, on_event));
            // What was written is reported, whatever has happened since.
            added.and(self.join_pending(&mut pending, on_event))
        })?;
        self.input += 1;
        Ok(())
    }

    /// Writes what is left and returns the sums.
    ///
    /// # Errors
    ///
    /// The database's errors; then nothing of the last batch was written.
    pub fn finish(mut self, on_event: &mut dyn FnMut(ImportEvent<'_>)) -> Result<ImportSummary> {
        self.flush(true, on_event)?;
        self.summary.journal = self.journal;
        Ok(self.summary)
    }

    fn add_chunk<'scope>(
        &mut self,
        chunk: Chunk,
        scope: &'scope Scope<'scope, '_>,
        pending: &mut Option<PendingWrite<'scope, 'a>>,
        on_event: &mut dyn FnMut(ImportEvent<'_>),
    ) -> Result<()>
    where
        'a: 'scope,
    {
        if self.is_time_to_write(pending.as_ref()) {
            self.hand_over(scope, pending, on_event)?;
        }
        let bytes: usize = chunk.iter().flatten().map(chunk::len).sum();
        let raws = self.raw_certificates(chunk, pending, on_event)?;
        let (options, now) = (self.options, self.now);
        let digest_prefix = self.digest_prefix.clone();
        // As long as the first batch lasts, there is nothing that could be read.
        let store = (self.beside || self.parts.is_none()).then_some(self.store);
        let worker = Worker { store, options, digest_prefix: digest_prefix.as_deref(), now };
        let mut clean = worker.clean(raws)?;
        if pending.as_ref().is_some_and(|pending| clean.fingerprints().any(|found| pending.holds(&found))) {
            self.join_pending(pending, on_event)?;
            clean.forget_absent();
        }
        let items = worker.merge(clean, |fingerprint| self.batch.contains(fingerprint))?;
        items.into_iter().for_each(|item| self.take(item, on_event));
        self.bytes += bytes as u64;
        on_event(ImportEvent::Progress { bytes: self.bytes });
        Ok(())
    }

    fn is_time_to_write(&self, pending: Option<&PendingWrite<'_, 'a>>) -> bool {
        let load = self.batch.load();
        let most = match &self.parts {
            None if !self.may_be_in_parts && self.beside => BESIDE_BYTES,
            None if !self.may_be_in_parts => BATCH_BYTES,
            _ if pending.is_some_and(|pending| !pending.is_finished()) => AHEAD_BYTES,
            _ => PART_BYTES,
        };
        load.is_full(most) || self.parts.as_ref().is_some_and(|parts| parts.is_full_with(&self.batch))
    }

    /// Makes certificates of all pieces, the revocations that stand alone included; what holds no keys is passed
    /// over without a word, as gpg does.
    fn raw_certificates(
        &mut self,
        chunk: Chunk,
        pending: &mut Option<PendingWrite<'_, 'a>>,
        on_event: &mut dyn FnMut(ImportEvent<'_>),
    ) -> Result<Vec<Incoming>> {
        let mut raw = |piece: cert::Result<Piece>| match piece {
            Ok(Piece::Certificate(raw)) => Ok(Some(Incoming::Certificate { raw, revocation: false })),
            Ok(Piece::Ignored(_)) => Ok(None),
            Ok(Piece::Revocation(revocation)) => {
                // It may be meant for a certificate that is just being written.
                self.join_pending(pending, on_event)?;
                let position = revocation.position;
                if self.options.show {
                    on_event(ImportEvent::Revocation(&revocation));
                }
                let committed;
                let written = self.parts.as_mut().map(BatchTransaction::snapshot).transpose()?;
                let snapshot = match written.flatten() {
                    Some(snapshot) => snapshot,
                    None => {
                        committed = self.store.snapshot()?;
                        committed.as_ref()
                    }
                };
                let raw = revocation::with_primary_key(snapshot, &self.batch, &revocation)?;
                Ok(Some(match raw {
                    Ok(raw) => Incoming::Certificate { raw, revocation: true },
                    Err(reason) => Incoming::Unread { position, reason },
                }))
            }
            Err(error) => Ok(Some(Incoming::Unread { position: error.position(), reason: error.into() })),
        };
        chunk.into_iter().filter_map(|piece| raw(piece).transpose()).collect()
    }

    /// Plans one certificate's write and its report.
    fn take(&mut self, item: Item, on_event: &mut dyn FnMut(ImportEvent<'_>)) {
        let report = match item {
            Item::Refused { position, reason } => Report::Refused { input: self.input, position, reason },
            Item::Seen(KnownCertificate { source, digest, id, name }) => {
                self.batch.remember(digest, id);
                let imported = self.imported(source, name, ImportOutcome::Unchanged, Vec::new());
                Report::Imported { imported, secrets: Vec::new() }
            }
            Item::Ready(ready) => {
                let mut taken = true;
                if let Some(certificate) = &ready.shown {
                    let secret = ready.source.secret;
                    on_event(ImportEvent::Cleaned { certificate, secret, taken: &mut taken });
                }
                let Ready {
                    source,
                    digest,
                    name,
                    notes,
                    secrets,
                    has_user_ids,
                    revokers,
                    prepared,
                    effect,
                    ..
                } = *ready;
                let outcome = match taken {
                    true => self.plan(prepared, effect, has_user_ids, digest),
                    false => ImportOutcome::Declined,
                };
                let mut imported = self.imported(source, name, outcome, notes);
                imported.secrets = secrets.left_out;
                imported.revokers = revokers;
                Report::Imported { imported, secrets: secrets.to_keep }
            }
        };
        self.batch.reports.push(report);
    }

    fn imported(
        &self,
        source: Source,
        name: Name,
        outcome: ImportOutcome,
        notes: Vec<CleaningNote>,
    ) -> Imported {
        Imported {
            input: self.input,
            position: source.position,
            fingerprint: name.fingerprint,
            name: name.user_id,
            outcome,
            secret: source.secret,
            secrets: Vec::new(),
            revocation: source.revocation,
            revokers: Vec::new(),
            notes,
        }
    }

    fn plan(
        &mut self,
        certificate: Prepared,
        effect: Effect,
        has_user_ids: bool,
        digest: Option<InputDigest>,
    ) -> ImportOutcome {
        if self.batch.contains(&certificate.fingerprint()) {
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
            Effect::New if !has_user_ids && !self.is_in_parts(&certificate) => {
                ImportOutcome::SkippedWithoutUserId
            }
            Effect::New => {
                self.batch.put(certificate, PutKind::New, digest);
                ImportOutcome::New
            }
        }
    }

    /// Says whether it will be merged into what an earlier part has brought.
    fn is_in_parts(&self, certificate: &Prepared) -> bool {
        self.parts.as_ref().is_some_and(|parts| parts.holds(&certificate.fingerprint()))
    }

    /// Has the batch written: beside the further work, or at once where nobody can read meanwhile.
    fn hand_over<'scope>(
        &mut self,
        scope: &'scope Scope<'scope, '_>,
        pending: &mut Option<PendingWrite<'scope, 'a>>,
        on_event: &mut dyn FnMut(ImportEvent<'_>),
    ) -> Result<()>
    where
        'a: 'scope,
    {
        self.join_pending(pending, on_event)?;
        let nothing = self.parts.is_none() && (self.batch.changes_nothing() || self.options.dry_run);
        if !nothing && self.parts.is_none() && !self.begin()? {
            return Ok(());
        }
        let ends = self.parts.as_ref().is_none_or(|parts| parts.is_full_with(&self.batch));
        if nothing || (ends && !self.beside) {
            self.flush(false, on_event)?;
            // The first batch in a new database gives it what this takes.
            self.beside = self.store.supports_concurrent_readers()?;
            return Ok(());
        }
        self.keep_secrets()?;
        *pending = Some(self.spawn_write(scope, ends));
        Ok(())
    }

    /// Begins to write in parts, if that can be done. False says that it turned out now that it cannot: the batch is to
    /// become larger.
    fn begin(&mut self) -> Result<bool> {
        if !self.may_be_in_parts {
            return Ok(true);
        }
        self.parts = match self.beside {
            true => BatchTransaction::begin(self.store, self.options, self.journal, self.now)?,
            false => BatchTransaction::begin_first(self.store, self.options, self.now)?,
        };
        self.may_be_in_parts = self.parts.is_some();
        Ok(self.may_be_in_parts)
    }

    /// Starts to write the batch: in a transaction of its own, or as a part of one, which it may end.
    fn spawn_write<'scope>(
        &mut self,
        scope: &'scope Scope<'scope, '_>,
        ends: bool,
    ) -> PendingWrite<'scope, 'a>
    where
        'a: 'scope,
    {
        let (store, options, journal, now) = (self.store, self.options, self.journal, self.now);
        let mut batch = std::mem::take(&mut self.batch);
        let Some(mut parts) = self.parts.take() else {
            return PendingWrite::spawn(scope, batch.fingerprints().collect(), move || {
                let journal = batch.write(store, options, journal, false, now)?;
                Ok(Written::Durable(journal, vec![batch.reports]))
            });
        };
        if ends {
            return PendingWrite::spawn(scope, parts.take_fingerprints(&batch), move || {
                parts
                    .finish(batch, options, false)
                    .map(|(journal, reports)| Written::Durable(journal, reports))
            });
        }
        let mut transaction = parts.lend(&batch);
        self.parts = Some(parts);
        // What these parts hold is merged into where it is put, not before.
        PendingWrite::spawn(scope, HashSet::new(), move || {
            batch.write_into(transaction.as_mut(), options)?;
            Ok(Written::Part(transaction, batch.reports))
        })
    }

    /// Waits for what is being written, if anything is, and reports what is durable.
    fn join_pending(
        &mut self,
        pending: &mut Option<PendingWrite<'_, 'a>>,
        on_event: &mut dyn FnMut(ImportEvent<'_>),
    ) -> Result<()> {
        let Some(pending) = pending.take() else { return Ok(()) };
        match pending.join()? {
            Written::Part(transaction, reports) => {
                let parts = self.parts.as_mut().expect("a transaction that lasts has its parts here");
                parts.take_back(transaction, reports);
            }
            Written::Durable(journal, reports) => {
                self.journal = Some(journal);
                self.report(reports, on_event);
            }
        }
        Ok(())
    }

    /// Writes the batch, then reports it.
    fn flush(&mut self, last: bool, on_event: &mut dyn FnMut(ImportEvent<'_>)) -> Result<()> {
        self.keep_secrets()?;
        let mut batch = std::mem::take(&mut self.batch);
        if let Some(parts) = self.parts.take() {
            let (journal, reports) = parts.finish(batch, self.options, last)?;
            self.journal = Some(journal);
            self.report(reports, on_event);
            return Ok(());
        }
        let ends_journal = last && self.journal.is_some();
        if !self.options.dry_run && (!batch.changes_nothing() || ends_journal) {
            self.journal = Some(batch.write(self.store, self.options, self.journal, last, self.now)?);
        }
        self.report([batch.reports], on_event);
        Ok(())
    }

    /// Keeps the secret keys of the batch, before it is written.
    fn keep_secrets(&mut self) -> Result<()> {
        let Some(place) = self.options.secret_keys else { return Ok(()) };
        secrets::keep(&mut self.batch, place, self.options.dry_run)
    }

    fn report(
        &mut self,
        reports: impl IntoIterator<Item = Vec<Report>>,
        on_event: &mut dyn FnMut(ImportEvent<'_>),
    ) {
        for report in reports.into_iter().flatten() {
            match report {
                Report::Imported { imported, .. } => {
                    self.summary.count(&imported);
                    on_event(ImportEvent::Certificate(&imported));
                }
                Report::Refused { input, position, reason } => {
                    self.summary.count_refused(&reason);
                    on_event(ImportEvent::Refused { input, position, reason: &reason });
                }
            }
        }
    }
}
