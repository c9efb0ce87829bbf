//! Reading certificates as of the present, without verifying anything.

use std::collections::{HashMap, HashSet};

use cert::effective::{Effective, EvaluationContext};
use cert::facts::{Facts, SignatureFacts};
use cert::{Fingerprint, KeyId};
use foldhash::fast::RandomState;
use store::{CertId, MOST_READERS, ReadCertificates, VisitOwnFacts};
use trust::KeyMap;

use super::certificate_state::CertificateState;
use super::claims::accepts;
use crate::Result;
use crate::designated_revocation::{evaluate_alone, evaluate_with_revokers, whole};
use crate::validity::TrustSettings;

/// Reads certificates of some databases, the first one first.
pub(super) struct Reader<'a> {
    pub(super) settings: &'a TrustSettings,
    pub(super) sources: Vec<&'a dyn ReadCertificates>,
}

impl Reader<'_> {
    /// Returns where a certificate is: in the first database that has it.
    pub(super) fn place(&self, key: &Fingerprint, places: &mut Places) -> Result<Option<(usize, CertId)>> {
        if let Some(place) = places.by_key.get(key) {
            return Ok(*place);
        }
        let mut place = None;
        for (number, source) in self.sources.iter().enumerate() {
            if let Some(id) = source.by_fingerprint(&[*key])?[0] {
                place = Some((number, id));
                break;
            }
        }
        places.by_key.insert(*key, place);
        Ok(place)
    }

    /// Returns the primary keys with a key ID.
    fn primaries(&self, key_id: KeyId, places: &mut Places) -> Result<Vec<Fingerprint>> {
        if let Some(primaries) = places.by_key_id.get(&key_id) {
            return Ok(primaries.clone());
        }
        let mut primaries = Vec::new();
        for (number, source) in self.sources.iter().enumerate() {
            for (id, primary) in source.primaries_by_id(key_id)? {
                if !primaries.contains(&primary) {
                    primaries.push(primary);
                    places.by_key.insert(primary, Some((number, id)));
                }
            }
        }
        places.by_key_id.insert(key_id, primaries.clone());
        Ok(primaries)
    }

    /// Returns a certificate's own facts, and what they mean.
    pub(super) fn own(&self, source: usize, id: CertId) -> Result<Option<(Facts, Effective)>> {
        let Some(facts) = self.sources[source].own_facts(id)? else { return Ok(None) };
        let effective = self.effective(source, id, &facts)?;
        Ok(Some((facts, effective)))
    }

    /// Returns what certificates, whose numbers ascend, say about themselves, but for those to which somebody else may
    /// have something to say. Several threads may read them.
    pub(super) fn presents(&self, source: usize, ids: &[CertId]) -> Result<Vec<(CertId, CertificateState)>> {
        let moment = EvaluationContext::new(self.settings.now, self.settings.view);
        let mut parts: [Vec<_>; MOST_READERS] = Default::default();
        let visitors = parts.iter_mut().map(|part| {
            move |id, facts: Facts| {
                if let Ok(effective) = evaluate_alone(&facts, moment) {
                    part.push((id, CertificateState::new(&facts, &effective)));
                }
            }
        });
        let mut visitors: Vec<_> = visitors.collect();
        let mut visitors: Vec<_> = visitors.iter_mut().map(|it| it as &mut VisitOwnFacts<'_>).collect();
        self.sources[source].visit_own_facts(ids, &mut visitors)?;
        Ok(parts.into_iter().flatten().collect())
    }

    pub(super) fn effective(&self, source: usize, id: CertId, facts: &Facts) -> Result<Effective> {
        let moment = EvaluationContext::new(self.settings.now, self.settings.view);
        evaluate_with_revokers(facts, moment, || whole(self.sources[source], id), &self.sources)
    }

    /// Returns the keys that are said to have made certifications of a key, by ascending fingerprint.
    pub(super) fn makers(
        &self,
        key: &Fingerprint,
        wanted: &dyn Fn(&SignatureFacts) -> bool,
        places: &mut Places,
    ) -> Result<Vec<Fingerprint>> {
        let Some((source, id)) = self.place(key, places)? else { return Ok(Vec::new()) };
        let mut key_ids = Vec::new();
        self.sources[source].visit_third_party(id, &mut |signature| {
            if wanted(signature) && accepts(self.settings, signature) {
                key_ids.push(signature.issuer.key_id);
            }
        })?;
        key_ids.sort_unstable();
        key_ids.dedup();
        let mut makers = Vec::with_capacity(key_ids.len());
        for key_id in key_ids {
            makers.extend(self.primaries(key_id, places)?);
        }
        makers.sort_unstable();
        Ok(makers)
    }

    /// Returns where the certificates are that a key is said to have certified, unless these are many.
    pub(super) fn certified(
        &self,
        certifier: &Fingerprint,
    ) -> Result<Option<HashSet<(usize, CertId), RandomState>>> {
        let mut certified = HashSet::default();
        for (number, source) in self.sources.iter().enumerate() {
            let Some(ids) = source.certified_by_few(certifier.key_id(), FEW)? else { return Ok(None) };
            certified.extend(ids.into_iter().map(|id| (number, id)));
        }
        Ok(Some(certified))
    }
}

/// So many certificates that a key certified are looked up in the time in which the certifiers of a few dozen are.
const FEW: usize = 2_000;

/// Where primary keys are, as far as that was looked up.
#[derive(Default)]
pub(super) struct Places {
    by_key: KeyMap<Option<(usize, CertId)>>,
    by_key_id: HashMap<KeyId, Vec<Fingerprint>>,
}
