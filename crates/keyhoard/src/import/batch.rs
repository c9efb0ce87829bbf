//! What waits to be written in one transaction.

use std::collections::HashMap;
use std::ops::ControlFlow;

use cert::certificate::Certificate;
use cert::merge::{Merged, merge};
use store::{
    CertId, Detail, Fingerprint, InputDigest, JournalId, KeyId, Put, PutKind, PutOutcome, Selection,
    Snapshot, Store, Timestamp, Transaction,
};

use super::event::{Additions, Imported, Outcome, Refusal};
use super::options::ImportOptions;
use crate::Result;

/// A batch is written once it holds this many certificates.
const BATCH_CERTIFICATES: usize = 50_000;
/// A batch is written once it holds this many bytes.
const BATCH_BYTES: usize = 64 << 20;

/// Certificates that will change together, and what will be reported once they have.
#[derive(Default)]
pub(super) struct Batch {
    entries: Vec<Entry>,
    by_fingerprint: HashMap<Fingerprint, usize>,
    unchanged: Vec<(InputDigest, CertId)>,
    pub(super) reports: Vec<Report>,
    bytes: usize,
}

/// A certificate as it will be written.
struct Entry {
    certificate: Certificate,
    kind: PutKind,
    inputs: Vec<InputDigest>,
    /// The report that announces this write.
    report: usize,
}

/// Something to be reported after the batch is durable.
pub(super) enum Report {
    Imported(Imported),
    Refused { input: usize, position: u64, reason: Refusal },
}

/// A certificate as the database holds it.
pub(super) struct Stored {
    pub(super) id: CertId,
    pub(super) generation: i64,
    pub(super) certificate: Certificate,
}

impl Stored {
    /// Returns what writing it with more packets does.
    fn merged_with(&self, added: Vec<[u8; 32]>) -> PutKind {
        PutKind::Merged { id: self.id, generation: self.generation, added }
    }
}

impl Batch {
    /// Says whether it is time to write.
    pub(super) fn is_full(&self) -> bool {
        self.entries.len() >= BATCH_CERTIFICATES
            || self.unchanged.len() >= BATCH_CERTIFICATES
            || self.bytes >= BATCH_BYTES
    }

    /// Says whether there is anything to write.
    pub(super) fn changes_nothing(&self) -> bool {
        self.entries.is_empty() && self.unchanged.is_empty()
    }

    /// Says whether a certificate with this primary key waits here.
    pub(super) fn contains(&self, fingerprint: &Fingerprint) -> bool {
        self.by_fingerprint.contains_key(fingerprint)
    }

    /// Returns the certificate that waits here with this key ID.
    pub(super) fn certificate_by_key_id(&self, key_id: KeyId) -> Option<&Certificate> {
        let mut certificates = self.entries.iter().map(|entry| &entry.certificate);
        certificates.find(|certificate| certificate.facts.primary().fingerprint.key_id() == key_id)
    }

    /// Plans to insert a certificate that the database does not have.
    pub(super) fn insert(&mut self, certificate: Certificate, input: Option<InputDigest>) -> Outcome {
        self.push(certificate, PutKind::New, input);
        Outcome::New
    }

    /// Plans to remember that an input was met again, so that an undo of the import that brought it first is refused.
    pub(super) fn meet_again(&mut self, known: (InputDigest, CertId)) {
        self.unchanged.push(known);
    }

    /// Plans to merge into what waits here for the same primary key.
    pub(super) fn merge_pending(&mut self, new: &Certificate, input: Option<InputDigest>) -> Outcome {
        let entry = &mut self.entries[self.by_fingerprint[&new.facts.primary().fingerprint]];
        entry.inputs.extend(input);
        let Some(merged) = merge(&entry.certificate, new) else { return Outcome::Unchanged };
        let added = additions(&merged);
        self.bytes += merged.certificate.bytes.len() - entry.certificate.bytes.len();
        entry.certificate = merged.certificate;
        if let PutKind::Merged { added, .. } = &mut entry.kind {
            added.extend(merged.added_packets);
        }
        Outcome::Changed(added)
    }

    /// Plans to merge into what the database holds.
    pub(super) fn merge_stored(
        &mut self,
        stored: &Stored,
        new: &Certificate,
        input: Option<InputDigest>,
    ) -> Outcome {
        let Some(merged) = merge(&stored.certificate, new) else {
            self.unchanged.extend(input.map(|input| (input, stored.id)));
            return Outcome::Unchanged;
        };
        let added = additions(&merged);
        self.push(merged.certificate, stored.merged_with(merged.added_packets), input);
        Outcome::Changed(added)
    }

    fn push(&mut self, certificate: Certificate, kind: PutKind, input: Option<InputDigest>) {
        self.bytes += certificate.bytes.len();
        self.by_fingerprint.insert(certificate.facts.primary().fingerprint, self.entries.len());
        let report = self.reports.len();
        let inputs = input.into_iter().collect();
        self.entries.push(Entry { certificate, kind, inputs, report });
    }

    /// Writes everything in one transaction and returns its journal entry.
    pub(super) fn write(
        &mut self,
        store: &dyn Store,
        options: &ImportOptions,
        journal: Option<JournalId>,
        last: bool,
        now: Timestamp,
    ) -> Result<JournalId> {
        let mut transaction = store.begin(&options.command, journal, now)?;
        let puts: Vec<Put<'_>> = self.entries.iter().map(|entry| entry.put(options)).collect();
        let outcomes = transaction.put(&puts)?;
        drop(puts);
        for (entry, outcome) in self.entries.iter_mut().zip(outcomes) {
            if outcome == PutOutcome::Conflict {
                let outcome = entry.put_again(transaction.as_mut(), options)?;
                if let Some(Report::Imported(imported)) = self.reports.get_mut(entry.report) {
                    imported.outcome = outcome;
                }
            }
        }
        transaction.remember_inputs(&self.unchanged)?;
        if last {
            transaction.finish_journal()?;
        }
        let journal = transaction.journal();
        transaction.commit()?;
        Ok(journal)
    }
}

impl Entry {
    fn put<'a>(&'a self, options: &ImportOptions) -> Put<'a> {
        Put {
            bytes: &self.certificate.bytes,
            facts: &self.certificate.facts,
            kind: self.kind.clone(),
            inputs: &self.inputs,
            origin: options.origin.clone(),
        }
    }

    /// Merges into what another writer has put there since it was read.
    ///
    /// The transaction holds the write lock, so what it reads now is what it replaces.
    fn put_again(&mut self, transaction: &mut dyn Transaction, options: &ImportOptions) -> Result<Outcome> {
        let fingerprint = self.certificate.facts.primary().fingerprint;
        let stored = stored(transaction.snapshot(), &[fingerprint])?.remove(&fingerprint);
        let outcome = match stored {
            None => {
                self.kind = PutKind::New;
                Outcome::New
            }
            Some(stored) => {
                let Some(merged) = merge(&stored.certificate, &self.certificate) else {
                    let inputs: Vec<_> = self.inputs.iter().map(|input| (*input, stored.id)).collect();
                    transaction.remember_inputs(&inputs)?;
                    return Ok(Outcome::Unchanged);
                };
                let added = additions(&merged);
                self.kind = stored.merged_with(merged.added_packets);
                self.certificate = merged.certificate;
                Outcome::Changed(added)
            }
        };
        transaction.put(&[self.put(options)])?;
        Ok(outcome)
    }
}

/// Reads what the database holds of these primary keys.
pub(super) fn stored(
    snapshot: &dyn Snapshot,
    fingerprints: &[Fingerprint],
) -> Result<HashMap<Fingerprint, Stored>> {
    let mut ids: Vec<CertId> = snapshot.by_fingerprint(fingerprints)?.into_iter().flatten().collect();
    ids.sort_unstable();
    let mut found = HashMap::with_capacity(ids.len());
    snapshot.visit(Selection::Ids(&ids), Detail::Bytes, &mut |record| {
        if let (Some(facts), Some(bytes)) = (record.facts, record.bytes) {
            let certificate = Certificate { bytes, facts };
            found.insert(
                record.fingerprint,
                Stored { id: record.id, generation: record.generation, certificate },
            );
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

fn additions(merged: &Merged) -> Additions {
    Additions {
        user_ids: merged.new_user_ids,
        signatures: merged.new_signatures,
        subkeys: merged.new_subkeys,
    }
}
