//! What is seen of certificates, each read once.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use cert::facts::Facts;
use foldhash::fast::RandomState;
use store::{CertId, KeptVerdict};
use trust::KeyMap;
use trust::pgp::{Interest, IntroducerStatus};

use super::certificate_state::{CertificateState, Visit};
use super::claims::{Claims, Named, UnverifiedClaims};
use super::issuer_set::IssuerSet;
use super::reader::Reader;
use super::verified_certification::{VerifiedCertification, by_certificate};
use crate::Result;
use crate::certifications::Authenticities;

/// What is remembered of certificates that were looked at.
#[derive(Default)]
pub(super) struct CertificateCache {
    pub(super) standings: KeyMap<Option<IntroducerStatus>>,
    pub(super) certificates: HashMap<(usize, CertId), (CertificateState, Interest), RandomState>,
    /// Where the certificates are that a key is said to have certified, unless these are many.
    pub(super) certified: KeyMap<Option<HashSet<(usize, CertId), RandomState>>>,
}

impl CertificateCache {
    /// Reads what certificates say about themselves, as far as that was not done.
    pub(super) fn meet(
        &mut self,
        reader: &Reader<'_>,
        source: usize,
        signatures: &[VerifiedCertification],
    ) -> Result<()> {
        let certificates = by_certificate(signatures).map(|of_one| of_one[0].id);
        let new: Vec<CertId> = certificates.filter(|id| !self.has(source, *id)).collect();
        self.standings.reserve(new.len());
        self.certificates.reserve(new.len());
        for (id, present) in reader.presents(source, &new)? {
            self.standings.insert(present.key, Some(present.standing));
            self.certificates.insert((source, id), (present, Interest::All));
        }
        Ok(())
    }

    /// Says whether a certificate was looked at.
    pub(super) fn has(&self, source: usize, id: CertId) -> bool {
        self.certificates.contains_key(&(source, id))
    }

    /// Says whether further certifications of a certificate matter, by somebody who weighs or does not.
    pub(super) fn matters(&self, source: usize, id: CertId, weighs: bool) -> bool {
        match self.certificates.get(&(source, id)).map_or(Interest::All, |(_, interest)| *interest) {
            Interest::All => true,
            Interest::Weighing => weighs,
            Interest::Nothing => false,
        }
    }

    /// Returns what a certificate says about itself, and what still matters of it.
    pub(super) fn present(
        &mut self,
        reader: &Reader<'_>,
        source: usize,
        id: CertId,
    ) -> Result<Option<&mut (CertificateState, Interest)>> {
        let new = match self.certificates.entry((source, id)) {
            Entry::Occupied(seen) => return Ok(Some(seen.into_mut())),
            Entry::Vacant(new) => new,
        };
        let Some((facts, effective)) = reader.own(source, id)? else { return Ok(None) };
        let present = CertificateState::new(&facts, &effective);
        self.standings.insert(present.key, Some(present.standing));
        Ok(Some(new.insert((present, Interest::All))))
    }

    /// Hands a certificate out with what is proven of it, if it is alive.
    pub(super) fn hand_out(
        &mut self,
        reader: &Reader<'_>,
        source: usize,
        proven: &[VerifiedCertification],
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let Some((present, interest)) = self.present(reader, source, proven[0].id)? else { return Ok(()) };
        *interest = if present.standing == IntroducerStatus::Dead {
            Interest::Nothing
        } else if present.created > reader.settings.now {
            Interest::All
        } else {
            present.hand_out(proven.iter().map(|one| (one.component, one.certification())), visit)
        };
        Ok(())
    }

    /// Hands a certificate out if enough is known of it; else notes what is to be verified.
    pub(super) fn look_at(
        &mut self,
        reader: &Reader<'_>,
        source: usize,
        sight: &CachedCertificate<'_>,
        asked: &IssuerSet,
        open: &mut UnverifiedClaims,
        visit: &mut Visit<'_>,
    ) -> Result<()> {
        let Some((present, interest)) = self.present(reader, source, sight.id)? else { return Ok(()) };
        if present.standing == IntroducerStatus::Dead && asked.only_live {
            *interest = Interest::Nothing;
            return Ok(());
        }
        let claims = Claims::new(reader.settings, present, asked, sight.kept, &sight.named);
        if claims.note_open(&mut open.signatures) {
            *interest = claims.hand_out(visit);
        } else {
            open.certificates.push(sight.id);
        }
        Ok(())
    }
}

/// What is seen of a certificate.
pub(super) struct CachedCertificate<'s> {
    pub(super) id: CertId,
    pub(super) named: Vec<Named<'s>>,
    /// The verdicts that are kept.
    pub(super) kept: &'s [KeptVerdict],
}

/// Returns the signatures by whom was asked for, in the order of the packets.
pub(super) fn named<'f>(facts: &'f Facts, findings: &Authenticities, asked: &IssuerSet) -> Vec<Named<'f>> {
    let mut named = Vec::new();
    for (number, component) in facts.components.iter().enumerate() {
        for (signature, finding) in component.signatures.iter().zip(findings.of(number)) {
            if signature.own.is_none() && asked.names(signature.issuer.key_id) {
                named.push((number, signature, *finding));
            }
        }
    }
    named
}
