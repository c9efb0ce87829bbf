//! The certificates that a key belongs to.
//!
//! Anybody can list anybody's key as a subkey. A key belongs to the certificate whose primary key it is, or to which it
//! agrees by a back-signature. A certificate that only claims it must never be taken instead, however many claim it and
//! in whatever order they were imported.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;

use cert::certificate::Certificate;
use cert::cross_certification::BackSignatureFacts;
use cert::effective::EvaluationContext;
use cert::effective::objections::CrossCertification;
use cert::facts::{Component, ComponentKind, Facts, SignatureFacts, SignatureType};
use cert::merge::merge;
use cert::{Fingerprint, KeyId};
use store::{CertId, Detail, KeyHit, ReadCertificates, Selection};
use verify::Verdict;
use verify::limits::{MAX_HOLDER_BYTES, MAX_HOLDERS, MAX_ISSUER_CANDIDATES};
use verify::policy::DigestPolicy;

use super::CandidateSigner;
use crate::designated_revocation::{as_of_context, designated_context};
use crate::{Result, stored};

/// Looks for the certificates that keys belong to, as of one moment.
pub(super) struct Holders<'s> {
    pub(super) sources: Vec<&'s dyn ReadCertificates>,
    pub(super) context: EvaluationContext,
    /// Evaluates a certificate from the future as of its creation, and not now, when it has no uses.
    pub(super) accepts_future: bool,
    /// The hash algorithms that are accepted in back-signatures.
    pub(super) digests: DigestPolicy,
    pub(super) limits: Limits,
}

/// How many of the certificates that claim a key are read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Certificates.
    pub(super) claims: usize,
    /// Bytes of those that are read.
    pub(super) bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { claims: MAX_HOLDERS, bytes: MAX_HOLDER_BYTES }
    }
}

/// The keys with a key ID, in the certificates that they belong to.
#[derive(Clone, Debug, Default)]
pub(super) struct KeysWithId {
    /// Each key in every certificate that it agrees to belong to; if there is none, in one that claims it.
    pub(super) candidates: Vec<Arc<CandidateSigner>>,
    /// More certificates claim the key ID than were read.
    pub(super) is_cut: bool,
}

/// A certificate that claims a key.
#[derive(Clone, Copy, Debug)]
struct Claim {
    source: usize,
    cert: CertId,
    key: Fingerprint,
    /// The end of the binding signature that may have the back-signature; 0 if that is not known yet.
    back_signature_end: u32,
}

impl Holders<'_> {
    /// Finds the keys with a key ID.
    pub(super) fn of(&self, key_id: KeyId) -> Result<KeysWithId> {
        let (own, others) = self.claims(key_id)?;
        let mut found = Found::default();
        for claim in own {
            found.add(self.candidate(claim)?);
        }
        found.is_cut = others.len() > self.limits.claims;
        let others = match others.len() {
            0..=MAX_ISSUER_CANDIDATES if !found.is_cut => others,
            count => self.worth_reading(&others[..count.min(self.limits.claims)])?,
        };
        self.read(others, &mut found)?;
        Ok(found.into_keys())
    }

    /// Returns the certificates with a key of this ID: as their primary key, and as a subkey. A certificate that
    /// several databases have is taken from the first one.
    fn claims(&self, key_id: KeyId) -> Result<(Vec<Claim>, Vec<Claim>)> {
        let mut met = HashSet::new();
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for (source, snapshot) in self.sources.iter().enumerate() {
            for (cert, key) in snapshot.primaries_by_id(key_id)? {
                if met.insert((key, key)) {
                    own.push(Claim { source, cert, key, back_signature_end: 0 });
                }
            }
            for KeyHit { cert, fingerprint: key, primary } in snapshot.keys_by_id(key_id)? {
                if primary != key && met.insert((primary, key)) {
                    others.push(Claim { source, cert, key, back_signature_end: 0 });
                }
            }
        }
        Ok((own, others))
    }

    /// Returns the claims with a back-signature, and of the others one for each key; the cheapest ones first.
    fn worth_reading(&self, claims: &[Claim]) -> Result<Vec<Claim>> {
        let (mut worth_reading, mut without) = (Vec::new(), HashSet::new());
        for of_source in claims.chunk_by(|a, b| a.source == b.source) {
            let source = of_source[0].source;
            let mut keys: HashMap<CertId, Vec<Fingerprint>> = HashMap::new();
            of_source.iter().for_each(|claim| keys.entry(claim.cert).or_default().push(claim.key));
            let mut ids: Vec<CertId> = keys.keys().copied().collect();
            ids.sort_unstable();
            self.sources[source].visit(Selection::Ids(&ids), Detail::Own, &mut |record| {
                let Some(facts) = &record.facts else { return ControlFlow::Continue(()) };
                for &key in keys.get(&record.id).into_iter().flatten() {
                    let back_signature_end =
                        index_of(facts, &key).and_then(|index| back_signature_end(&facts.components[index]));
                    if back_signature_end.is_some() || without.insert(key) {
                        worth_reading.push(Claim {
                            source,
                            cert: record.id,
                            key,
                            back_signature_end: back_signature_end.unwrap_or(0),
                        });
                    }
                }
                ControlFlow::Continue(())
            })?;
        }
        worth_reading.sort_by_key(|claim| claim.back_signature_end);
        Ok(worth_reading)
    }

    fn read(&self, claims: Vec<Claim>, found: &mut Found) -> Result<()> {
        let mut bytes = 0;
        for claim in claims {
            if found.has_enough(&claim.key) {
                continue;
            }
            if bytes > self.limits.bytes {
                found.is_cut = true;
                break;
            }
            let candidate = self.candidate(claim)?;
            bytes += candidate.as_ref().map_or(0, |candidate| candidate.certificate.bytes.len());
            found.add(candidate);
        }
        Ok(())
    }

    fn candidate(&self, claim: Claim) -> Result<Option<CandidateSigner>> {
        let Claim { source, cert: id, key, .. } = claim;
        let Some(stored) = stored::read_one(self.sources[source], id)? else { return Ok(None) };
        let certificate = self.with_other_copies(stored.certificate, (source, id))?;
        let Some(component) = index_of(&certificate.facts, &key) else { return Ok(None) };
        let created = certificate.facts.primary().created;
        let moment = match self.accepts_future && created > self.context.now {
            true => self.context.at(created),
            false => self.context,
        };
        let context = designated_context(&certificate, moment, &self.sources)?;
        let effective = as_of_context(&certificate.facts, context);
        let (back_signatures, cross_certification) = self.agreement(&certificate, component);
        Ok(Some(CandidateSigner {
            certificate: Arc::new(certificate),
            effective: Arc::new(effective),
            component,
            source,
            id,
            cross_certification,
            context,
            back_signatures,
            digests: self.digests,
        }))
    }

    /// Merges a certificate with its copies in other databases: one may have a revocation that the others lack.
    fn with_other_copies(&self, mut certificate: Certificate, at: (usize, CertId)) -> Result<Certificate> {
        let primary = certificate.facts.primary().fingerprint;
        for (source, snapshot) in self.sources.iter().enumerate() {
            for (cert, key) in snapshot.primaries_by_id(primary.key_id())? {
                if key != primary || (source, cert) == at {
                    continue;
                }
                let copy = stored::read_one(*snapshot, cert)?;
                if let Some(merged) = copy.and_then(|copy| merge(&certificate, &copy.certificate)) {
                    certificate = merged.certificate;
                }
            }
        }
        Ok(certificate)
    }

    fn agreement(
        &self,
        certificate: &Certificate,
        component: usize,
    ) -> (BackSignatureFacts, CrossCertification) {
        if component == 0 {
            return (BackSignatureFacts::default(), CrossCertification::Holds);
        }
        let mut found = BackSignatureFacts::of(certificate, component, self.digests);
        if self.context.view == cert::effective::PacketView::Full {
            found = found.read_by_rfc9580();
        }
        let now = found.accepted(self.digests, self.context.now);
        (found, now)
    }
}

/// What was found so far.
#[derive(Default)]
struct Found {
    sure: Vec<Arc<CandidateSigner>>,
    /// One for each key that surely belongs to no certificate, for the reason.
    claimed: Vec<Arc<CandidateSigner>>,
    is_cut: bool,
}

impl Found {
    fn add(&mut self, candidate: Option<CandidateSigner>) {
        let Some(candidate) = candidate else { return };
        let key = candidate.key().fingerprint;
        if candidate.is_held_for_sure() {
            self.sure.push(Arc::new(candidate));
            return;
        }
        let index = self.claimed.iter().position(|known| known.key().fingerprint == key);
        match index.map(|index| &mut self.claimed[index]) {
            None => self.claimed.push(Arc::new(candidate)),
            Some(known) if candidate.rank() < known.rank() => *known = Arc::new(candidate),
            Some(_) => {}
        }
    }

    /// Says whether a key belongs to as many certificates as are read for one key; its owner made all of them.
    fn has_enough(&self, key: &Fingerprint) -> bool {
        self.sure.iter().filter(|candidate| candidate.key().fingerprint == *key).count()
            >= MAX_ISSUER_CANDIDATES
    }

    fn into_keys(mut self) -> KeysWithId {
        let is_sure = |candidate: &Arc<CandidateSigner>| {
            self.sure.iter().any(|sure| sure.key().fingerprint == candidate.key().fingerprint)
        };
        self.claimed.retain(|candidate| !is_sure(candidate));
        self.sure.append(&mut self.claimed);
        KeysWithId { candidates: self.sure, is_cut: self.is_cut }
    }
}

/// Returns the component with a key; of several the first one that is bound, if any is.
fn index_of(facts: &Facts, key: &Fingerprint) -> Option<usize> {
    let is_it =
        |component: &Component| matches!(&component.kind, ComponentKind::Key(it) if it.fingerprint == *key);
    let is_bound = |component: &Component| component.signatures.iter().any(SignatureFacts::is_good);
    let find = |is_wanted: &dyn Fn(&Component) -> bool| facts.components.iter().position(is_wanted);
    find(&|component| is_it(component) && is_bound(component)).or_else(|| find(&is_it))
}

/// Returns the end of a binding signature that may have a back-signature; `None` if there is none.
fn back_signature_end(component: &Component) -> Option<u32> {
    let bindings = component.signatures.iter().filter(|one| one.kind == SignatureType::SUBKEY_BINDING);
    let agreeing = bindings.filter(|one| {
        one.own.as_ref().is_some_and(|own| own.verdict == Some(Verdict::Good) && own.embedded_signature)
    });
    agreeing.map(|one| one.span.end).min()
}
