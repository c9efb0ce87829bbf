//! Evaluates the primary key and the subkeys.

use super::self_signatures::{SelfSignatureFilter, key_expiration, newest};
use super::state::{ComponentState, KeyState, Revocation};
use super::usage::{Usage, is_usable};
use super::user_id::UserIdStates;
use crate::facts::{Component, ComponentKind, Facts, KeyFacts, Revoker, SignatureFacts, SignatureType};
use crate::identity::{Fingerprint, Timestamp};
use verify::policy::accepts_subkey_binding;

/// Evaluates the primary key: a direct-key signature takes precedence over those of the user IDs and attributes,
/// separately for usage and expiration time. Returns also the designated revokers, each once, in the order of the
/// signatures.
pub(super) fn primary(
    facts: &Facts,
    users: &UserIdStates<'_>,
    self_signatures: &SelfSignatureFilter<'_>,
) -> (KeyState, Vec<Revoker>) {
    let component = &facts.components[0];
    let key = self_signatures.primary;
    let direct = || self_signatures.of_kind(component, SignatureType::DIRECT_KEY);
    let binding = newest(direct().filter(|(_, signature)| !self_signatures.has_expired(signature)));
    let revokers = revokers(direct().map(|(_, signature)| signature));

    let named = |usage: &Usage| !usage.is_unset();
    let usage = binding
        .map(|(_, signature)| flags(signature))
        .filter(named)
        .or_else(|| latest(&users.bindings, |signature| Some(flags(signature)).filter(named)))
        .unwrap_or_default();
    let expires = binding
        .and_then(|(_, signature)| key_expiration(key.created, signature))
        .or_else(|| latest(&users.bindings, |signature| key_expiration(key.created, signature)));

    let state = KeyState {
        valid: binding.is_some() || users.any_signed,
        revoked: primary_revocation(component, !revokers.is_empty(), self_signatures),
        expires,
        expired: self_signatures.is_expired_key(expires),
        usage: usage.under(key.algorithm) | Usage::CERTIFY,
        binding: binding.map(|(index, _)| index),
    };
    (state, revokers)
}

/// Evaluates a subkey: the newest binding signature that is not expired counts, and any revocation.
pub(super) fn subkey(
    key: &KeyFacts,
    component: &Component,
    primary: &KeyState,
    self_signatures: &SelfSignatureFilter<'_>,
) -> KeyState {
    let bindings = self_signatures
        .of_kind(component, SignatureType::SUBKEY_BINDING)
        .filter(|(_, signature)| !self_signatures.has_expired(signature))
        .filter(|(_, signature)| accepts_subkey_binding(key.algorithm, signature.hash_algorithm));
    let revocation = self_signatures.of_kind(component, SignatureType::SUBKEY_REVOCATION).last();
    let revoked = revocation.map(|(_, signature)| Revocation { date: signature.created, designated: false });

    let mut state = KeyState { revoked: revoked.or(primary.revoked), ..KeyState::default() };
    if let Some((index, signature)) = newest(bindings) {
        state.valid = is_usable(key.algorithm, key.fingerprint.version()) && primary.valid;
        state.usage = flags(signature).under(key.algorithm);
        state.expires = key_expiration(key.created, signature);
        state.expired = self_signatures.is_expired_key(state.expires);
        state.binding = Some(index);
    }
    state.expired |= primary.expired;
    state
}

/// Lets the newest binding signature and every revocation of a subkey count for all its occurrences, since everybody can
/// repeat a subkey with some of its signatures.
pub(super) fn join_repeated_subkeys(facts: &Facts, states: &mut [ComponentState]) {
    let mut subkeys: Vec<(&Fingerprint, usize)> = Vec::new();
    for (index, component) in facts.components.iter().enumerate().skip(1) {
        if let ComponentKind::Key(subkey) = &component.kind {
            subkeys.push((&subkey.fingerprint, index));
        }
    }
    subkeys.sort_unstable();
    for occurrences in subkeys.chunk_by(|a, b| a.0 == b.0).filter(|occurrences| occurrences.len() > 1) {
        let state = |&(_, index): &(&Fingerprint, usize)| match states[index] {
            ComponentState::Key(state) => Some((index, state)),
            _ => None,
        };
        let all: Vec<(usize, KeyState)> = occurrences.iter().filter_map(state).collect();
        let bound = |&&(index, state): &&(usize, KeyState)| {
            state.binding.map(|binding| facts.components[index].signatures[binding].created)
        };
        let newest = all.iter().rev().max_by_key(bound).map(|(_, state)| *state).unwrap_or_default();
        let revoked = all.iter().find_map(|(_, state)| state.revoked);
        for (index, state) in all {
            let revoked = state.revoked.or(revoked);
            states[index] = ComponentState::Key(KeyState { revoked, binding: state.binding, ..newest });
        }
    }
}

fn flags(signature: &SignatureFacts) -> Usage {
    Usage::from_flags(signature.own.as_ref().and_then(|own| own.key_flags))
}

/// Returns the value of the newest signature that has one; of several of the same second, of the first one.
fn latest<T>(signatures: &[&SignatureFacts], say: impl Fn(&SignatureFacts) -> Option<T>) -> Option<T> {
    let mut best: Option<(Timestamp, T)> = None;
    for signature in signatures {
        if best.as_ref().is_none_or(|(date, _)| signature.created > *date) {
            best = say(signature).map(|value| (signature.created, value)).or(best);
        }
    }
    best.map(|(_, value)| value)
}

fn revokers<'c>(direct: impl Iterator<Item = &'c SignatureFacts>) -> Vec<Revoker> {
    let mut revokers: Vec<Revoker> = Vec::new();
    for revoker in direct.filter_map(|signature| signature.own.as_ref()).flat_map(|own| &own.revokers) {
        if !revokers.contains(revoker) {
            revokers.push(*revoker);
        }
    }
    revokers
}

/// Returns the key's own revocation, the last one in the order of the bytes, else one by a designated revoker.
/// Revocations of keys cannot be revoked.
fn primary_revocation(
    component: &Component,
    has_revokers: bool,
    self_signatures: &SelfSignatureFilter<'_>,
) -> Option<Revocation> {
    if let Some((_, signature)) = self_signatures.of_kind(component, SignatureType::KEY_REVOCATION).last() {
        return Some(Revocation { date: signature.created, designated: false });
    }
    let date = self_signatures.context.designated_revocation.filter(|_| has_revokers)?;
    Some(Revocation { date, designated: true })
}
