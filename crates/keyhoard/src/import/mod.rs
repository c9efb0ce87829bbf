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

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::ops::ControlFlow;
use std::sync::mpsc::sync_channel;
use std::thread;

use cert::Facts;
use cert::clean::{Cleaned, clean};
use cert::effective::{Moment, View, evaluate};
use cert::facts::ComponentKind;
use cert::split::{Piece, RawCertificate};
use rayon::prelude::*;
use store::{CertId, Detail, Fingerprint, InputDigest, JournalId, Selection, Snapshot, Store, Timestamp};
use verify::naming::sha256;

use crate::Result;
use batch::{Batch, Report, Stored, stored};
use chunk::{Chunk, read_ahead};

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
    options: &ImportOptions,
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
    options: &'a ImportOptions,
    now: Timestamp,
    digest_prefix: Option<Vec<u8>>,
    batch: Batch,
    journal: Option<JournalId>,
    summary: ImportSummary,
    /// The number of the input that is being read.
    input: usize,
    bytes: u64,
}

/// Where no certificate could be read, and why.
type Unread = (u64, Refusal);

/// A certificate of the input.
struct Incoming {
    raw: RawCertificate,
    /// It was put together for a revocation that stands alone.
    revocation: bool,
}

/// A certificate of the input on its way.
struct Work {
    incoming: Incoming,
    digest: Option<InputDigest>,
}

impl<'a> Importer<'a> {
    /// Starts an import. Nothing is written before [`Importer::add`] has filled a batch.
    pub fn new(store: &'a dyn Store, options: &'a ImportOptions, now: Timestamp) -> Self {
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
        let items = self.recognise(snapshot.as_ref(), raws)?;
        let known = self.read_known(snapshot.as_ref(), &items)?;
        drop(snapshot);
        for item in items {
            self.take(item, &known, on_event);
        }
        self.bytes += bytes as u64;
        on_event(ImportEvent::Progress { bytes: self.bytes });
        Ok(())
    }

    /// Makes certificates of all pieces, the revocations that stand alone included; what holds no keys is passed
    /// over without a word, as gpg does.
    fn raw_certificates(
        &self,
        snapshot: &dyn Snapshot,
        chunk: Chunk,
    ) -> Result<Vec<std::result::Result<Incoming, Unread>>> {
        let raw = |piece: cert::Result<Piece>| match piece {
            Ok(Piece::Certificate(raw)) => Ok(Some(Ok(Incoming { raw, revocation: false }))),
            Ok(Piece::Ignored(_)) => Ok(None),
            Ok(Piece::Revocation(revocation)) => {
                let position = revocation.position;
                let raw = revocation::with_primary_key(snapshot, &self.batch, &revocation)?;
                let raw = raw.map(|raw| Incoming { raw, revocation: true });
                Ok(Some(raw.map_err(|reason| (position, reason))))
            }
            Err(error) => Ok(Some(Err((error.position(), Refusal::from(error))))),
        };
        chunk.into_iter().filter_map(|piece| raw(piece).transpose()).collect()
    }

    /// Sorts a chunk into what an earlier import has seen and what has to be cleaned, and cleans that.
    fn recognise(
        &self,
        snapshot: &dyn Snapshot,
        incoming: Vec<std::result::Result<Incoming, Unread>>,
    ) -> Result<Vec<Item>> {
        let work = |incoming: Incoming| Work { digest: self.digest(&incoming.raw), incoming };
        let works: Vec<std::result::Result<Work, Unread>> =
            incoming.into_par_iter().map(|incoming| incoming.map(work)).collect();
        let digests: Vec<InputDigest> = works.iter().flatten().filter_map(|work| work.digest).collect();
        let seen: HashMap<InputDigest, CertId> = digests
            .iter()
            .zip(snapshot.known_inputs(&digests)?)
            .filter_map(|(digest, id)| Some((*digest, id?)))
            .collect();
        let names = self.names(snapshot, seen.values().copied())?;
        Ok(works.into_par_iter().map(|work| self.clean(work, &seen, &names)).collect())
    }

    fn digest(&self, raw: &RawCertificate) -> Option<InputDigest> {
        let prefix = self.digest_prefix.as_deref()?;
        Some(InputDigest(sha256(&[prefix, &raw.bytes])))
    }

    fn clean(
        &self,
        work: std::result::Result<Work, Unread>,
        seen: &HashMap<InputDigest, CertId>,
        names: &HashMap<CertId, (Fingerprint, Option<Vec<u8>>)>,
    ) -> Item {
        let Work { incoming: Incoming { raw, revocation }, digest } = match work {
            Ok(work) => work,
            Err((position, reason)) => return Item::Refused { position, reason },
        };
        let secret = !raw.secrets.is_empty();
        let known = digest.and_then(|digest| Some((digest, *seen.get(&digest)?)));
        if let Some((known, (fingerprint, name))) =
            known.and_then(|known| Some((known, names.get(&known.1)?)))
        {
            let imported = Imported {
                input: self.input,
                position: raw.position,
                fingerprint: *fingerprint,
                name: name.clone(),
                outcome: Outcome::Unchanged,
                secret,
                revocation,
                notes: Vec::new(),
            };
            return Item::Seen { imported, known };
        }
        match clean(&raw, &self.options.clean, self.now) {
            Ok(mut cleaned) => {
                if let Some(filter) = &self.options.filter {
                    cleaned.certificate = filter(cleaned.certificate);
                    cleaned.has_user_ids = cleaned.certificate.facts.user_ids().next().is_some();
                }
                Item::Cleaned { position: raw.position, secret, revocation, digest, cleaned }
            }
            Err(refused) => Item::Refused { position: raw.position, reason: refused.into() },
        }
    }

    /// Reads the fingerprints and, if names were asked for, the primary user IDs of certificates.
    fn names(
        &self,
        snapshot: &dyn Snapshot,
        ids: impl Iterator<Item = CertId>,
    ) -> Result<HashMap<CertId, (Fingerprint, Option<Vec<u8>>)>> {
        let mut ids: Vec<CertId> = ids.collect();
        ids.sort_unstable();
        ids.dedup();
        let detail = if self.options.names { Detail::Own } else { Detail::Name };
        let mut names = HashMap::with_capacity(ids.len());
        snapshot.visit(Selection::Ids(&ids), detail, &mut |record| {
            let name = record.facts.as_ref().and_then(|facts| primary_user_id(facts, self.now));
            names.insert(record.id, (record.fingerprint, name));
            ControlFlow::Continue(())
        })?;
        Ok(names)
    }

    /// Reads what the database holds of the certificates that were cleaned.
    fn read_known(&self, snapshot: &dyn Snapshot, items: &[Item]) -> Result<HashMap<Fingerprint, Stored>> {
        let fingerprints: HashSet<Fingerprint> = items
            .iter()
            .filter_map(Item::fingerprint)
            .filter(|fingerprint| !self.batch.contains(fingerprint))
            .collect();
        stored(snapshot, &fingerprints.into_iter().collect::<Vec<_>>())
    }

    /// Plans one certificate's write and its report.
    fn take(
        &mut self,
        item: Item,
        known: &HashMap<Fingerprint, Stored>,
        on_event: &mut dyn FnMut(ImportEvent<'_>),
    ) {
        let report = match item {
            Item::Refused { position, reason } => Report::Refused { input: self.input, position, reason },
            Item::Seen { imported, known } => {
                self.batch.meet_again(known);
                Report::Imported(imported)
            }
            Item::Cleaned { position, secret, revocation, digest, cleaned } => {
                if self.options.show {
                    on_event(ImportEvent::Cleaned(&cleaned.certificate));
                }
                let Cleaned { certificate, notes, has_user_ids, .. } = cleaned;
                let fingerprint = certificate.facts.primary().fingerprint;
                let name =
                    self.options.names.then(|| primary_user_id(&certificate.facts, self.now)).flatten();
                let outcome = self.plan(certificate, has_user_ids, digest, known);
                let input = self.input;
                Report::Imported(Imported {
                    input,
                    position,
                    fingerprint,
                    name,
                    outcome,
                    secret,
                    revocation,
                    notes,
                })
            }
        };
        self.batch.reports.push(report);
    }

    fn plan(
        &mut self,
        certificate: cert::certificate::Certificate,
        has_user_ids: bool,
        digest: Option<InputDigest>,
        known: &HashMap<Fingerprint, Stored>,
    ) -> Outcome {
        let fingerprint = certificate.facts.primary().fingerprint;
        if self.options.dry_run {
            Outcome::DryRun
        } else if self.batch.contains(&fingerprint) {
            self.batch.merge_pending(&certificate, digest)
        } else if let Some(stored) = known.get(&fingerprint) {
            self.batch.merge_stored(stored, &certificate, digest)
        } else if self.options.merge_only {
            Outcome::SkippedNew
        } else if !has_user_ids {
            Outcome::SkippedWithoutUserId
        } else {
            self.batch.insert(certificate, digest)
        }
    }

    /// Writes the batch, then reports it.
    fn flush(&mut self, last: bool, on_event: &mut dyn FnMut(ImportEvent<'_>)) -> Result<()> {
        let mut batch = std::mem::take(&mut self.batch);
        let ends_journal = last && self.journal.is_some();
        if !batch.changes_nothing() || ends_journal {
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

/// A certificate of a chunk after the parallel work.
enum Item {
    Seen { imported: Imported, known: (InputDigest, CertId) },
    Cleaned { position: u64, secret: bool, revocation: bool, digest: Option<InputDigest>, cleaned: Cleaned },
    Refused { position: u64, reason: Refusal },
}

impl Item {
    fn fingerprint(&self) -> Option<Fingerprint> {
        match self {
            Self::Cleaned { cleaned, .. } => Some(cleaned.certificate.facts.primary().fingerprint),
            _ => None,
        }
    }
}

/// Returns the user ID that a certificate is called by at a moment.
fn primary_user_id(facts: &Facts, now: Timestamp) -> Option<Vec<u8>> {
    let index = evaluate(facts, Moment::new(now, View::Gnupg)).primary_user_id(facts)?;
    match &facts.components[index].kind {
        ComponentKind::UserId(value) => Some(value.clone()),
        _ => None,
    }
}
