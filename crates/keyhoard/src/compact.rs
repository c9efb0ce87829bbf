//! Removing what is of no use in a certificate, by GnuPG's rules for `import-clean`, `export-clean` and their minimal
//! forms.

use std::collections::HashMap;

use cert::certificate::{Certificate, Retained};
use cert::effective::{
    ComponentState, Effective, EvaluationContext, KeyState, PacketView, Usage, UserIdState, evaluate,
};
use cert::facts::{Component, ComponentKind, SignatureFacts, SignatureType};
use cert::{KeyId, Timestamp};

use crate::Result;
use crate::certifications::{CertificationStatus, Checker};

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

/// Returns a certificate without what is of no use in it.
///
/// `checker` decides which certifications are good. Of a user ID's certifications the newest good one of each issuer
/// stays, or its revocation; of a user ID that is not valid any more, only the self-signature that says so. Revoked
/// subkeys always stay.
///
/// # Errors
///
/// The database's errors.
pub fn compact(
    certificate: &Certificate,
    checker: &mut Checker<'_>,
    options: &CompactOptions,
    now: Timestamp,
) -> Result<Certificate> {
    let statuses = checker.certificate(certificate)?;
    let effective = evaluate(&certificate.facts, EvaluationContext::new(now, PacketView::Gnupg));
    let pruner = Pruner { certificate, effective: &effective, options };
    let kept: Vec<Vec<bool>> = (0..certificate.facts.components.len())
        .map(|number| pruner.kept_signatures(number, statuses.of(number)))
        .collect();
    let (mut number, mut index) = (0, 0);
    Ok(certificate.retain(|packet| match packet {
        Retained::Component(_) => {
            // `retain` does not ask for the primary key.
            (number, index) = (number + 1, 0);
            !pruner.drops_subkey(number)
        }
        Retained::Signature(..) => {
            index += 1;
            kept[number][index - 1]
        }
        Retained::Unread(component, _) => matches!(component.kind, ComponentKind::Unknown(_)),
    }))
}

struct Pruner<'a> {
    certificate: &'a Certificate,
    effective: &'a Effective,
    options: &'a CompactOptions,
}

impl Pruner<'_> {
    fn drops_subkey(&self, number: usize) -> bool {
        let ComponentState::Key(state) = &self.effective.components[number] else { return false };
        self.options.expired_subkeys && state.expired && state.revoked.is_none() && {
            let KeyState { usage, .. } = state;
            let has = |wanted| usage.contains(wanted);
            let only_receives = (has(Usage::ENCRYPT) || has(Usage::AUTHENTICATE))
                && !(has(Usage::SIGN) || has(Usage::CERTIFY));
            self.options.minimal || only_receives
        }
    }

    /// Says which of a component's signatures stay.
    fn kept_signatures(&self, number: usize, statuses: &[CertificationStatus]) -> Vec<bool> {
        let component = &self.certificate.facts.components[number];
        match &self.effective.components[number] {
            ComponentState::Key(_) if number == 0 => vec![true; statuses.len()],
            ComponentState::Key(state) => self.bindings(component, state),
            ComponentState::User(state) => {
                self.compacted(component, state).unwrap_or_else(|| self.usable(component, statuses))
            }
            ComponentState::Unknown => vec![true; statuses.len()],
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
    fn usable(&self, component: &Component, statuses: &[CertificationStatus]) -> Vec<bool> {
        let own = self.certificate.facts.primary().fingerprint.key_id();
        let mut best: HashMap<KeyId, usize> = HashMap::new();
        for (index, signature) in component.signatures.iter().enumerate() {
            if !matches!(statuses[index], CertificationStatus::Good(_)) || !self.counts(signature) {
                continue;
            }
            let issuer = signature.issuer.key_id;
            match best.get(&issuer) {
                Some(&other) if !is_better(signature, &component.signatures[other]) => {}
                _ => drop(best.insert(issuer, index)),
            }
        }
        let keeps = |(index, signature): (usize, &SignatureFacts)| {
            best.get(&signature.issuer.key_id) == Some(&index)
                && (!self.options.minimal || signature.issuer.key_id == own)
        };
        component.signatures.iter().enumerate().map(keeps).collect()
    }

    fn counts(&self, signature: &SignatureFacts) -> bool {
        let level = signature.kind.0.wrapping_sub(SignatureType::GENERIC_CERTIFICATION.0);
        let too_low = (1..=3).contains(&level) && level < self.options.min_cert_level;
        signature.kind.is_over_user() && !too_low
    }
}

/// Says whether a later signature replaces an earlier one of the same issuer.
fn is_better(later: &SignatureFacts, earlier: &SignatureFacts) -> bool {
    let is_final = |it: &SignatureFacts| it.kind.is_certification() && !it.flags.revocable;
    match (is_final(earlier), is_final(later)) {
        (true, false) => false,
        (false, true) => true,
        _ => later.created >= earlier.created,
    }
}
