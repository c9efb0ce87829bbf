//! Cross-certification: whether a subkey confirms that it belongs to its certificate.

use crate::back_signature::{BackSignatures, verified};
use crate::certificate::Certificate;
use crate::effective::KeyState;
use crate::effective::objections::{
    BackSignatureFlaw, CrossCertification, IssuerKey, Objection, Role, objections,
};
use crate::facts::{Component, ComponentKind, KeyFacts, SignatureFacts, SignatureType};
use crate::identity::{Fingerprint, Timestamp};
use crate::packet::Span;
use crate::signature::{self, Signature};
use std::cmp::Reverse;
use verify::policy::DigestPolicy;

/// Looks for an acceptable back-signature in all usable binding signatures of a subkey.
///
/// It does not matter which binding signature contains it, since it is a statement of the subkey with an expiration
/// time of its own. As for every signature, its hash algorithm must not be weak and it must not have critical
/// subpackets that are not understood; it must neither be expired nor older than the subkey.
pub fn cross_certification(
    certificate: &Certificate,
    component: usize,
    digests: DigestPolicy,
    now: Timestamp,
) -> CrossCertification {
    let Some(Component { kind: ComponentKind::Key(facts), signatures, .. }) =
        certificate.facts.components.get(component)
    else {
        return CrossCertification::Missing;
    };
    let (Some(primary), Some(subkey)) = (certificate.key(0), certificate.key(component)) else {
        return CrossCertification::Missing;
    };
    let bindings = bindings(certificate, signatures, digests);
    let BackSignatures { good, has_bad, is_cut } = verified(primary, subkey, &bindings);
    let primary = certificate.facts.primary().fingerprint;
    let flaws: Vec<Option<BackSignatureFlaw>> =
        good.iter().map(|signature| flaw(signature, facts, &primary, digests, now)).collect();
    match flaws.first() {
        _ if flaws.contains(&None) => CrossCertification::Holds,
        _ if is_cut => CrossCertification::Refused(BackSignatureFlaw::Unchecked),
        Some(flaw) => CrossCertification::Refused(flaw.unwrap_or(BackSignatureFlaw::Bad)),
        None if has_bad => CrossCertification::Refused(BackSignatureFlaw::Bad),
        None => CrossCertification::Missing,
    }
}

/// Returns why a back-signature of the subkey is not accepted.
fn flaw(
    signature: &Signature<'_>,
    subkey: &KeyFacts,
    primary: &Fingerprint,
    digests: DigestPolicy,
    now: Timestamp,
) -> Option<BackSignatureFlaw> {
    let facts = signature.facts(Span { start: 0, end: 0 }, primary);
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
