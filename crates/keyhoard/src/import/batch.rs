//! What waits to be written in one transaction.

use std::collections::HashMap;

use cert::merge::merge;
use store::{
    AssignedTrust, CertId, Fingerprint, InputDigest, KeyId, Prepared, Put, PutKind, PutOutcome, Transaction,
};
use trust::OwnerTrust;

use super::chunk::CHUNK_CERTIFICATES;
use super::event::{Additions, ImportOutcome, ImportRefusal, Imported};
use super::options::{ImportOptions, NewOwnerTrust};
use crate::{Result, stored};

/// A batch is written once it holds this many certificates: another chunk might lead beyond 50,000, which are the most.
const BATCH_CERTIFICATES: usize = 50_000 - CHUNK_CERTIFICATES;
/// A batch that is written in parts is complete with this many bytes of certificates: another chunk might lead beyond
/// 64 MiB, which are the most.
const BATCH_INPUT: usize = 60 << 20;

/// Certificates that will change together, and what will be reported once they have.
#[derive(Default)]
pub(super) struct Batch {
    entries: Vec<Entry>,
    by_fingerprint: HashMap<Fingerprint, usize>,
    unchanged: Vec<(InputDigest, CertId)>,
    pub(super) reports: Vec<Report>,
    /// The memory that it takes.
    bytes: usize,
    /// What its certificates themselves have of that.
    input: usize,
}

/// How much a batch holds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BatchSize {
    /// Certificates; those that were refused, or change nothing, count as well.
    certificates: usize,
    bytes: usize,
    input: usize,
}

impl BatchSize {
    /// Says whether it is time to write, where so many bytes of memory are the most.
    pub(super) fn is_full(self, bytes: usize) -> bool {
        self.certificates >= BATCH_CERTIFICATES || self.bytes >= bytes
    }

    /// Says whether it is as much as one transaction may take.
    pub(super) fn is_whole_batch(self) -> bool {
        self.certificates >= BATCH_CERTIFICATES || self.input >= BATCH_INPUT
    }

    /// Returns how much two of them are together.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            certificates: self.certificates + other.certificates,
            bytes: self.bytes + other.bytes,
            input: self.input + other.input,
        }
    }
}

/// A certificate as it will be written.
struct Entry {
    certificate: Prepared,
    kind: PutKind,
    inputs: Vec<InputDigest>,
    /// The report that announces this write.
    report: usize,
}

/// Something to be reported after the batch is durable.
pub(super) enum Report {
    Imported {
        imported: Imported,
        /// Its secret keys, until they are kept.
        secrets: Vec<cert::split::SecretKey>,
    },
    Refused {
        input: usize,
        position: u64,
        reason: ImportRefusal,
    },
}

impl Batch {
    /// Returns how much it holds: each of its certificates is reported.
    pub(super) fn size(&self) -> BatchSize {
        BatchSize { certificates: self.reports.len(), bytes: self.bytes, input: self.input }
    }

    /// Says whether there is anything to write.
    pub(super) fn changes_nothing(&self) -> bool {
        self.entries.is_empty() && self.unchanged.is_empty()
    }

    /// Returns the primary keys of the certificates that wait here.
    pub(super) fn fingerprints(&self) -> impl Iterator<Item = Fingerprint> {
        self.by_fingerprint.keys().copied()
    }

    /// Says whether a certificate with this primary key waits here.
    pub(super) fn contains(&self, fingerprint: &Fingerprint) -> bool {
        self.by_fingerprint.contains_key(fingerprint)
    }

    /// Returns the certificate that waits here with this key ID.
    pub(super) fn certificate_by_key_id(&self, key_id: KeyId) -> Option<&Prepared> {
        let mut certificates = self.entries.iter().map(|entry| &entry.certificate);
        certificates.find(|certificate| certificate.fingerprint().key_id() == key_id)
    }

    /// Plans to write a certificate.
    pub(super) fn put(&mut self, certificate: Prepared, kind: PutKind, input: Option<InputDigest>) {
        self.bytes += certificate.size();
        self.input += certificate.bytes().len();
        self.by_fingerprint.insert(certificate.fingerprint(), self.entries.len());
        let report = self.reports.len();
        let inputs = input.into_iter().collect();
        self.entries.push(Entry { certificate, kind, inputs, report });
    }

    /// Plans to merge into what waits here for the same primary key.
    pub(super) fn merge_pending(&mut self, new: &Prepared, input: Option<InputDigest>) -> ImportOutcome {
        let entry = &mut self.entries[self.by_fingerprint[&new.fingerprint()]];
        entry.inputs.extend(input);
        let Some(merged) = merge(&entry.certificate.certificate(), &new.certificate()) else {
            return ImportOutcome::Unchanged;
        };
        let additions = Additions::of(&merged);
        self.bytes -= entry.certificate.size();
        self.input -= entry.certificate.bytes().len();
        entry.certificate = Prepared::new(merged.certificate);
        self.bytes += entry.certificate.size();
        self.input += entry.certificate.bytes().len();
        if let PutKind::Merged { added, .. } = &mut entry.kind {
            added.extend(merged.added_packets);
        }
        ImportOutcome::Changed(additions)
    }

    /// Plans to remember an input that changes nothing, so that it is recognised next time, and so that an undo of the
    /// import that brought it first is refused.
    pub(super) fn remember(&mut self, input: InputDigest, id: CertId) {
        self.unchanged.push((input, id));
    }

    /// Writes everything into a transaction.
    pub(super) fn write_into(
        &mut self,
        transaction: &mut dyn Transaction,
        options: &ImportOptions<'_>,
    ) -> Result<()> {
        let puts: Vec<Put<'_>> = self.entries.iter().map(|entry| entry.put(options)).collect();
        let outcomes = transaction.put(&puts)?;
        drop(puts);
        for (entry, outcome) in self.entries.iter_mut().zip(outcomes) {
            if outcome == PutOutcome::Conflict {
                let outcome = entry.put_again(transaction, options)?;
                if let Some(Report::Imported { imported, .. }) = self.reports.get_mut(entry.report) {
                    imported.outcome = outcome;
                }
            }
        }
        let new = self.entries.iter().filter(|entry| entry.kind == PutKind::New);
        let new: Vec<Fingerprint> = new.map(|entry| entry.certificate.fingerprint()).collect();
        match options.owner_trust {
            NewOwnerTrust::None => transaction.forget_owner_trust(&new)?,
            NewOwnerTrust::Kept => {}
            NewOwnerTrust::Ultimate => {
                let ultimate = Some(AssignedTrust::new(OwnerTrust::Ultimate.number(), false));
                new.iter().try_for_each(|primary| transaction.set_owner_trust(primary, ultimate))?;
            }
        }
        Ok(transaction.remember_inputs(&self.unchanged)?)
    }
}

impl Entry {
    fn put<'a>(&'a self, options: &ImportOptions<'_>) -> Put<'a> {
        Put {
            certificate: &self.certificate,
            kind: self.kind.clone(),
            inputs: &self.inputs,
            origin: options.origin.clone(),
        }
    }

    /// Merges into what another writer has put there since it was read.
    ///
    /// The transaction has had the certificate for itself since the conflict, so what it reads now is what it replaces.
    fn put_again(
        &mut self,
        transaction: &mut dyn Transaction,
        options: &ImportOptions<'_>,
    ) -> Result<ImportOutcome> {
        let fingerprint = self.certificate.fingerprint();
        let stored = stored::read(transaction.snapshot()?, &[fingerprint])?.remove(&fingerprint);
        let outcome = match stored {
            None => {
                self.kind = PutKind::New;
                ImportOutcome::New
            }
            Some(stored) => {
                let Some(merged) = merge(&stored.certificate, &self.certificate.certificate()) else {
                    let inputs: Vec<_> = self.inputs.iter().map(|input| (*input, stored.id)).collect();
                    transaction.remember_inputs(&inputs)?;
                    return Ok(ImportOutcome::Unchanged);
                };
                let additions = Additions::of(&merged);
                self.kind = stored.merged_with(merged.added_packets);
                self.certificate = Prepared::new(merged.certificate);
                ImportOutcome::Changed(additions)
            }
        };
        transaction.put(&[self.put(options)])?;
        Ok(outcome)
    }
}
