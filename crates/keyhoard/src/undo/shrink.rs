//! Taking packets out of a certificate again, but for what its owner took back by them.

use std::collections::HashSet;

use cert::certificate::{Certificate, Retained};
use cert::effective::{ComponentState, Effective, EvaluationContext, PacketView, evaluate};
use cert::facts::{Component, SignatureFacts, SignatureType};
use cert::{Facts, Timestamp};

/// What stays although it was to be taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptReason {
    /// A revocation.
    Revocation,
    /// A self-signature by which a key or user ID ends earlier.
    Expiry,
    /// Owner trust that a later command has given.
    OwnerTrust,
    /// What a later command has decided about an address.
    Policy,
}

/// What became of a certificate.
pub(super) struct Shrunk {
    /// `None` if it stays as it is.
    pub(super) certificate: Option<Certificate>,
    pub(super) kept: Option<KeptReason>,
}

/// Takes the packets with these [digests](Certificate::packet_digests) out of a certificate.
///
/// Unless `including_revocations`, verified revocations stay, and if without them a key or user ID would end later
/// than it does now, all verified self-signatures.
pub(super) fn shrink(
    known: &Certificate,
    digests: &[[u8; 32]],
    including_revocations: bool,
    now: Timestamp,
) -> Shrunk {
    let taken = Taken::new(known, digests);
    if including_revocations {
        return taken.without(|_| false, None);
    }
    let shrunk = taken.without(is_revocation_by_owner, Some(KeptReason::Revocation));
    match &shrunk.certificate {
        Some(certificate) if loosens(&known.facts, &certificate.facts, now) => {
            taken.without(SignatureFacts::verifies, shrunk.kept.or(Some(KeptReason::Expiry)))
        }
        _ => shrunk,
    }
}

/// The packets to be taken out, by where they begin.
struct Taken<'a> {
    known: &'a Certificate,
    starts: HashSet<u32>,
    designated: HashSet<u32>,
}

impl<'a> Taken<'a> {
    fn new(known: &'a Certificate, digests: &[[u8; 32]]) -> Self {
        let digests: HashSet<[u8; 32]> = digests.iter().copied().collect();
        let taken = known.packet_digests().filter(|(_, digest)| digests.contains(digest));
        let starts = taken.map(|(start, _)| start).collect();
        Self { known, starts, designated: designated_revocations(&known.facts) }
    }

    /// Takes everything out but the signatures that are to be kept and the components they stand under.
    fn without(&self, keep: impl Fn(&SignatureFacts) -> bool, what: Option<KeptReason>) -> Shrunk {
        let goes = |start: u32| self.starts.contains(&start);
        let is_kept = |signature: &SignatureFacts| {
            goes(signature.span.start)
                && (keep(signature) || what.is_some() && self.designated.contains(&signature.span.start))
        };
        let mut kept = false;
        let mut changed = false;
        let certificate = self.known.retain(|retained| {
            let (start, spared) = match retained {
                Retained::Component(component) => {
                    (component.span.start, component.signatures.iter().any(is_kept))
                }
                Retained::Signature(_, signature) => (signature.span.start, is_kept(signature)),
                Retained::Unread(_, span) => (span.start, false),
            };
            kept |= spared;
            changed |= goes(start) && !spared;
            !goes(start) || spared
        });
        Shrunk { certificate: changed.then_some(certificate), kept: what.filter(|_| kept) }
    }
}

fn is_revocation_by_owner(signature: &SignatureFacts) -> bool {
    is_revocation(signature.kind) && signature.verifies()
}

fn is_revocation(kind: SignatureType) -> bool {
    let revocations = [
        SignatureType::KEY_REVOCATION,
        SignatureType::SUBKEY_REVOCATION,
        SignatureType::CERTIFICATION_REVOCATION,
    ];
    revocations.contains(&kind)
}

/// Returns where revocations begin that name a designated revoker as issuer. Whether they verify is not known here, so
/// they are given the benefit of the doubt.
fn designated_revocations(facts: &Facts) -> HashSet<u32> {
    let own = facts.components.iter().flat_map(|component| &component.signatures);
    let revokers: HashSet<_> = own
        .filter(|signature| signature.verifies())
        .filter_map(|signature| signature.own.as_deref())
        .flat_map(|own| own.revokers.iter().map(|revoker| revoker.fingerprint.key_id()))
        .collect();
    let Some(Component { signatures, .. }) = facts.components.first() else { return HashSet::new() };
    signatures
        .iter()
        .filter(|signature| is_revocation(signature.kind) && signature.own.is_none())
        .filter(|signature| revokers.contains(&signature.issuer.key_id))
        .map(|signature| signature.span.start)
        .collect()
}

/// Says whether a key or user ID that is in both would end later, or not at all any more.
fn loosens(before: &Facts, after: &Facts, now: Timestamp) -> bool {
    let context = EvaluationContext::new(now, PacketView::Full);
    let (before_means, after_means) = (evaluate(before, context), evaluate(after, context));
    let mut rest = pairs(before, &before_means);
    pairs(after, &after_means).any(|(component, state)| {
        // What is left stands in the order in which it stood.
        let same = rest.find(|(other, _)| other.kind == component.kind);
        same.is_some_and(|(_, former)| ends(state) > ends(former))
    })
}

fn pairs<'a>(
    facts: &'a Facts,
    effective: &'a Effective,
) -> impl Iterator<Item = (&'a Component, &'a ComponentState)> {
    facts.components.iter().zip(&effective.components)
}

/// Returns when something ends; what never does ends last.
fn ends(state: &ComponentState) -> Timestamp {
    let end = match state {
        ComponentState::Key(key) => key.expires,
        ComponentState::User(user) => user.expires,
        ComponentState::Unknown => None,
    };
    end.unwrap_or(Timestamp(u32::MAX))
}
