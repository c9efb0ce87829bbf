//! User IDs and attributes.

use super::{Judge, UserState, newest};
use crate::facts::{ComponentKind, Facts, SignatureFacts, SignatureType};
use crate::identity::Timestamp;
use std::ops::Range;

/// What the user IDs and attributes mean, and what they say about the primary key.
pub(super) struct Users<'f> {
    /// One for each component, so that indexes agree; those of keys stay empty.
    pub(super) states: Vec<UserState>,
    /// The self-signatures that hold, in the order of the bytes.
    pub(super) bindings: Vec<&'f SignatureFacts>,
    /// At least one has a self-signature, even if that one is a revocation or has ended.
    pub(super) any_signed: bool,
}

/// Evaluates all user IDs and attributes; those behind the first subkey mean nothing, as in GnuPG.
pub(super) fn evaluate<'f>(facts: &'f Facts, judge: &Judge<'_>) -> Users<'f> {
    let mut states = vec![UserState::default(); facts.components.len()];
    let mut bindings = Vec::new();
    for index in before_subkeys(facts) {
        let component = &facts.components[index];
        if matches!(component.kind, ComponentKind::Unknown(_)) {
            continue;
        }
        let candidates = judge.own(component).filter(|(_, signature)| binds_or_revokes(signature));
        if let Some((position, signature)) = newest(candidates) {
            let state = apply(position, signature, judge);
            if !state.revoked && !state.expired {
                bindings.push(signature);
            }
            states[index] = state;
        }
    }
    let any_signed = states.iter().any(|state| state.binding.is_some());
    Users { states, bindings, any_signed }
}

/// Chooses the primary user ID: of those that say to be it, else of all, the one bound last.
///
/// Of several bound in the same second, and where none is bound at all, it is the longest one, then the one whose
/// bytes sort last: a choice that depends on nothing but the user IDs.
pub(super) fn choose_primary(facts: &Facts, states: &mut [UserState]) {
    let user_ids = || {
        before_subkeys(facts).filter_map(|index| match &facts.components[index].kind {
            ComponentKind::UserId(value) => Some((index, value)),
            _ => None,
        })
    };
    let chosen = user_ids().max_by_key(|&(index, value)| {
        let UserState { primary, created, .. } = states[index];
        (primary, created, value.len(), value)
    });
    let chosen = chosen.map(|(index, _)| index);
    for (index, _) in user_ids() {
        states[index].primary = chosen == Some(index);
    }
}

/// The components between the primary key and the first subkey.
fn before_subkeys(facts: &Facts) -> Range<usize> {
    let subkey = facts.components.iter().skip(1).position(|c| matches!(c.kind, ComponentKind::Key(_)));
    1..subkey.map_or(facts.components.len(), |position| position + 1)
}

fn binds_or_revokes(signature: &SignatureFacts) -> bool {
    signature.kind.is_certification() || signature.kind == SignatureType::CERTIFICATION_REVOCATION
}

fn apply(position: usize, signature: &SignatureFacts, judge: &Judge<'_>) -> UserState {
    let binding = Some(position);
    if signature.kind == SignatureType::CERTIFICATION_REVOCATION {
        return UserState { revoked: true, binding, ..UserState::default() };
    }
    let expires = signature.expires;
    if judge.has_expired(signature) {
        return UserState { expired: true, expires, binding, ..UserState::default() };
    }
    UserState {
        created: Some(signature.created).filter(|&created| created != Timestamp(0)),
        expires,
        primary: signature.own.as_ref().is_some_and(|own| own.primary_user_id),
        binding,
        ..UserState::default()
    }
}
