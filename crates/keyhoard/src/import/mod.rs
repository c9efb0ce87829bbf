//! Import: from a stream of bytes to rows.
//!
//! `bytes -> split -> (all cores) digest, clean -> merge -> one transaction a batch -> reports`
//!
//! Everything up to the merge happens without the write lock, so a slow input holds up nobody. A certificate
//! is reported when it is durable. Inputs that a complete earlier import has seen are recognised by their
//! digest before any other work.

mod batch;
mod chunk;
mod event;
mod options;
mod preview;
mod revocation;
mod work;

use std::io::Read;
use std::sync::mpsc::sync_channel;
use std::thread;

use cert::clean::Note;
use cert::split::Piece;
use store::{InputDigest, JournalId, Prepared, PutKind, Snapshot, Store, Timestamp};

use crate::Result;
use batch::{Batch, Report};
use chunk::{Chunk, read_ahead};
use work::{Effect, Incoming, Item, Name, Ready, Seen, Source, Worker};

pub use event::{Additions, ImportEvent, ImportSummary, Imported, Outcome, Refusal};
pub use options::{Filter, ImportOptions};
pub use preview::{Preview, preview};

/// Chunks that wait between the reader and the workers.
const CHUNKS_AHEAD: usize = 2;

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
        thread::scope(|scope| {
            let (sender, chunks) = sync_channel(CHUNKS_AHEAD);
            scope.spawn(move || read_ahead(input, &sender));
            chunks.iter().try_for_each(|chunk| self.add_chunk(chunk, on_event))
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

    fn add_chunk(&mut self, chunk: Chunk, on_event: &mut dyn FnMut(ImportEvent<'_>)) -> Result<()> {
        if self.batch.is_full() {
            self.flush(false, on_event)?;
        }
        let bytes: usize = chunk.iter().flatten().map(chunk::len).sum();
        let snapshot = self.store.snapshot()?;
        let raws = self.raw_certificates(snapshot.as_ref(), chunk)?;
        let (options, digest_prefix, now) = (self.options, self.digest_prefix.as_deref(), self.now);
        let worker = Worker { options, digest_prefix, now };
        let items = worker.work(snapshot.as_ref(), raws, |fingerprint| self.batch.contains(fingerprint))?;
        drop(snapshot);
        items.into_iter().for_each(|item| self.take(item, on_event));
        self.bytes += bytes as u64;
        on_event(ImportEvent::Progress { bytes: self.bytes });
        Ok(())
    }

    /// Makes certificates of all pieces, the revocations that stand alone included; what holds no keys is passed
    /// over without a word, as gpg does.
    fn raw_certificates(&self, snapshot: &dyn Snapshot, chunk: Chunk) -> Result<Vec<Incoming>> {
        let raw = |piece: cert::Result<Piece>| match piece {
            Ok(Piece::Certificate(raw)) => Ok(Some(Incoming::Certificate { raw, revocation: false })),
            Ok(Piece::Ignored(_)) => Ok(None),
            Ok(Piece::Revocation(revocation)) => {
                let position = revocation.position;
                Ok(Some(match revocation::with_primary_key(snapshot, &self.batch, &revocation)? {
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
            Item::Seen(Seen { source, digest, id, name }) => {
                self.batch.remember(digest, id);
                Report::Imported(self.imported(source, name, Outcome::Unchanged, Vec::new()))
            }
            Item::Ready(ready) => {
                let mut taken = true;
                if let Some(certificate) = &ready.shown {
                    on_event(ImportEvent::Cleaned { certificate, taken: &mut taken });
                }
                let Ready { source, digest, name, notes, has_user_ids, prepared, effect, .. } = *ready;
                let outcome = match taken {
                    true => self.plan(prepared, effect, has_user_ids, digest),
                    false => Outcome::Declined,
                };
                Report::Imported(self.imported(source, name, outcome, notes))
            }
        };
        self.batch.reports.push(report);
    }

    fn imported(&self, source: Source, name: Name, outcome: Outcome, notes: Vec<Note>) -> Imported {
        Imported {
            input: self.input,
            position: source.position,
            fingerprint: name.fingerprint,
            name: name.user_id,
            outcome,
            secret: source.secret,
            revocation: source.revocation,
            notes,
        }
    }

    fn plan(
        &mut self,
        certificate: Prepared,
        effect: Effect,
        has_user_ids: bool,
        digest: Option<InputDigest>,
    ) -> Outcome {
        if self.batch.contains(&certificate.fingerprint()) {
            return self.batch.merge_pending(&certificate, digest);
        }
        match effect {
            Effect::Nothing(id) => {
                if let Some(digest) = digest {
                    self.batch.remember(digest, id);
                }
                Outcome::Unchanged
            }
            Effect::Merge(kind, additions) => {
                self.batch.put(certificate, kind, digest);
                Outcome::Changed(additions)
            }
            Effect::New if self.options.merge_only => Outcome::SkippedNew,
            Effect::New if !has_user_ids => Outcome::SkippedWithoutUserId,
            Effect::New => {
                self.batch.put(certificate, PutKind::New, digest);
                Outcome::New
            }
        }
    }

    /// Writes the batch, then reports it.
    fn flush(&mut self, last: bool, on_event: &mut dyn FnMut(ImportEvent<'_>)) -> Result<()> {
        let mut batch = std::mem::take(&mut self.batch);
        let ends_journal = last && self.journal.is_some();
        if !self.options.dry_run && (!batch.changes_nothing() || ends_journal) {
            self.journal = Some(batch.write(self.store, self.options, self.journal, last, self.now)?);
        }
        for report in &batch.reports {
            match report {
                Report::Imported(imported) => {
                    self.summary.count(imported);
                    on_event(ImportEvent::Certificate(imported));
                }
                Report::Refused { input, position, reason } => {
                    self.summary.count_refused(reason);
                    on_event(ImportEvent::Refused { input: *input, position: *position, reason });
                }
            }
        }
        Ok(())
    }
}
