//! Cross-certification: whether a subkey confirms that it belongs to its certificate.

use crate::back_signature::{BackSignatures, verified};
use crate::certificate::Certificate;
use crate::effective::KeyState;
use crate::effective::objections::{
    BackSignatureFlaw, CrossCertification, IssuerKey, Objection, Role, objections,
};
use crate::facts::{Component, ComponentKind, KeyFacts, SignatureFacts, SignatureType};
use crate::identity::Timestamp;
use crate::packet::Span;
use crate::signature::{self, Signature};
use std::cmp::Reverse;
use verify::policy::DigestPolicy;

/// Looks for a back-signature that is accepted now, see [`BackSignatureFacts::accepted`].
pub fn cross_certification(
    certificate: &Certificate,
    component: usize,
    digests: DigestPolicy,
    now: Timestamp,
) -> CrossCertification {
    BackSignatureFacts::of(certificate, component, digests).accepted(digests, now)
}

/// The back-signatures of a subkey that verify, from all its usable binding signatures.
///
/// It does not matter which binding signature contains one, since it is a statement of the subkey with an expiration
/// time of its own.
#[derive(Clone, Debug, Default)]
pub struct BackSignatureFacts {
    subkey: Option<KeyFacts>,
    good: Vec<SignatureFacts>,
    /// The same, read as RFC 9580 asks.
    good_by_rfc9580: Vec<SignatureFacts>,
    has_bad: bool,
    is_cut: bool,
}

impl BackSignatureFacts {
    /// Verifies the back-signatures of a subkey; there are none if the component is not a key.
    pub fn of(certificate: &Certificate, component: usize, digests: DigestPolicy) -> Self {
        let Some(Component { kind: ComponentKind::Key(facts), signatures, .. }) =
            certificate.facts.components.get(component)
        else {
            return Self::default();
        };
        let (Some(primary), Some(subkey)) = (certificate.key(0), certificate.key(component)) else {
            return Self::default();
        };
        let bindings = bindings(certificate, signatures, digests);
        let BackSignatures { good, has_bad, is_cut } = verified(primary, subkey, &bindings);
        let primary = certificate.facts.primary().fingerprint;
        let good_facts = good.iter().map(|signature| signature.facts(Span { start: 0, end: 0 }, &primary));
        let good_facts: Vec<SignatureFacts> = good_facts.collect();
        let mut good_by_rfc9580 = good_facts.clone();
        for (signature, facts) in good.iter().zip(&mut good_by_rfc9580) {
            signature.read_by_rfc9580(facts);
        }
        Self { subkey: Some(facts.clone()), good: good_facts, good_by_rfc9580, has_bad, is_cut }
    }

    /// Returns the same back-signatures, read as RFC 9580 asks instead of as GnuPG does.
    #[must_use]
    pub fn read_by_rfc9580(self) -> Self {
        Self { good: self.good_by_rfc9580.clone(), ..self }
    }

    /// Returns whether one of them was accepted at a moment. As for every signature, its hash algorithm must not be weak
    /// and it must not have critical subpackets that are not understood; it must neither be expired, nor older than the
    /// subkey, nor from the future.
    pub fn accepted(&self, digests: DigestPolicy, now: Timestamp) -> CrossCertification {
        let Some(subkey) = &self.subkey else { return CrossCertification::Missing };
        let flaws: Vec<_> = self.good.iter().map(|facts| flaw(facts, subkey, digests, now)).collect();
        match flaws.first() {
            _ if flaws.contains(&None) => CrossCertification::Holds,
            _ if self.is_cut => CrossCertification::Refused(BackSignatureFlaw::Unchecked),
            Some(flaw) => CrossCertification::Refused(flaw.unwrap_or(BackSignatureFlaw::Bad)),
            None if self.has_bad => CrossCertification::Refused(BackSignatureFlaw::Bad),
            None => CrossCertification::Missing,
        }
    }

    /// Returns whether one of them is accepted at some moment.
    pub fn is_accepted_ever(&self, digests: DigestPolicy) -> bool {
        let moments = self.good.iter().map(|facts| facts.created);
        moments.into_iter().any(|moment| self.accepted(digests, moment) == CrossCertification::Holds)
    }
}

/// Returns why a back-signature of the subkey is not accepted.
fn flaw(
    facts: &SignatureFacts,
    subkey: &KeyFacts,
    digests: DigestPolicy,
    now: Timestamp,
) -> Option<BackSignatureFlaw> {
    let state = KeyState::default();
    let role = Role::Subkey(CrossCertification::Missing);
    let issuer = IssuerKey { key: subkey, state: &state, expires: None, role };
    match objections(&issuer, facts.kind, facts.created, now).refusal() {
        Some(Objection::BeforeKey) => return Some(BackSignatureFlaw::BeforeKey(facts.created)),
        Some(_) => return Some(BackSignatureFlaw::Bad),
        None => {}
    }
    if digests.is_weak(facts.hash_algorithm) {
        Some(BackSignatureFlaw::WeakDigest(facts.hash_algorithm))
    } else if facts.flags.unknown_critical {
        Some(BackSignatureFlaw::UnknownDemand)
    } else if facts.has_expired(now) {
        Some(BackSignatureFlaw::Expired)
    } else {
        None
    }
}

/// Returns the usable binding signatures of the primary key, the newest first.
fn bindings<'a>(
    certificate: &'a Certificate,
    signatures: &[SignatureFacts],
    digests: DigestPolicy,
) -> Vec<Signature<'a>> {
    let primary = certificate.facts.primary();
    let counts = |signature: &&SignatureFacts| {
        signature.kind == SignatureType::SUBKEY_BINDING && signature.counts_by(primary, digests)
    };
    let mut found: Vec<&SignatureFacts> = signatures.iter().filter(counts).collect();
    found.sort_by_key(|signature| Reverse(signature.created));
    let parsed = found.into_iter().filter_map(|found| signature::parse(certificate.body(found.span)?).ok());
    parsed.collect()
}
