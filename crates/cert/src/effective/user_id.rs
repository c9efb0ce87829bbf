//! Evaluates user IDs and attributes.

use super::context::PacketView;
use super::self_signatures::{SelfSignatureFilter, newest};
use super::state::UserIdState;
use crate::facts::{Component, ComponentKind, Facts, SignatureFacts, SignatureType};
use crate::identity::Timestamp;

/// The evaluated user IDs and attributes, and their self-signatures.
pub(super) struct UserIdStates<'f> {
    /// The states, one for each component, so that indexes agree; those of keys stay empty.
    pub(super) states: Vec<UserIdState>,
    /// The valid self-signatures, in the order of the bytes.
    pub(super) bindings: Vec<&'f SignatureFacts>,
    /// Whether at least one has a self-signature, even if that is a revocation or expired.
    pub(super) any_signed: bool,
}

/// Evaluates all user IDs and attributes.
pub(super) fn evaluate<'f>(facts: &'f Facts, self_signatures: &SelfSignatureFilter<'_>) -> UserIdStates<'f> {
    let mut states = vec![UserIdState::default(); facts.components.len()];
    let mut bindings = Vec::new();
    for index in users(facts, self_signatures.context.view) {
        let component = &facts.components[index];
        let candidates =
            self_signatures.own(component).filter(|(_, signature)| signature.kind.is_over_user());
        if let Some((position, signature)) = newest(candidates) {
            let state = apply(position, signature, self_signatures);
            if !state.revoked && !state.expired {
                bindings.push(signature);
            }
            states[index] = state;
        }
    }
    let any_signed = states.iter().any(|state| state.binding.is_some());
    UserIdStates { states, bindings, any_signed }
}

/// Chooses the primary user ID: the one with the newest binding, of those marked as primary or else of all.
///
/// Of several bound in the same second, and if none is bound, it is the longest one, then the one whose bytes sort
/// last, so that the choice depends only on the user IDs.
pub(super) fn choose_primary(facts: &Facts, view: PacketView, states: &mut [UserIdState]) {
    let user_ids = || {
        users(facts, view).filter_map(|index| match &facts.components[index].kind {
            ComponentKind::UserId(value) => Some((index, value)),
            _ => None,
        })
    };
    let chosen = user_ids().max_by_key(|&(index, value)| {
        let UserIdState { primary, created, .. } = states[index];
        (primary, created, value.len(), value)
    });
    let chosen = chosen.map(|(index, _)| index);
    for (index, _) in user_ids() {
        states[index].primary = chosen == Some(index);
    }
}

/// Returns the indexes of the user IDs and attributes that count: GnuPG ignores those after the first subkey.
fn users(facts: &Facts, view: PacketView) -> impl Iterator<Item = usize> {
    let is_key = |component: &Component| matches!(component.kind, ComponentKind::Key(_));
    let components = facts.components.iter().enumerate().skip(1);
    let seen = components.take_while(move |(_, component)| view == PacketView::Full || !is_key(component));
    seen.filter(|(_, component)| component.kind.is_user()).map(|(index, _)| index)
}

fn apply(
    position: usize,
    signature: &SignatureFacts,
    self_signatures: &SelfSignatureFilter<'_>,
) -> UserIdState {
    let binding = Some(position);
    if signature.kind == SignatureType::CERTIFICATION_REVOCATION {
        return UserIdState { revoked: true, binding, ..UserIdState::default() };
    }
    let expires = signature.expires;
    if self_signatures.has_expired(signature) {
        return UserIdState { expired: true, expires, binding, ..UserIdState::default() };
    }
    UserIdState {
        created: Some(signature.created).filter(|&created| created != Timestamp(0)),
        expires,
        primary: signature.own.as_ref().is_some_and(|own| own.primary_user_id),
        binding,
        ..UserIdState::default()
    }
}
