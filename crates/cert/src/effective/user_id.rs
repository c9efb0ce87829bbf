//! User IDs and attributes.

use super::context::PacketView;
use super::self_signatures::{SelfSignatureFilter, newest};
use super::state::UserIdState;
use crate::facts::{Component, ComponentKind, Facts, SignatureFacts, SignatureType};
use crate::identity::Timestamp;

/// What the user IDs and attributes mean, and what they say about the primary key.
pub(super) struct UserIdStates<'f> {
    /// One for each component, so that indexes agree; those of keys stay empty.
    pub(super) states: Vec<UserIdState>,
    /// The self-signatures that hold, in the order of the bytes.
    pub(super) bindings: Vec<&'f SignatureFacts>,
    /// At least one has a self-signature, even if that one is a revocation or has ended.
    pub(super) any_signed: bool,
}

/// Evaluates all user IDs and attributes.
pub(super) fn evaluate<'f>(facts: &'f Facts, judge: &SelfSignatureFilter<'_>) -> UserIdStates<'f> {
    let mut states = vec![UserIdState::default(); facts.components.len()];
    let mut bindings = Vec::new();
    for index in users(facts, judge.moment.view) {
        let component = &facts.components[index];
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
    UserIdStates { states, bindings, any_signed }
}

/// Chooses the primary user ID: of those that say to be it, else of all, the one bound last.
///
/// Of several bound in the same second, and where none is bound at all, it is the longest one, then the one whose
/// bytes sort last: a choice that depends on nothing but the user IDs.
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

/// The user IDs and attributes that count: those behind the first subkey mean nothing to GnuPG.
fn users(facts: &Facts, view: PacketView) -> impl Iterator<Item = usize> {
    let is_key = |component: &Component| matches!(component.kind, ComponentKind::Key(_));
    let components = facts.components.iter().enumerate().skip(1);
    let seen = components.take_while(move |(_, component)| view == PacketView::Full || !is_key(component));
    let is_user = |component: &Component| {
        matches!(component.kind, ComponentKind::UserId(_) | ComponentKind::Attribute(_))
    };
    seen.filter(move |(_, component)| is_user(component)).map(|(index, _)| index)
}

fn binds_or_revokes(signature: &SignatureFacts) -> bool {
    signature.kind.is_certification() || signature.kind == SignatureType::CERTIFICATION_REVOCATION
}

fn apply(position: usize, signature: &SignatureFacts, judge: &SelfSignatureFilter<'_>) -> UserIdState {
    let binding = Some(position);
    if signature.kind == SignatureType::CERTIFICATION_REVOCATION {
        return UserIdState { revoked: true, binding, ..UserIdState::default() };
    }
    let expires = signature.expires;
    if judge.has_expired(signature) {
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
