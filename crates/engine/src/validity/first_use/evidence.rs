//! What certificates say about addresses that are contested: verified certifications, revocations, arrival.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use cert::effective::{ComponentState, Effective, EvaluationContext};
use cert::facts::{Component, ComponentKind, SignatureFacts};
use cert::{BoundAddress, Fingerprint, KeyId};
use store::tofu::Binding;
use store::{CertId, ReadCertificates, Record, Selection};

use crate::Result;
use crate::certifications::{Authenticities, Authenticity, CertificationVerifier};
use crate::designated_revocation::evaluate_with_revokers;
use crate::validity::{Sources, TrustSettings};

/// What is known of bindings whose certificates are here.
#[derive(Debug, Default)]
pub(super) struct BindingEvidence {
    /// Bindings that an ultimately trusted key certified.
    vouched: HashSet<(Fingerprint, BoundAddress)>,
    /// Of contested bindings.
    notes: HashMap<(Fingerprint, BoundAddress), Note>,
}

#[derive(Debug)]
struct Note {
    arrival: i128,
    /// Nobody computes the validity of the user ID any more.
    lapsed: bool,
    /// Who certified the user ID, of those who claim the address as well.
    certifiers: HashSet<Fingerprint>,
}

/// The arrival of a binding whose certificate, or user ID, is not here any more.
const LONG_AGO: i128 = i128::MIN;

impl BindingEvidence {
    pub(super) fn is_vouched(&self, key: &Fingerprint, address: &BoundAddress) -> bool {
        // Most databases have nothing of the kind, and most listings ask often.
        !self.vouched.is_empty() && self.vouched.contains(&(*key, address.clone()))
    }

    pub(super) fn is_lapsed(&self, key: &Fingerprint, address: &BoundAddress) -> bool {
        self.note(key, address).is_some_and(|note| note.lapsed)
    }

    pub(super) fn arrival(&self, key: &Fingerprint, address: &BoundAddress) -> i128 {
        self.note(key, address).map_or(LONG_AGO, |note| note.arrival)
    }

    /// Returns the pairs of keys that certified each other's user ID with an address.
    pub(super) fn cross_signed(&self, keys: &[Fingerprint], address: &BoundAddress) -> Vec<(usize, usize)> {
        let position: HashMap<&Fingerprint, usize> = keys.iter().zip(0..).collect();
        let certified_by = |key: &Fingerprint| self.note(key, address).map(|note| &note.certifiers);
        let mut pairs = Vec::new();
        for (one, key) in keys.iter().enumerate() {
            for certifier in certified_by(key).into_iter().flatten() {
                let Some(&other) = position.get(certifier) else { continue };
                let back = certified_by(certifier).is_some_and(|certifiers| certifiers.contains(key));
                if one < other && back {
                    pairs.push((one, other));
                }
            }
        }
        pairs
    }

    fn note(&self, key: &Fingerprint, address: &BoundAddress) -> Option<&Note> {
        self.notes.get(&(*key, address.clone()))
    }
}

/// Reads what speaks for the bindings of contested addresses, and which bindings the `own` keys vouch for: those of
/// `keys`, or all.
pub(super) fn gather(
    contested: &[Vec<Binding>],
    keys: Option<&[Fingerprint]>,
    own: &[Fingerprint],
    sources: &Sources<'_>,
    settings: &TrustSettings,
) -> Result<BindingEvidence> {
    let mut claimants: Vec<Fingerprint> =
        contested.iter().flatten().map(|binding| binding.fingerprint).collect();
    claimants.sort_unstable();
    claimants.dedup();
    let evidence_sources = EvidenceSources {
        settings,
        own: own.iter().copied().collect(),
        claimants: claimants.iter().copied().collect(),
        contested: contested.iter().flatten().map(|binding| &binding.address).collect(),
        key_ids: own.iter().chain(&claimants).map(Fingerprint::key_id).collect(),
    };
    let mut evidences = BindingEvidence::default();
    let mut seen = HashSet::new();
    for (number, source) in sources.certificates.iter().enumerate() {
        let mut ids: Vec<CertId> = source.by_fingerprint(&claimants)?.into_iter().flatten().collect();
        match keys {
            Some(keys) => ids.extend(source.by_fingerprint(keys)?.into_iter().flatten()),
            None => {
                for key in own {
                    ids.extend(source.certified_by(key.key_id())?);
                }
            }
        }
        if ids.is_empty() {
            continue;
        }
        let mut verifier = CertificationVerifier::new(*source, sources.certificates.clone());
        verifier.verdict_store = sources.verdict_store.filter(|_| number == 0);
        verifier.visit(
            Selection::Ids(&ids),
            &|signature| evidence_sources.wants(signature),
            &mut |record, authenticities| {
                // What an earlier database has is taken from there.
                if seen.insert(record.fingerprint) {
                    evidence_sources.record(
                        number,
                        &record,
                        authenticities,
                        &sources.certificates,
                        &mut evidences,
                    )?;
                }
                Ok(ControlFlow::Continue(()))
            },
        )?;
        verifier.keep()?;
    }
    Ok(evidences)
}

/// Whose certifications matter, and for what.
struct EvidenceSources<'a> {
    settings: &'a TrustSettings,
    own: HashSet<Fingerprint>,
    claimants: HashSet<Fingerprint>,
    contested: HashSet<&'a BoundAddress>,
    key_ids: HashSet<KeyId>,
}

impl EvidenceSources<'_> {
    /// Says whether it matters who made a signature. Whether a certification was revoked or has ended does not, to
    /// GnuPG.
    fn wants(&self, signature: &SignatureFacts) -> bool {
        let TrustSettings { view, digests, .. } = self.settings;
        signature.own.is_none()
            && signature.kind.is_certification()
            && self.key_ids.contains(&signature.issuer.key_id)
            && view.shows(signature)
            && !signature.flags.unknown_critical
            && digests.accepts_certification(signature.hash_algorithm, signature.created.0)
    }

    /// Notes what a certificate says about its addresses.
    fn record(
        &self,
        source: usize,
        record: &Record,
        authenticities: &Authenticities,
        sources: &[&dyn ReadCertificates],
        evidences: &mut BindingEvidence,
    ) -> Result<()> {
        let Some(facts) = &record.facts else { return Ok(()) };
        let moment = EvaluationContext::new(self.settings.now, self.settings.view);
        let effective = evaluate_with_revokers(facts, moment, (sources[source], record.id), sources)?;
        let mut seen = HashSet::new();
        for (index, component) in facts.components.iter().enumerate() {
            let ComponentKind::UserId(value) = &component.kind else { continue };
            let address = BoundAddress::of_user_id(value);
            let binding = (record.fingerprint, address);
            let lapsed = has_lapsed(&effective, index);
            // GnuPG looks at the certifications of the first user ID with an address.
            if !seen.insert(binding.1.clone()) {
                if let Some(note) = evidences.notes.get_mut(&binding) {
                    note.lapsed &= lapsed;
                }
                continue;
            }
            let certifiers = certifiers(index, component, authenticities);
            if certifiers.iter().any(|certifier| self.own.contains(certifier)) {
                evidences.vouched.insert(binding.clone());
            }
            if self.contested.contains(&binding.1) {
                let certifiers = certifiers.into_iter().filter(|it| self.claimants.contains(it)).collect();
                let arrival = arrival(source, record.id);
                evidences.notes.insert(binding, Note { arrival, lapsed, certifiers });
            }
        }
        Ok(())
    }
}

/// Returns who certified a user ID, of those who were asked about; a subkey certifies nothing.
fn certifiers(index: usize, component: &Component, authenticities: &Authenticities) -> Vec<Fingerprint> {
    let signatures = component.signatures.iter().enumerate();
    let made_by = |(number, signature): (usize, &SignatureFacts)| match authenticities.on(index, number) {
        Authenticity::Good(issuer) => (issuer.key_id() == signature.issuer.key_id).then_some(issuer),
        _ => None,
    };
    signatures.filter_map(made_by).collect()
}

/// Says whether GnuPG would not compute the validity of a user ID: it is revoked, or has ended on a key that has come to
/// its end itself.
fn has_lapsed(effective: &Effective, index: usize) -> bool {
    let ComponentState::User(user) = &effective.components[index] else { return true };
    user.revoked || (user.expired && !effective.primary().is_usable())
}

/// Returns a place in the order of arrival: those of the first database come first.
fn arrival(source: usize, CertId(id): CertId) -> i128 {
    (source as i128) << 64 | i128::from(id)
}
