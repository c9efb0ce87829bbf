//! Removes unusable parts of certificates, by GnuPG's rules for `import-clean`, `import-minimal`, `export-clean` and
//! `export-minimal`.

use crate::certificate::{Certificate, Retained};
use crate::effective::{
    ComponentState, Effective, EvaluationContext, KeyState, PacketView, Usage, UserIdState, evaluate,
};
use crate::facts::{Component, ComponentKind, SignatureFacts, SignatureType};
use crate::identity::{KeyId, Timestamp};
use std::collections::HashMap;

/// What is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompactOptions {
    /// Keeps no certifications but the self-signatures.
    pub minimal: bool,
    /// Removes expired subkeys: those that only encrypt or authenticate, or with `minimal` all of them.
    pub expired_subkeys: bool,
    /// Certifications of a lower level count as invalid, except for those that claim no level (GnuPG's
    /// `--min-cert-level`).
    pub min_cert_level: u8,
    /// Leaves user IDs without self-signature as they are.
    pub accept_unsigned_user_ids: bool,
}

/// Returns a certificate without its unusable parts.
///
/// `is_good` decides whether a signature of a user ID is good, by the indexes of component and signature. Of a user ID's
/// certifications the newest good one of each issuer stays, or its revocation; of a user ID that is not valid any more,
/// only the self-signature that says so. Revoked subkeys always stay, and so do possible revocations that are not
/// verified yet.
pub fn compact(
    certificate: &Certificate,
    is_good: &dyn Fn(usize, usize) -> bool,
    options: &CompactOptions,
    now: Timestamp,
) -> Certificate {
    let effective = evaluate(&certificate.facts, EvaluationContext::new(now, PacketView::Gnupg));
    let pruner = Pruner { certificate, effective: &effective, is_good, options };
    let kept: Vec<Vec<bool>> =
        (0..certificate.facts.components.len()).map(|number| pruner.kept_signatures(number)).collect();
    let (mut number, mut index) = (0, 0);
    certificate.retain(|packet| match packet {
        Retained::Component(_) => {
            // `retain` does not ask for the primary key.
            (number, index) = (number + 1, 0);
            !pruner.drops_subkey(number)
        }
        Retained::Signature(_, signature) => {
            index += 1;
            kept[number][index - 1] || signature.is_pending()
        }
        Retained::Unread(component, _) => matches!(component.kind, ComponentKind::Unknown(_)),
    })
}

struct Pruner<'a> {
    certificate: &'a Certificate,
    effective: &'a Effective,
    is_good: &'a dyn Fn(usize, usize) -> bool,
    options: &'a CompactOptions,
}

impl Pruner<'_> {
    fn drops_subkey(&self, number: usize) -> bool {
        let ComponentState::Key(state) = &self.effective.components[number] else { return false };
        let has = |usage| state.usage.contains(usage);
        let only_receives =
            (has(Usage::ENCRYPT) || has(Usage::AUTHENTICATE)) && !(has(Usage::SIGN) || has(Usage::CERTIFY));
        let is_unused = self.options.minimal || only_receives;
        self.options.expired_subkeys && state.expired && state.revoked.is_none() && is_unused
    }

    /// Returns which of a component's signatures stay.
    fn kept_signatures(&self, number: usize) -> Vec<bool> {
        let component = &self.certificate.facts.components[number];
        let all = || vec![true; component.signatures.len()];
        match &self.effective.components[number] {
            ComponentState::Key(_) if number == 0 => all(),
            ComponentState::Key(state) => self.bindings(component, state),
            ComponentState::User(state) => {
                self.compacted(component, state).unwrap_or_else(|| self.usable(number, component))
            }
            ComponentState::Unknown => all(),
        }
    }

    /// Under a subkey only bindings and revocations belong; where subkeys are pruned, only the binding in force.
    fn bindings(&self, component: &Component, state: &KeyState) -> Vec<bool> {
        let in_force = state.binding.filter(|_| self.options.expired_subkeys);
        let keeps = |(index, signature): (usize, &SignatureFacts)| match signature.kind {
            SignatureType::SUBKEY_REVOCATION => true,
            SignatureType::SUBKEY_BINDING => in_force.is_none_or(|in_force| in_force == index),
            _ => false,
        };
        component.signatures.iter().enumerate().map(keeps).collect()
    }

    /// Of a user ID that is not valid any more only the self-signature that says so stays; `None` if it is valid, or
    /// there is nothing else.
    fn compacted(&self, component: &Component, state: &UserIdState) -> Option<Vec<bool>> {
        let unsigned = !state.expired && !state.revoked;
        if state.created.is_some() || (unsigned && self.options.accept_unsigned_user_ids) {
            return None;
        }
        let kept: Vec<bool> =
            (0..component.signatures.len()).map(|index| state.binding == Some(index)).collect();
        kept.contains(&false).then_some(kept)
    }

    /// Of each issuer's good certifications and revocations the newest stays; one that cannot be revoked and is one
    /// of a user ID comes before all that can.
    fn usable(&self, number: usize, component: &Component) -> Vec<bool> {
        let own = self.certificate.facts.primary().fingerprint.key_id();
        let issuer = |signature: &SignatureFacts| match signature.own {
            Some(_) => own,
            None => signature.issuer.key_id,
        };
        let mut best: HashMap<KeyId, usize> = HashMap::new();
        for (index, signature) in component.signatures.iter().enumerate() {
            let counts =
                signature.kind.is_over_user() && signature.kind.has_cert_level(self.options.min_cert_level);
            if !counts || !(self.is_good)(number, index) {
                continue;
            }
            let issuer = issuer(signature);
            match best.get(&issuer) {
                Some(&other) if !is_better(signature, &component.signatures[other]) => {}
                _ => drop(best.insert(issuer, index)),
            }
        }
        // GnuPG knows no approvals, so that it cleans none.
        let is_approval = |signature: &SignatureFacts| {
            signature.kind == SignatureType::CERTIFICATION_APPROVAL && signature.is_good()
        };
        let keeps = |(index, signature): (usize, &SignatureFacts)| {
            is_approval(signature)
                || best.get(&issuer(signature)) == Some(&index)
                    && (!self.options.minimal || issuer(signature) == own)
        };
        component.signatures.iter().enumerate().map(keeps).collect()
    }
}

/// Returns whether a later signature replaces an earlier one of the same issuer.
fn is_better(later: &SignatureFacts, earlier: &SignatureFacts) -> bool {
    let is_final =
        |signature: &SignatureFacts| signature.kind.is_certification() && !signature.flags.revocable;
    match (is_final(earlier), is_final(later)) {
        (true, false) => false,
        (false, true) => true,
        _ => later.created >= earlier.created,
    }
}
