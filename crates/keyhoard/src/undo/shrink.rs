//! Removing packets from a certificate, except revocations by its owner.

use std::collections::HashSet;

use cert::certificate::{Certificate, Retained};
use cert::effective::{ComponentState, Effective, EvaluationContext, PacketView, evaluate};
use cert::facts::{Component, SignatureFacts, SignatureType};
use cert::{Facts, Timestamp};

/// Why something is not undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptReason {
    /// A revocation.
    Revocation,
    /// A self-signature by which a key or user ID expires earlier.
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

/// Removes the packets with these [digests](Certificate::packet_digests) from a certificate.
///
/// Unless `including_revocations`, verified revocations are kept, and so are all verified self-signatures if a key or
/// user ID would expire later without them.
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

/// The packets to be removed, by their positions.
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

    /// Removes everything but the signatures that are to be kept and their components.
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

/// Returns the positions of revocations that name a designated revoker as issuer. They are kept, since only the
/// revoker's certificate tells whether they verify.
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

/// Says whether a key or user ID that is in both would expire later, or never.
fn loosens(before: &Facts, after: &Facts, now: Timestamp) -> bool {
    let context = EvaluationContext::new(now, PacketView::Full);
    let (before_means, after_means) = (evaluate(before, context), evaluate(after, context));
    let mut rest = pairs(before, &before_means);
    pairs(after, &after_means).any(|(component, state)| {
        // The order of the components is the same.
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

/// Returns a time of expiry for comparisons; never is the latest.
fn ends(state: &ComponentState) -> Timestamp {
    let end = match state {
        ComponentState::Key(key) => key.expires,
        ComponentState::User(user) => user.expires,
        ComponentState::Unknown => None,
    };
    end.unwrap_or(Timestamp(u32::MAX))
}
