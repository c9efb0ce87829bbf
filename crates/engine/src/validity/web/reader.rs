//! Reading certificates as of the present, without verifying anything.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use cert::effective::{Effective, EvaluationContext};
use cert::facts::{Facts, SignatureFacts};
use cert::{Fingerprint, KeyId};
use foldhash::fast::RandomState;
use store::{CertId, Certifications, ReadCertificates};
use trust::KeyMap;
use trust::pgp::Edge;

use super::acceptable::{accepts, certification, is_acceptable};
use super::certificate_position::{CertificatePosition, PositionedEdge, PresentCertificate, User};
use super::issuer_set::IssuerSet;
use super::user_state::{can_be_valid, is_live};
use crate::Result;
use crate::certifications::kept_verdict;
use crate::designated_revocation::evaluate_with_revokers;
use crate::validity::settings::TrustSettings;

/// Reads certificates of some databases, the first one first.
pub(super) struct Reader<'a> {
    pub(super) settings: &'a TrustSettings,
    pub(super) sources: Vec<&'a dyn ReadCertificates>,
}

impl Reader<'_> {
    /// Returns where a certificate is: in the first database that has it.
    pub(super) fn position(
        &self,
        key: &Fingerprint,
        positions: &mut CertificatePositions,
    ) -> Result<Option<CertificatePosition>> {
        if let Some(position) = positions.by_key.get(key) {
            return Ok(*position);
        }
        let mut position = None;
        for (number, source) in self.sources.iter().enumerate() {
            if let Some(id) = source.by_fingerprint(&[*key])?[0] {
                position = Some((number, id));
                break;
            }
        }
        positions.by_key.insert(*key, position);
        Ok(position)
    }

    /// Returns the primary keys with a key ID.
    fn primaries(&self, key_id: KeyId, positions: &mut CertificatePositions) -> Result<Vec<Fingerprint>> {
        if let Some(primaries) = positions.by_key_id.get(&key_id) {
            return Ok(primaries.clone());
        }
        let mut primaries = Vec::new();
        for (number, source) in self.sources.iter().enumerate() {
            for (id, primary) in source.primaries_by_id(key_id)? {
                if !primaries.contains(&primary) {
                    primaries.push(primary);
                    positions.by_key.insert(primary, Some((number, id)));
                }
            }
        }
        positions.by_key_id.insert(key_id, primaries.clone());
        Ok(primaries)
    }

    /// Returns a certificate's own facts, and what they mean.
    pub(super) fn own(&self, position: CertificatePosition) -> Result<Option<PresentCertificate>> {
        let (source, id) = position;
        let Some(facts) = self.sources[source].own_facts(id)? else { return Ok(None) };
        let effective = self.effective(position, &facts)?;
        Ok(Some(PresentCertificate { position, facts, effective }))
    }

    /// Returns what these issuers certified of certificates of one database, by the verdicts that are kept, and calls
    /// `unverified` with each signature about which one is missing. What is on dead certificates and user IDs is left
    /// out.
    pub(super) fn known_edges(
        &self,
        source: usize,
        ids: &[CertId],
        issuers: &IssuerSet,
        unverified: &mut dyn FnMut(User, &SignatureFacts),
    ) -> Result<Vec<PositionedEdge>> {
        let mut edges = Vec::new();
        let mut add = |found: &Certifications| {
            let key_created = found.own.primary().created;
            let effective = self.effective((source, found.id), &found.own)?;
            if !can_be_valid(&found.own, &effective, self.settings.now) {
                return Ok(());
            }
            for (component, signature) in &found.signatures {
                if !is_acceptable(self.settings, key_created, signature) || !is_live(&effective, *component) {
                    continue;
                }
                let verdict_on = |issuer| kept_verdict(&found.verdicts, signature.content, issuer);
                let candidates = issuers.with_id(signature.issuer.key_id);
                if let Some(issuer) = candidates.iter().find(|issuer| verdict_on(**issuer) == Some(true)) {
                    let certification = certification(*issuer, signature);
                    let edge = Edge { certificate: (source, found.id), component: *component, certification };
                    edges.push((signature.span.start, edge));
                } else if candidates.iter().any(|issuer| verdict_on(*issuer).is_none()) {
                    unverified((found.id, *component), signature);
                }
            }
            Ok(())
        };
        let mut added = Ok(());
        self.sources[source].visit_certifications(ids, &|key_id| issuers.names(key_id), &mut |found| {
            added = add(found);
            if added.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        added.map(|()| edges)
    }

    /// Returns what a certificate's facts mean at the moment.
    pub(super) fn effective(&self, (source, id): CertificatePosition, facts: &Facts) -> Result<Effective> {
        let moment = EvaluationContext::new(self.settings.now, self.settings.view);
        evaluate_with_revokers(facts, moment, (self.sources[source], id), &self.sources)
    }

    /// Returns the keys that are said to have made certifications of a key, by ascending fingerprint.
    pub(super) fn issuers(
        &self,
        key: &Fingerprint,
        wanted: &dyn Fn(&SignatureFacts) -> bool,
        positions: &mut CertificatePositions,
    ) -> Result<Vec<Fingerprint>> {
        let Some((source, id)) = self.position(key, positions)? else { return Ok(Vec::new()) };
        let mut key_ids = Vec::new();
        self.sources[source].visit_third_party(id, &mut |signature| {
            if wanted(signature) && accepts(self.settings, signature) {
                key_ids.push(signature.issuer.key_id);
            }
        })?;
        key_ids.sort_unstable();
        key_ids.dedup();
        let mut issuers = Vec::with_capacity(key_ids.len());
        for key_id in key_ids {
            issuers.extend(self.primaries(key_id, positions)?);
        }
        issuers.sort_unstable();
        Ok(issuers)
    }

    /// Returns the certificates that a key is said to have certified, unless these are many.
    pub(super) fn certified(
        &self,
        certifier: &Fingerprint,
    ) -> Result<Option<HashSet<CertificatePosition, RandomState>>> {
        let mut certified = HashSet::default();
        for (number, source) in self.sources.iter().enumerate() {
            let Some(ids) = source.certified_by_few(certifier.key_id(), MOST_CERTIFIED)? else {
                return Ok(None);
            };
            certified.extend(ids.into_iter().map(|id| (number, id)));
        }
        Ok(Some(certified))
    }
}

/// The certificates that a key certified are looked up if there are no more: that takes as long as the certifiers of a few
/// dozen certificates.
const MOST_CERTIFIED: usize = 2_000;

/// Where primary keys are, as far as that was looked up.
#[derive(Default)]
pub(super) struct CertificatePositions {
    by_key: KeyMap<Option<CertificatePosition>>,
    by_key_id: HashMap<KeyId, Vec<Fingerprint>>,
}
