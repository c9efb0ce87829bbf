//! Removing packets from a certificate, except revocations by its owner.

use std::collections::HashSet;

use cert::certificate::{Certificate, Retained};
use cert::effective::{ComponentState, Effective, EvaluationContext, PacketView, evaluate};
use cert::facts::{Component, SignatureFacts};
use cert::{Facts, Timestamp};

use crate::designated_revocation::possible_revocations;
use crate::edit::self_signature::moment_after_edits;

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
        Some(certificate)
            if loosens(&known.facts, &certificate.facts, moment_after_edits(&known.facts, now)) =>
        {
            taken.without(SignatureFacts::verifies, shrunk.kept.or(Some(KeptReason::Expiry)))
        }
        _ => shrunk,
    }
}

/// The packets to be removed, by their positions.
struct Taken<'a> {
    known: &'a Certificate,
    starts: HashSet<u32>,
    /// Revocations that a designated revoker may have made.
    designated: HashSet<u32>,
}

impl<'a> Taken<'a> {
    fn new(known: &'a Certificate, digests: &[[u8; 32]]) -> Self {
        let digests: HashSet<[u8; 32]> = digests.iter().copied().collect();
        let taken = known.packet_digests().filter(|(_, digest)| digests.contains(digest));
        let starts = taken.map(|(start, _)| start).collect();
        // Only the revokers' certificates tell whether these verify.
        let (possible, _) = possible_revocations(&known.facts);
        let designated = possible.into_iter().map(|signature| signature.span.start).collect();
        Self { known, starts, designated }
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
        let mut certificate = self.known.retain(|retained| {
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
        if changed {
            show_former(&self.known.facts, &mut certificate.facts, |signature| {
                goes(signature.span.start) && !is_kept(signature)
            });
        }
        Shrunk { certificate: changed.then_some(certificate), kept: what.filter(|_| kept) }
    }
}

/// Makes the self-signatures visible to GnuPG again that those which go had replaced: of each component the newest
/// superseded one that is older.
fn show_former(before: &Facts, after: &mut Facts, goes: impl Fn(&SignatureFacts) -> bool) {
    let is_binding = |signature: &SignatureFacts| signature.verifies() && !signature.kind.revokes();
    let mut rest = before.components.iter();
    for component in &mut after.components {
        // The order of the components is the same.
        let Some(former) = rest.find(|former| former.kind == component.kind) else { continue };
        for gone in former.signatures.iter().filter(|signature| is_binding(signature) && goes(signature)) {
            let superseded = component.signatures.iter_mut().filter(|signature| {
                signature.flags.superseded && is_binding(signature) && signature.created < gone.created
            });
            if let Some(newest) = superseded.max_by_key(|signature| signature.created) {
                newest.flags.superseded = false;
            }
        }
    }
}

fn is_revocation_by_owner(signature: &SignatureFacts) -> bool {
    signature.kind.revokes() && signature.verifies()
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

#[cfg(test)]
mod tests {
    use packet_builder::{Certificate, Key, MADE, Signature, Signed, Subpacket};
    use store::CertId;

    use super::*;
    use crate::stored::read_one;
    use crate::test_keyrings::{NEW_YEAR_2025, keyring};

    #[test]
    fn a_designated_revocation_is_kept_whomever_its_unhashed_subpackets_name() {
        let [owner, revoker, stranger] = ["Owner", "Revoker", "Stranger"].map(Key::ed25519);
        let mut revocation = Signature::new(0x20).at(MADE + 2);
        revocation.names_issuer = false;
        revocation.unhashed.push(Subpacket::issuer(&stranger));
        let naming = Signature::new(0x1F).with(Subpacket::revoker(&revoker));
        let mut certificate = Certificate::new(&owner, "Owner <owner@example.org>");
        let over = Signed::Key(&owner);
        certificate.packets.splice(1..1, [revocation.sign(&revoker, &over), naming.sign(&owner, &over)]);
        let keyring = keyring(&[&certificate.bytes()]);
        let known = read_one(&*keyring.snapshot(), CertId(1)).expect("no error").expect("it is there");
        let known = known.certificate;
        let revocation = known.facts.components[0].signatures[0].span.start;
        let digests: Vec<[u8; 32]> = known
            .packet_digests()
            .filter(|(start, _)| *start == revocation)
            .map(|(_, digest)| digest)
            .collect();
        let shrunk = shrink(&known, &digests, false, NEW_YEAR_2025);
        assert!(shrunk.certificate.is_none() && shrunk.kept == Some(KeptReason::Revocation));
    }
}
