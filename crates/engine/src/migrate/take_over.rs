//! Writing what was read: in batches, each read, verified and merged before the write lock is taken.

use std::collections::HashMap;

use cert::certificate::Certificate;
use cert::clean::rebuild;
use cert::facts::ComponentKind;
use cert::merge::merge;
use cert::split::RawCertificate;
use rayon::prelude::*;
use store::{
    AssignedTrust, CertId, Fingerprint, InputDigest, JournalId, Migration, Origins, Prepared, Put, PutKind,
    PutOutcome, ReadTrust, Store, Timestamp,
};
use verify::cores::on_all_cores;
use verify::naming::sha256;

use super::differing::{Differing, differing};
use super::read::Item;
use super::source::MigrationSource;
use super::tofu_db::Remembered;
use super::{MigrateEvent, MigrateSummary};
use crate::owner_trust::Assignment;
use crate::retry::retry_transient;
use crate::stored;
use crate::{Error, Result};

/// The options of a migration.
#[derive(Clone, Debug, Default)]
pub struct MigrateOptions {
    /// The command line, for the journal.
    pub command: String,
    /// Writes nothing.
    pub dry_run: bool,
}

/// Certificates and their bytes that are verified at a time.
const CHUNK_CERTIFICATES: usize = 2048;
const CHUNK_BYTES: usize = 4 << 20;
/// Certificates and their bytes that are written in one transaction.
const BATCH_CERTIFICATES: usize = 50_000;
const BATCH_BYTES: usize = 32 << 20;

/// What tells a certificate that was taken over as it is from one that was imported, whose cleaning may differ.
const DIGEST_PREFIX: &[u8] = b"migrate 1";

/// A migration on its way.
pub(super) struct TakeOver<'a> {
    store: &'a dyn Store,
    options: &'a MigrateOptions,
    now: Timestamp,
    chunk: Vec<(RawCertificate, Option<Timestamp>)>,
    chunk_bytes: usize,
    batch: Batch,
    journal: Option<JournalId>,
    summary: MigrateSummary,
}

/// What is written in one transaction.
#[derive(Default)]
struct Batch {
    entries: Vec<Entry>,
    by_fingerprint: HashMap<Fingerprint, usize>,
    bytes: usize,
    unchanged: Vec<(InputDigest, CertId)>,
    remembered: Vec<Remembered>,
    owner_trusts: Vec<Assignment>,
    /// Origins of certificates that do not change otherwise.
    origins: Vec<(CertId, Origins)>,
}

/// A certificate as it will be written.
struct Entry {
    certificate: Prepared,
    kind: PutKind,
    inputs: Vec<InputDigest>,
    origins: Origins,
}

/// A certificate that was verified.
struct Verified {
    certificate: Certificate,
    since: Option<Timestamp>,
    digest: InputDigest,
    origins: Origins,
}

impl<'a> TakeOver<'a> {
    pub(super) fn new(store: &'a dyn Store, options: &'a MigrateOptions, now: Timestamp) -> Self {
        Self {
            store,
            options,
            now,
            chunk: Vec::new(),
            chunk_bytes: 0,
            batch: Batch::default(),
            journal: None,
            summary: MigrateSummary::default(),
        }
    }

    /// Takes what was read.
    pub(super) fn add(
        &mut self,
        source: &MigrationSource,
        item: Item,
        on_event: &mut dyn FnMut(MigrateEvent<'_>),
    ) -> Result<()> {
        match item {
            Item::Certificate(raw, since) => {
                self.summary.read += 1;
                self.chunk_bytes += raw.bytes.len();
                self.chunk.push((raw, since));
            }
            Item::Remembered(remembered) => {
                self.summary.bindings += 1;
                self.batch.remembered.push(remembered);
            }
            Item::OwnerTrust(given) => {
                self.summary.owner_trusts += 1;
                self.batch.owner_trusts.push(given);
            }
            Item::Unreadable(reason) => {
                self.summary.unreadable += 1;
                on_event(MigrateEvent::Unreadable { source, reason });
            }
            Item::X509(count) => self.summary.x509 += count,
        }
        if self.chunk.len() >= CHUNK_CERTIFICATES || self.chunk_bytes >= CHUNK_BYTES {
            self.plan_chunk(source, on_event)?;
        }
        let Batch { entries, unchanged, remembered, owner_trusts, .. } = &self.batch;
        let waiting = entries.len() + unchanged.len() + remembered.len() + owner_trusts.len();
        if waiting >= BATCH_CERTIFICATES || self.batch.bytes >= BATCH_BYTES {
            self.write(None, on_event)?;
        }
        Ok(())
    }

    /// Writes what is left, and that the sources were taken over.
    pub(super) fn finish(
        mut self,
        migrations: &[Migration],
        on_event: &mut dyn FnMut(MigrateEvent<'_>),
    ) -> Result<MigrateSummary> {
        self.write(Some(migrations), on_event)?;
        self.summary.journal = self.journal;
        Ok(self.summary)
    }

    /// Works out what the chunk's certificates, all from one source, do to the database.
    pub(super) fn plan_chunk(
        &mut self,
        source: &MigrationSource,
        on_event: &mut dyn FnMut(MigrateEvent<'_>),
    ) -> Result<()> {
        self.chunk_bytes = 0;
        let chunk = std::mem::take(&mut self.chunk);
        let digests: Vec<InputDigest> =
            on_all_cores(|| chunk.par_iter().map(|(raw, _)| digest(raw)).collect());
        let known = retry_transient(|| Ok(self.store.snapshot()?.known_inputs(&digests)?))?;
        let work = chunk.into_par_iter().zip(digests).zip(known);
        let verified: Vec<Step> = on_all_cores(|| {
            work.map(|((certificate, digest), known)| step(certificate, digest, known)).collect()
        });
        let fingerprints: Vec<Fingerprint> = verified.iter().filter_map(Step::fingerprint).collect();
        let stored = retry_transient(|| stored::read(self.store.snapshot()?.as_ref(), &fingerprints))?;
        for step in verified {
            match step {
                Step::Known(digest, id) => {
                    self.summary.unchanged += 1;
                    self.batch.unchanged.push((digest, id));
                }
                Step::Unreadable(reason) => {
                    self.summary.unreadable += 1;
                    on_event(MigrateEvent::Unreadable { source, reason });
                }
                Step::Verified(verified) => {
                    let stored = stored.get(&verified.certificate.facts.primary().fingerprint);
                    self.plan(*verified, stored);
                }
            }
        }
        on_event(MigrateEvent::Progress { done: self.summary.read });
        Ok(())
    }

    fn plan(&mut self, verified: Verified, stored: Option<&stored::Stored>) {
        let Verified { certificate, since, digest, origins } = verified;
        let fingerprint = certificate.facts.primary().fingerprint;
        if let Some(&index) = self.batch.by_fingerprint.get(&fingerprint) {
            return self.merge_pending(index, &certificate, digest, origins);
        }
        let (certificate, kind) = match stored {
            None => {
                self.summary.new += 1;
                let kind = since.map_or(PutKind::New, |first_seen| PutKind::Migrated { first_seen });
                (certificate, kind)
            }
            Some(stored) => match merge(&stored.certificate, &certificate) {
                None => {
                    self.summary.unchanged += 1;
                    self.batch.unchanged.push((digest, stored.id));
                    self.batch
                        .origins
                        .extend((origins != Origins::default()).then_some((stored.id, origins)));
                    return;
                }
                Some(merged) => {
                    self.summary.changed += 1;
                    (merged.certificate, stored.merged_with(merged.added_packets))
                }
            },
        };
        let certificate = Prepared::new(certificate);
        self.batch.bytes += certificate.size();
        self.batch.by_fingerprint.insert(fingerprint, self.batch.entries.len());
        self.batch.entries.push(Entry { certificate, kind, inputs: vec![digest], origins });
    }

    /// Merges into what waits to be written: another source has it as well.
    fn merge_pending(&mut self, index: usize, new: &Certificate, digest: InputDigest, origins: Origins) {
        let entry = &mut self.batch.entries[index];
        entry.inputs.push(digest);
        entry.origins.certificate = origins.certificate.or(entry.origins.certificate.take());
        entry.origins.user_ids.extend(origins.user_ids);
        match merge(&entry.certificate.certificate(), new) {
            None => self.summary.unchanged += 1,
            Some(merged) => {
                self.summary.changed += 1;
                self.batch.bytes += merged.certificate.bytes.len();
                entry.certificate = Prepared::new(merged.certificate);
                if let PutKind::Merged { added, .. } = &mut entry.kind {
                    added.extend(merged.added_packets);
                }
            }
        }
    }

    /// Writes what waits, in one transaction; with the migrations it is the last one.
    fn write(
        &mut self,
        migrations: Option<&[Migration]>,
        on_event: &mut dyn FnMut(MigrateEvent<'_>),
    ) -> Result<()> {
        let kept = if self.options.dry_run {
            retry_transient(|| self.differing(self.store.snapshot()?.as_ref()))?
        } else {
            let (journal, kept) = retry_transient(|| self.write_once(migrations))?;
            self.journal = Some(journal);
            kept
        };
        for kept in &kept {
            match kept {
                Differing::OwnerTrust { .. } => self.summary.kept_owner_trusts += 1,
                Differing::Policy { .. } => self.summary.kept_policies += 1,
            }
            on_event(MigrateEvent::Kept(kept));
        }
        self.batch = Batch::default();
        Ok(())
    }

    fn differing(&self, snapshot: &dyn ReadTrust) -> Result<Vec<Differing>> {
        differing(snapshot, &self.batch.remembered, &self.batch.owner_trusts)
    }

    fn write_once(&self, migrations: Option<&[Migration]>) -> Result<(JournalId, Vec<Differing>)> {
        let mut transaction = self.store.begin(&self.options.command, self.journal, self.now)?;
        let kept = self.differing(transaction.snapshot()?)?;
        let Batch { entries, unchanged, remembered, owner_trusts, origins, .. } = &self.batch;
        let puts = entries.iter().map(|Entry { certificate, kind, inputs, .. }| Put {
            certificate,
            kind: kind.clone(),
            inputs,
            origin: None,
        });
        let outcomes = transaction.put(&puts.collect::<Vec<_>>())?;
        for (entry, outcome) in entries.iter().zip(outcomes) {
            match outcome {
                PutOutcome::Conflict => return Err(Error::ChangedMeanwhile),
                PutOutcome::Done(id) if entry.origins != Origins::default() => {
                    transaction.set_origins(id, &entry.origins)?;
                }
                PutOutcome::Done(_) => {}
            }
        }
        for (id, origins) in origins {
            transaction.set_origins(*id, origins)?;
        }
        transaction.remember_inputs(unchanged)?;
        for Remembered { binding, messages } in remembered {
            transaction.take_over_binding(binding, messages)?;
        }
        for Assignment { key, trust } in owner_trusts {
            if transaction.snapshot()?.owner_trust(key)?.is_none_or(AssignedTrust::is_by_option) {
                transaction.set_owner_trust(key, *trust)?;
            }
        }
        if let Some(migrations) = migrations {
            migrations.iter().try_for_each(|migration| transaction.remember_migration(migration))?;
            transaction.finish_journal()?;
        }
        let journal = transaction.journal();
        transaction.commit()?;
        Ok((journal, kept))
    }
}

/// What became of a certificate before it is looked up.
enum Step {
    /// An earlier migration has met exactly this.
    Known(InputDigest, CertId),
    /// What is wrong, and where.
    Unreadable(String),
    Verified(Box<Verified>),
}

impl Step {
    fn fingerprint(&self) -> Option<Fingerprint> {
        match self {
            Self::Verified(verified) => Some(verified.certificate.facts.primary().fingerprint),
            Self::Known(..) | Self::Unreadable(_) => None,
        }
    }
}

fn step(
    (raw, since): (RawCertificate, Option<Timestamp>),
    digest: InputDigest,
    known: Option<CertId>,
) -> Step {
    if let Some(id) = known {
        return Step::Known(digest, id);
    }
    match rebuild(&raw.bytes, &[]) {
        Err(error) => Step::Unreadable(format!("certificate at byte {}: {error}", raw.position)),
        Ok(certificate) => {
            let origins = origins(&raw, &certificate);
            Step::Verified(Box::new(Verified { certificate, since, digest, origins }))
        }
    }
}

fn digest(raw: &RawCertificate) -> InputDigest {
    let origins = format!("{:?}", raw.origins);
    InputDigest(sha256(&[DIGEST_PREFIX, &raw.bytes, origins.as_bytes()]))
}

/// Says of the certificate and its user IDs where they came from.
fn origins(raw: &RawCertificate, certificate: &Certificate) -> Origins {
    let mut origins = Origins::default();
    for (component, origin) in &raw.origins {
        match certificate.facts.components.get(*component).map(|component| &component.kind) {
            Some(ComponentKind::Key(_)) if *component == 0 => origins.certificate = Some(origin.clone()),
            Some(ComponentKind::UserId(value)) => origins.user_ids.push((value.clone(), origin.clone())),
            _ => {}
        }
    }
    origins
}
