//! Certificates to be written in one transaction.

use std::collections::{HashMap, HashSet};

use cert::facts::ComponentKind;
use cert::merge::merge;
use store::{
    AssignedTrust, CertId, Fingerprint, InputDigest, KeyId, Origin, Origins, Prepared, Put, PutKind,
    PutOutcome, Transaction,
};
use trust::OwnerTrust;

use super::chunk::CHUNK_CERTIFICATES;
use super::event::{Additions, ImportOutcome, ImportRefusal, Imported};
use super::key_origin as kind;
use super::options::{ImportOptions, NewOwnerTrust};
use crate::{Result, stored};

/// A batch is written once it has this many certificates: with another chunk it could exceed the maximum of 50,000.
pub(super) const BATCH_CERTIFICATES: usize = 50_000 - CHUNK_CERTIFICATES;
/// A batch that is written in parts is complete with this many bytes of certificates: with another part it could exceed
/// the maximum of 64 MiB.
pub(super) const BATCH_INPUT: usize = 60 << 20;

/// Certificates that are written together, and the reports for afterwards.
#[derive(Default)]
pub(super) struct Batch {
    entries: Vec<Entry>,
    by_fingerprint: HashMap<Fingerprint, usize>,
    unchanged: Vec<(InputDigest, CertId)>,
    /// One for each certificate, including those that were refused or change nothing.
    pub(super) reports: Vec<Report>,
    /// The memory of its certificates.
    bytes: usize,
    /// The bytes of the certificates themselves.
    pub(super) input: usize,
}

/// A certificate as it will be written.
struct Entry {
    certificate: Prepared,
    kind: PutKind,
    inputs: Vec<InputDigest>,
    /// The index of its report.
    report: usize,
}

/// A report for when the batch is durable.
pub(super) enum Report {
    Imported {
        imported: Imported,
        /// Its secret keys, until they are stored.
        secrets: Vec<cert::split::SecretKey>,
    },
    Refused {
        input: usize,
        position: u64,
        reason: ImportRefusal,
    },
}

impl Batch {
    /// Says whether it is to be written, given the most bytes of memory.
    pub(super) fn is_full(&self, bytes: usize) -> bool {
        self.reports.len() >= BATCH_CERTIFICATES || self.bytes >= bytes
    }

    /// Says whether there is nothing to write.
    pub(super) fn changes_nothing(&self) -> bool {
        self.entries.is_empty() && self.unchanged.is_empty()
    }

    /// Returns the primary keys of its certificates.
    pub(super) fn fingerprints(&self) -> impl Iterator<Item = Fingerprint> {
        self.by_fingerprint.keys().copied()
    }

    /// Says whether it has a certificate with this primary key.
    pub(super) fn contains(&self, fingerprint: &Fingerprint) -> bool {
        self.by_fingerprint.contains_key(fingerprint)
    }

    /// Returns its certificate with this key ID.
    pub(super) fn certificate_by_key_id(&self, key_id: KeyId) -> Option<&Prepared> {
        let mut certificates = self.entries.iter().map(|entry| &entry.certificate);
        certificates.find(|certificate| certificate.fingerprint().key_id() == key_id)
    }

    /// Adds a certificate to be written.
    pub(super) fn put(&mut self, certificate: Prepared, kind: PutKind, input: Option<InputDigest>) {
        self.bytes += certificate.size();
        self.input += certificate.bytes().len();
        self.by_fingerprint.insert(certificate.fingerprint(), self.entries.len());
        let report = self.reports.len();
        let inputs = input.into_iter().collect();
        self.entries.push(Entry { certificate, kind, inputs, report });
    }

    /// Merges a certificate into the one with the same primary key.
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

    /// Notes an input that changes nothing, so that it is recognised next time, and so that undoing the import that
    /// brought it first is refused.
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
        if let Some(origin) = options.origin.as_ref().filter(|origin| is_of_user_ids(origin)) {
            self.note_origins(transaction, origin)?;
        }
        Ok(transaction.remember_inputs(&self.unchanged)?)
    }

    /// Notes where the user IDs come from that were not here.
    fn note_origins(&self, transaction: &mut dyn Transaction, origin: &Origin) -> Result<()> {
        let fingerprints: Vec<_> = self.entries.iter().map(|entry| entry.certificate.fingerprint()).collect();
        let ids = transaction.snapshot()?.by_fingerprint(&fingerprints)?;
        for (entry, id) in self.entries.iter().zip(ids) {
            let user_ids = entry.new_user_ids().into_iter();
            let user_ids: Vec<_> =
                user_ids.map(|value| (value, Origin { url: None, ..origin.clone() })).collect();
            if let (Some(id), false) = (id, user_ids.is_empty()) {
                transaction.set_origins(id, &Origins { certificate: None, user_ids })?;
            }
        }
        Ok(())
    }
}

/// Says whether GnuPG notes an origin with user IDs (its `g10/import.c`): a keyserver only with its address.
fn is_of_user_ids(origin: &Origin) -> bool {
    match origin.kind {
        kind::KEYSERVER => origin.url.is_some(),
        kind::DANE | kind::WKD | kind::URL | kind::FILE => true,
        _ => false,
    }
}

/// Says whether GnuPG notes an origin with a certificate: a keyserver without its address only where it brings news, the
/// owner's preferred keyserver and the user's own work never.
fn is_of_certificate(origin: &Origin, kind: &PutKind) -> bool {
    is_of_user_ids(origin) || origin.kind == kind::KEYSERVER && *kind != PutKind::New
}

impl Entry {
    fn put<'a>(&'a self, options: &ImportOptions<'_>) -> Put<'a> {
        Put {
            certificate: &self.certificate,
            kind: self.kind.clone(),
            inputs: &self.inputs,
            origin: options.origin.clone().filter(|origin| is_of_certificate(origin, &self.kind)),
        }
    }

    /// Returns the user IDs that were not here.
    fn new_user_ids(&self) -> Vec<Vec<u8>> {
        let certificate = self.certificate.certificate();
        let added: Option<HashSet<u32>> = match &self.kind {
            PutKind::Merged { added, .. } => {
                let new = certificate.packet_digests().filter(|(_, digest)| added.contains(digest));
                Some(new.map(|(start, _)| start).collect())
            }
            _ => None,
        };
        let components = certificate.facts.components.iter();
        let new = components.filter(|it| added.as_ref().is_none_or(|added| added.contains(&it.span.start)));
        let user_ids = new.filter_map(|component| match &component.kind {
            ComponentKind::UserId(value) => Some(value.clone()),
            _ => None,
        });
        user_ids.collect()
    }

    /// Merges with what another writer, or an earlier part, has written since it was read.
    ///
    /// The transaction has the certificate locked since the conflict, so that it replaces what it reads now.
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
                let Some(merged) = options.merge(&stored.certificate, &self.certificate.certificate()) else {
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
