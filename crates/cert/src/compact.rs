//! Removes unusable parts of certificates: GnuPG's `import-clean`, `import-minimal`, `export-clean` and
//! `export-minimal`.

use crate::certificate::{Certificate, Retained};
use crate::effective::{self, ComponentState, EvaluationContext, PacketView, UserIdState};
use crate::facts::{Component, ComponentKind, KeyFacts, SignatureFacts, SignatureType};
use crate::identity::{KeyId, Timestamp};
use std::collections::{HashMap, HashSet};

/// A compacted certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// The certificate.
    pub certificate: Certificate,
    /// The number of user IDs and attributes whose signatures were removed, since they are revoked, expired or have no
    /// valid self-signature.
    pub user_ids: usize,
    /// The number of signatures that were removed from usable user IDs and from subkeys.
    pub signatures: usize,
}

/// Which certifications of usable user IDs are kept.
pub enum Certifications<'a> {
    /// The newest certification of each issuer. Those by other keys are kept only if this function returns true, which
    /// it must if a certification is [accepted](verify::policy::DigestPolicy::accepts_certification) and verifies under
    /// a known key that (to GnuPG) is neither expired nor revoked; see [`crate::signed::for_each_digest`].
    Good(&'a dyn Fn(&Component, &SignatureFacts) -> bool),
    /// The newest self-signature only.
    Own,
}

/// Removes unusable signatures. A user ID that is revoked, expired or without a valid self-signature keeps only the
/// signature that says so; a usable one keeps the newest good certification or revocation of each issuer; a subkey
/// keeps the signatures that bind or revoke it. User IDs and subkeys stay.
pub fn compact(certificate: &Certificate, certifications: &Certifications<'_>, now: Timestamp) -> Compacted {
    let facts = &certificate.facts;
    let effective = effective::evaluate(facts, EvaluationContext::new(now, PacketView::Gnupg));
    let mut compaction = Compaction { certifications, kept: HashSet::new(), user_ids: 0, signatures: 0 };
    for (index, component) in facts.components.iter().enumerate() {
        match (&component.kind, &effective.components[index]) {
            (ComponentKind::Key(_), _) if index > 0 => compaction.subkey(component),
            (_, ComponentState::User(user)) => compaction.user(component, user, facts.primary()),
            _ => drop(compaction.keep(&component.signatures, |_| true)),
        }
    }
    let certificate = certificate.retain(|packet| match packet {
        Retained::Component(_) => true,
        Retained::Signature(_, signature) => compaction.kept.contains(&signature.span.start),
        Retained::Unread(component, _) => {
            !matches!(component.kind, ComponentKind::UserId(_) | ComponentKind::Attribute(_))
        }
    });
    Compacted { certificate, user_ids: compaction.user_ids, signatures: compaction.signatures }
}

struct Compaction<'a> {
    certifications: &'a Certifications<'a>,
    /// The offsets of the signatures that are kept.
    kept: HashSet<u32>,
    user_ids: usize,
    signatures: usize,
}

impl Compaction<'_> {
    /// Keeps the signatures that are `wanted`, and possible revocations that are not verified yet; returns the number
    /// of the others.
    fn keep(&mut self, signatures: &[SignatureFacts], wanted: impl Fn(&SignatureFacts) -> bool) -> usize {
        let kept = signatures.iter().filter(|signature| wanted(signature) || signature.is_pending());
        let before = self.kept.len();
        self.kept.extend(kept.map(|signature| signature.span.start));
        signatures.len() - (self.kept.len() - before)
    }

    fn subkey(&mut self, component: &Component) {
        let belongs = |signature: &SignatureFacts| {
            matches!(signature.kind, SignatureType::SUBKEY_BINDING | SignatureType::SUBKEY_REVOCATION)
        };
        self.signatures += self.keep(&component.signatures, belongs);
    }

    fn user(&mut self, component: &Component, user: &UserIdState, primary: &KeyFacts) {
        if user.created.is_none() {
            let binding = user.binding.map(|index| component.signatures[index].span.start);
            let removed = self.keep(&component.signatures, |signature| Some(signature.span.start) == binding);
            self.user_ids += usize::from(removed > 0);
        } else {
            let newest = self.newest_of_each_issuer(component, primary);
            self.signatures +=
                self.keep(&component.signatures, |signature| newest.contains(&signature.span.start));
        }
    }

    fn newest_of_each_issuer(&self, component: &Component, primary: &KeyFacts) -> HashSet<u32> {
        let mut newest: HashMap<KeyId, &SignatureFacts> = HashMap::new();
        for signature in component.signatures.iter().filter(|signature| may_count(signature)) {
            let is_good = match (&signature.own, self.certifications) {
                (Some(_), _) => signature.counts(primary),
                (None, Certifications::Good(is_good)) => is_good(component, signature),
                (None, Certifications::Own) => false,
            };
            if is_good {
                let issuer = match signature.own {
                    Some(_) => primary.fingerprint.key_id(),
                    None => signature.issuer.key_id,
                };
                let known = newest.entry(issuer).or_insert(signature);
                if takes_precedence(signature, known) {
                    *known = signature;
                }
            }
        }
        newest.into_values().map(|signature| signature.span.start).collect()
    }
}

/// Returns whether it is a certification of a level that GnuPG accepts by default (`--min-cert-level`), or the
/// revocation of a certification.
fn may_count(signature: &SignatureFacts) -> bool {
    signature.kind.is_over_user() && signature.kind != SignatureType(0x11)
}

/// Returns whether a signature replaces an earlier one by the same issuer: a signature that is not revocable wins, else
/// the newer one.
fn takes_precedence(signature: &SignatureFacts, before: &SignatureFacts) -> bool {
    let is_final =
        |signature: &SignatureFacts| signature.kind.is_certification() && !signature.flags.revocable;
    match (is_final(before), is_final(signature)) {
        (true, false) => false,
        (false, true) => true,
        _ => signature.created >= before.created,
    }
}
