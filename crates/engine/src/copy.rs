//! Copy: everything in a database, into another one of the same engine or the other.
//!
//! Certificates are written in batches, under one entry of the journal; certificates that the target has already stay
//! as they are, so that an interrupted copy continues when it is started again. At the end both databases are read once
//! more and compared.
//!
//! The journal is not copied: it belongs to the database that it describes.

use std::collections::HashMap;
use std::ops::ControlFlow;

use cert::certificate::Certificate;
use serde::Serialize;
use store::tofu::{Binding, BindingSelection, SeenMessages};
use store::{
    CertId, Detail, Fingerprint, JournalId, KeptVerdict, Origins, Prepared, Put, PutKind, PutOutcome,
    ReadCertificates, ReadTrust, Record, Selection, Snapshot, Store, Timestamp,
};

use crate::retry::retry_transient;
use crate::stored::try_visit;
use crate::{Error, Result};

/// Certificates that are written at once, and the most bytes of them.
const BATCH: usize = 4096;
const BATCH_BYTES: usize = 24 << 20;

/// Certificates that are compared at once.
const COMPARED: usize = 256;

/// The sums over a copy; as JSON they are described in `docs/json.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CopySummary {
    /// Certificates that were written.
    pub copied: u64,
    /// Certificates that the target had already.
    pub there: u64,
    /// Keys with an owner trust.
    pub owner_trusts: u64,
    /// Bindings with a decision or messages.
    pub bindings: u64,
}

/// Copies everything, then compares both databases. Calls `on_progress` with the number of certificates that were copied,
/// then with the sum of all and those that were compared.
///
/// # Errors
///
/// [`Error::NotEqual`] if the other database holds anything else; the databases' errors.
pub fn copy(
    from: &dyn Store,
    to: &dyn Store,
    command: &str,
    now: Timestamp,
    on_progress: &mut dyn FnMut(u64),
) -> Result<CopySummary> {
    let source = from.snapshot()?;
    let mut copier = Copier {
        source: &*source,
        to,
        command,
        now,
        has_origins: source.has_user_id_origins()?,
        journal: None,
        summary: CopySummary::default(),
        on_progress,
    };
    copier.certificates()?;
    copier.rest()?;
    copier.verdicts()?;
    let summary = copier.summary;
    compare(&*source, to, on_progress)?;
    Ok(summary)
}

struct Copier<'a> {
    source: &'a dyn Snapshot,
    to: &'a dyn Store,
    command: &'a str,
    now: Timestamp,
    has_origins: bool,
    journal: Option<JournalId>,
    summary: CopySummary,
    on_progress: &'a mut dyn FnMut(u64),
}

/// A certificate to be written.
struct Item {
    certificate: Prepared,
    kind: PutKind,
    origins: Origins,
}

impl Copier<'_> {
    fn certificates(&mut self) -> Result<()> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        try_visit(self.source, Selection::All, Detail::Bytes, &mut |record| {
            bytes += record.bytes.as_ref().map_or(0, Vec::len);
            batch.push(record);
            if batch.len() >= BATCH || bytes >= BATCH_BYTES {
                bytes = 0;
                self.write(std::mem::take(&mut batch))?;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        self.write(batch)
    }

    fn write(&mut self, records: Vec<Record>) -> Result<()> {
        let fingerprints: Vec<Fingerprint> = records.iter().map(|record| record.fingerprint).collect();
        let there = retry_transient(|| Ok(self.to.snapshot()?.by_fingerprint(&fingerprints)?))?;
        let mut items = Vec::new();
        for (record, there) in records.into_iter().zip(&there) {
            match there {
                None => items.extend(self.item(record)?),
                Some(_) => self.summary.there += 1,
            }
        }
        // If all were there already, the copy may still lack verdicts and bindings.
        if !items.is_empty() {
            self.journal = Some(retry_transient(|| self.put(&items))?);
            self.summary.copied += items.len() as u64;
        }
        (self.on_progress)(self.summary.copied + self.summary.there);
        Ok(())
    }

    fn item(&self, record: Record) -> Result<Option<Item>> {
        let Record { id, first_seen, changed, origin, facts, bytes, .. } = record;
        let (Some(facts), Some(bytes)) = (facts, bytes) else { return Ok(None) };
        let user_ids = if self.has_origins { self.source.user_id_origins(id)? } else { Vec::new() };
        Ok(Some(Item {
            certificate: Prepared::new(Certificate { bytes, facts }),
            kind: PutKind::Copied { first_seen, changed },
            origins: Origins { certificate: Some(origin), user_ids },
        }))
    }

    fn put(&self, items: &[Item]) -> Result<JournalId> {
        let mut transaction = self.to.begin_concurrent(self.command, self.journal, self.now)?;
        let puts: Vec<Put<'_>> = items
            .iter()
            .map(|item| Put {
                certificate: &item.certificate,
                kind: item.kind.clone(),
                inputs: &[],
                origin: item.origins.certificate.clone(),
            })
            .collect();
        for (outcome, item) in transaction.put(&puts)?.into_iter().zip(items) {
            match outcome {
                PutOutcome::Done(_) if item.origins.user_ids.is_empty() => {}
                PutOutcome::Done(id) => transaction.set_origins(id, &item.origins)?,
                PutOutcome::Conflict => return Err(Error::ChangedMeanwhile),
            }
        }
        let journal = transaction.journal();
        transaction.commit()?;
        Ok(journal)
    }

    /// Copies owner trust, migrations and bindings.
    fn rest(&mut self) -> Result<()> {
        let owner_trusts = self.source.owner_trusts()?;
        let migrations = self.source.migrations()?;
        let kept = kept_bindings(self.source)?;
        self.summary.owner_trusts = owner_trusts.len() as u64;
        self.summary.bindings = kept.len() as u64;
        retry_transient(|| {
            let mut transaction = self.to.begin(self.command, self.journal, self.now)?;
            for (key, value) in &owner_trusts {
                transaction.set_owner_trust(key, Some(*value))?;
            }
            for migration in &migrations {
                transaction.remember_migration(migration)?;
            }
            for binding in &kept {
                let Some(here) = binding.id else { continue };
                let messages = SeenMessages {
                    verified: self.source.verified_messages(here)?,
                    encrypted: self.source.encrypted_messages(here)?,
                };
                transaction.restore_binding(binding, &messages)?;
            }
            transaction.finish_journal()?;
            transaction.commit()?;
            Ok(())
        })
    }

    /// Stores the verdicts that the target lacks, part by part.
    fn verdicts(&self) -> Result<()> {
        /// How often to try while another program is writing.
        const ATTEMPTS: u32 = 50;
        each_part(self.source, BATCH, &mut |part| {
            let lacking = self.lacking_verdicts(part)?;
            for _ in 0..ATTEMPTS {
                if lacking.is_empty() || self.to.keep_verdicts(&lacking)? {
                    return Ok(());
                }
                std::thread::sleep(std::time::Duration::from_millis(100));
            }
            Err(Error::NotEqual {
                what: "the verdicts on signatures, since another program writes".to_owned(),
            })
        })
    }

    fn lacking_verdicts(&self, part: &[(CertId, Fingerprint)]) -> Result<Vec<(CertId, Vec<KeptVerdict>)>> {
        let target = self.to.snapshot()?;
        let ids: Vec<CertId> = part.iter().map(|(id, _)| *id).collect();
        let fingerprints: Vec<Fingerprint> = part.iter().map(|(_, fingerprint)| *fingerprint).collect();
        let others = target.by_fingerprint(&fingerprints)?;
        let mut here = verdicts(self.source, &ids)?;
        let there: Vec<CertId> = others.iter().flatten().copied().collect();
        let there = verdicts(&*target, &there)?;
        let both = ids.iter().zip(others).filter_map(|(id, other)| Some((other?, here.remove(id)?)));
        Ok(both.filter(|(other, own)| !own.is_empty() && there.get(other) != Some(own)).collect())
    }
}

/// Reads the stored verdicts of certificates.
fn verdicts(snapshot: &dyn ReadCertificates, ids: &[CertId]) -> Result<HashMap<CertId, Vec<KeptVerdict>>> {
    let mut found = HashMap::with_capacity(ids.len());
    snapshot.visit(Selection::Ids(ids), Detail::Verdicts, &mut |record| {
        found.insert(record.id, record.verdicts);
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// Is called with the numbers and primary keys of some certificates.
type EachPart<'a> = dyn FnMut(&[(CertId, Fingerprint)]) -> Result<()> + 'a;

/// Calls `each` with the numbers and primary keys of all certificates, in parts of this length.
fn each_part(snapshot: &dyn ReadCertificates, length: usize, each: &mut EachPart<'_>) -> Result<()> {
    let mut part = Vec::with_capacity(length);
    try_visit(snapshot, Selection::All, Detail::Name, &mut |record| {
        part.push((record.id, record.fingerprint));
        if part.len() == length {
            each(&part)?;
            part.clear();
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if part.is_empty() { Ok(()) } else { each(&part) }
}

/// Compares both databases.
fn compare(source: &dyn Snapshot, to: &dyn Store, on_progress: &mut dyn FnMut(u64)) -> Result<()> {
    let target = to.snapshot()?;
    let mut done = source.count()?;
    let equal = |what: &str, equal: bool| match equal {
        true => Ok(()),
        false => Err(Error::NotEqual { what: what.to_owned() }),
    };
    equal("the number of certificates", done == target.count()?)?;
    equal("the owner trust", source.owner_trusts()? == target.owner_trusts()?)?;
    equal("the record of migrated stores", source.migrations()? == target.migrations()?)?;
    each_part(source, COMPARED, &mut |part| {
        compare_part(source, &*target, part)?;
        done += part.len() as u64;
        on_progress(done);
        Ok(())
    })?;
    compare_bindings(source, &*target)
}

fn compare_part(
    source: &dyn ReadCertificates,
    target: &dyn ReadCertificates,
    part: &[(CertId, Fingerprint)],
) -> Result<()> {
    let fingerprints: Vec<Fingerprint> = part.iter().map(|(_, fingerprint)| *fingerprint).collect();
    let ids: Vec<CertId> = part.iter().map(|(id, _)| *id).collect();
    let others: Vec<CertId> = target.by_fingerprint(&fingerprints)?.into_iter().flatten().collect();
    for detail in [Detail::Bytes, Detail::Verdicts] {
        let there = records(target, &others, detail)?;
        for (fingerprint, record) in records(source, &ids, detail)? {
            let other = there.get(&fingerprint).filter(|other| is_equal(other, &record));
            let same_origins = |other: &Record| -> Result<bool> {
                Ok(target.user_id_origins(other.id)? == source.user_id_origins(record.id)?)
            };
            match other {
                Some(other) if detail != Detail::Bytes || same_origins(other)? => {}
                _ => return Err(Error::NotEqual { what: format!("certificate {fingerprint}") }),
            }
        }
    }
    Ok(())
}

/// Says whether two records are equal; numbers and generations may differ.
fn is_equal(one: &Record, other: &Record) -> bool {
    let name = |record: &Record| (record.fingerprint, record.first_seen, record.changed);
    name(one) == name(other)
        && one.origin == other.origin
        && one.facts == other.facts
        && one.verdicts == other.verdicts
        && one.bytes == other.bytes
}

fn records(
    snapshot: &dyn ReadCertificates,
    ids: &[CertId],
    detail: Detail,
) -> Result<HashMap<Fingerprint, Record>> {
    let mut records = HashMap::with_capacity(ids.len());
    snapshot.visit(Selection::Ids(ids), detail, &mut |record| {
        records.insert(record.fingerprint, record);
        ControlFlow::Continue(())
    })?;
    Ok(records)
}

/// Compares the bindings that more is known about than the certificates say, which are equal.
fn compare_bindings(source: &dyn ReadTrust, target: &dyn ReadTrust) -> Result<()> {
    let (ours, theirs) = (kept_bindings(source)?, kept_bindings(target)?);
    let mut equal = ours.len() == theirs.len();
    for (one, other) in ours.iter().zip(&theirs) {
        let (Some(id), Some(other_id)) = (one.id, other.id) else { continue };
        equal &= *one == Binding { id: one.id, ..other.clone() }
            && sorted(source.verified_messages(id)?) == sorted(target.verified_messages(other_id)?)
            && source.encrypted_messages(id)? == target.encrypted_messages(other_id)?;
    }
    if equal { Ok(()) } else { Err(Error::NotEqual { what: "the data of trust on first use".to_owned() }) }
}

fn kept_bindings(snapshot: &dyn ReadTrust) -> Result<Vec<Binding>> {
    let mut kept = Vec::new();
    snapshot.bindings(BindingSelection::All, &mut |binding| {
        if binding.id.is_some() {
            kept.push(binding);
        }
        ControlFlow::Continue(())
    })?;
    Ok(kept)
}

fn sorted(mut messages: Vec<store::tofu::VerifiedMessage>) -> Vec<store::tofu::VerifiedMessage> {
    messages.sort_unstable_by(|one, other| {
        (&one.digest, &one.origin, one.verified).cmp(&(&other.digest, &other.origin, other.verified))
    });
    messages
}
