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
    /// The newest certification of each component that is not expired; none for GnuPG, which does not ask for it.
    certified: Vec<Option<&'f SignatureFacts>>,
    /// Whether at least one has a self-signature that is no revocation and not expired; for GnuPG, any.
    pub(super) any_signed: bool,
    /// Whether at least one of these is not revoked: only such a user ID binds the key. For GnuPG the same as
    /// `any_signed`.
    pub(super) any_bound: bool,
}

impl<'f> UserIdStates<'f> {
    /// Returns the newest certification of the primary user ID that is not expired. It describes the key even if that user
    /// ID is revoked.
    pub(super) fn primary(&self, facts: &Facts) -> Option<&'f SignatureFacts> {
        let is_primary = |index: &usize| {
            self.states[*index].primary && matches!(facts.components[*index].kind, ComponentKind::UserId(_))
        };
        let index = (0..self.states.len()).find(is_primary)?;
        self.certified.get(index).copied().flatten()
    }
}

/// Evaluates all user IDs and attributes.
pub(super) fn evaluate<'f>(facts: &'f Facts, self_signatures: &SelfSignatureFilter<'_>) -> UserIdStates<'f> {
    let mut states = vec![UserIdState::default(); facts.components.len()];
    let mut bindings = Vec::new();
    let are_gnupgs = self_signatures.are_gnupgs();
    let mut certified_by = if are_gnupgs { Vec::new() } else { vec![None; facts.components.len()] };
    let (mut any_signed, mut any_bound) = (false, false);
    for index in users(facts, self_signatures.context.view) {
        let component = &facts.components[index];
        let mut certified = None;
        if !are_gnupgs {
            let alive = alive(component, self_signatures);
            certified = newest(alive.filter(|(_, signature)| signature.kind.is_certification()));
            certified_by[index] = certified.map(|(_, signature)| signature);
        }
        if let Some((position, signature)) = deciding(component, certified, self_signatures) {
            let state = apply(position, signature, self_signatures);
            let is_in_force = !state.revoked && !state.expired;
            if is_in_force {
                bindings.push(signature);
            }
            any_bound |= is_in_force || are_gnupgs;
            states[index] = state;
        }
        any_signed |= if are_gnupgs { states[index].binding.is_some() } else { certified.is_some() };
    }
    UserIdStates { states, bindings, certified: certified_by, any_signed, any_bound }
}

/// Iterates over the self-signatures that count and are not expired.
fn alive<'f>(
    component: &'f Component,
    self_signatures: &SelfSignatureFilter<'_>,
) -> impl Iterator<Item = (usize, &'f SignatureFacts)> {
    let own = self_signatures.own(component).filter(|(_, signature)| signature.kind.is_over_user());
    own.filter(|(_, signature)| !self_signatures.has_expired(signature))
}

/// Returns the self-signature that decides about a user ID: for GnuPG the newest one, which may be expired; by RFC 9580
/// the newest one that is not expired, a revocation before a certification of the same second.
fn deciding<'f>(
    component: &'f Component,
    certified: Option<(usize, &'f SignatureFacts)>,
    self_signatures: &SelfSignatureFilter<'_>,
) -> Option<(usize, &'f SignatureFacts)> {
    let all = || self_signatures.own(component).filter(|(_, signature)| signature.kind.is_over_user());
    if self_signatures.are_gnupgs() {
        return newest(all());
    }
    let revoked = newest(alive(component, self_signatures).filter(|(_, one)| one.kind.revokes()));
    let newer = certified.filter(|(_, one)| revoked.is_none_or(|(_, revoked)| one.created > revoked.created));
    newer.or(revoked).or_else(|| newest(all().filter(|(_, signature)| signature.kind.is_certification())))
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
