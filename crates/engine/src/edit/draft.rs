//! A certificate that is changed in memory, step by step, and written once.

use std::collections::HashSet;

use cert::certificate::{Certificate, Retained};
use cert::clean::{CleanOptions, clean};
use cert::merge::merge;
use cert::split::{Piece, Splitter};
use cert::{Fingerprint, Timestamp};
use store::{Prepared, Put, PutKind, PutOutcome, Store};

use crate::import::{ImportOptions, import};
use crate::retry::retry_transient;
use crate::{Result, stored};

/// A certificate that is changed in memory; [`Draft::save`] writes what changed.
#[derive(Clone, Debug)]
pub struct Draft {
    certificate: Certificate,
    /// The digests of packets that were removed and may be in the database.
    removed: HashSet<[u8; 32]>,
    has_additions: bool,
}

impl Draft {
    /// Begins with the certificate of the database that has this primary key; `None` if there is none.
    ///
    /// # Errors
    ///
    /// The database's errors.
    pub fn open(store: &dyn Store, primary: &Fingerprint) -> Result<Option<Self>> {
        let found = stored::read(store.snapshot()?.as_ref(), &[*primary])?.remove(primary);
        Ok(found.map(|stored| Self {
            certificate: stored.certificate,
            removed: HashSet::new(),
            has_additions: false,
        }))
    }

    /// Returns the certificate as it is now.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// Returns the fingerprint of the primary key.
    pub fn fingerprint(&self) -> Fingerprint {
        self.certificate.facts.primary().fingerprint
    }

    /// Adds packets, given as a certificate with the same primary key; they are verified and merged as an import does it.
    /// The signatures with the digests in `superseded` are superseded by that.
    pub(super) fn add(
        &mut self,
        packets: &[u8],
        superseded: &HashSet<[u8; 32]>,
        now: Timestamp,
    ) -> Result<()> {
        let options = CleanOptions { keep_local: true, ..CleanOptions::default() };
        for piece in Splitter::new(packets) {
            let Piece::Certificate(raw) = piece? else { continue };
            let cleaned = clean(&raw, &options, now)?.certificate;
            if let Some(merged) = merge(&self.certificate, &cleaned) {
                self.certificate = merged.certificate;
                self.certificate.supersede(superseded);
                self.has_additions = true;
            }
        }
        for (_, digest) in self.certificate.packet_digests() {
            self.removed.remove(&digest);
        }
        Ok(())
    }

    /// Keeps only those components and signatures for which `keep` returns true, and the primary key; returns whether
    /// anything was removed.
    pub fn retain(&mut self, keep: impl FnMut(Retained<'_>) -> bool) -> bool {
        let less = self.certificate.retain(keep);
        self.shrink_to(less)
    }

    /// Replaces the certificate by less of itself; returns whether anything was removed.
    pub fn shrink_to(&mut self, less: Certificate) -> bool {
        let left: HashSet<[u8; 32]> = less.packet_digests().map(|(_, digest)| digest).collect();
        let before = self.removed.len();
        self.removed.extend(
            self.certificate
                .packet_digests()
                .map(|(_, digest)| digest)
                .filter(|digest| !left.contains(digest)),
        );
        self.certificate = less;
        self.removed.len() > before
    }

    /// Writes what was added, then what was removed: two entries of the journal where there was both, each of which can
    /// be undone. What another program has added meanwhile stays.
    ///
    /// # Errors
    ///
    /// The database's errors.
    pub fn save(&self, store: &dyn Store, command: &str, now: Timestamp) -> Result<()> {
        if self.has_additions {
            let options = ImportOptions {
                command: command.to_owned(),
                clean: CleanOptions { keep_local: true, ..CleanOptions::default() },
                merge_only: true,
                superseded: self.superseded(),
                ..ImportOptions::default()
            };
            import(store, self.certificate.bytes.as_slice(), &options, now, &mut |_| {})?;
        }
        if self.removed.is_empty() { Ok(()) } else { self.remove(store, command, now) }
    }

    /// Returns the digests of the superseded signatures.
    fn superseded(&self) -> HashSet<[u8; 32]> {
        let signatures = self.certificate.facts.components.iter().flat_map(|it| &it.signatures);
        let superseded = signatures.filter(|signature| signature.flags.superseded);
        let starts: HashSet<u32> = superseded.map(|signature| signature.span.start).collect();
        self.certificate.digests_at(|start| starts.contains(&start))
    }

    /// Takes the removed packets out of the stored certificate.
    fn remove(&self, store: &dyn Store, command: &str, now: Timestamp) -> Result<()> {
        let primary = self.fingerprint();
        retry_transient(|| {
            let mut transaction = store.begin(command, None, now)?;
            let mut found = stored::read(transaction.snapshot()?, &[primary])?;
            let Some(stored) = found.remove(&primary) else { return Ok(()) };
            let left = self.without_removed(&stored.certificate);
            if left.bytes.len() == stored.certificate.bytes.len() {
                return Ok(());
            }
            let kind = PutKind::Shrunk { id: stored.id, generation: stored.generation };
            let certificate = Prepared::new(left);
            let outcomes =
                transaction.put(&[Put { certificate: &certificate, kind, inputs: &[], origin: None }])?;
            debug_assert!(!outcomes.contains(&PutOutcome::Conflict), "it was read under the same lock");
            transaction.finish_journal()?;
            transaction.commit()?;
            Ok(())
        })
    }

    fn without_removed(&self, certificate: &Certificate) -> Certificate {
        let removed: HashSet<u32> = certificate
            .packet_digests()
            .filter(|(_, digest)| self.removed.contains(digest))
            .map(|(start, _)| start)
            .collect();
        certificate.retain(|packet| {
            let span = match packet {
                Retained::Component(component) => component.span,
                Retained::Signature(_, signature) => signature.span,
                Retained::Unread(_, span) => span,
            };
            !removed.contains(&span.start)
        })
    }
}
