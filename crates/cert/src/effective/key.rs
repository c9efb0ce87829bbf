//! Evaluates the primary key and the subkeys.

use super::context::DesignatedRevocation;
use super::self_signatures::{SelfSignatureFilter, newest};
use super::state::{ComponentState, KeyState, Revocation};
use super::usage::{Usage, is_usable};
use super::user_id::UserIdStates;
use crate::facts::{Component, ComponentKind, Facts, KeyFacts, Revoker, SignatureFacts, SignatureType};
use crate::identity::{Fingerprint, Timestamp};
use verify::policy::accepts_subkey_binding;

/// Evaluates the primary key from the direct-key signature and those of the user IDs, separately for usage and
/// expiration time. Returns also the designated revokers, each once, in the order of the signatures.
pub(super) fn primary<'f>(
    facts: &'f Facts,
    users: &UserIdStates<'f>,
    self_signatures: &SelfSignatureFilter<'_>,
) -> (KeyState, Vec<Revoker>) {
    let component = &facts.components[0];
    let binding = direct_binding(facts, self_signatures);
    let direct = binding.map(|(_, signature)| signature);
    // Who named a revoker cannot take that back.
    let named = self_signatures.of_any_time(component).map(|(_, signature)| signature);
    let revokers = revokers(named.filter(|signature| signature.kind == SignatureType::DIRECT_KEY));
    let of_user = users.primary(facts);
    let bound = direct.into_iter().chain(of_user).map(|signature| signature.created).max();
    let (usage, expires) = match self_signatures.are_gnupgs() {
        true => said_to_gnupg(direct, users, self_signatures),
        false => said(direct, of_user, self_signatures),
    };
    let state = KeyState {
        valid: binding.is_some() || users.any_bound,
        self_signed: binding.is_some() || users.any_signed,
        revoked: primary_revocation(component, bound, !revokers.is_empty(), self_signatures),
        expires,
        expired: self_signatures.is_expired_key(expires),
        usage: usage | Usage::CERTIFY,
        binding: binding.map(|(index, _)| index),
    };
    (state, revokers)
}

/// Returns usage and expiration time of the primary key as GnuPG does: a direct-key signature goes before all user IDs
/// and attributes, of which the newest one counts.
fn said_to_gnupg(
    direct: Option<&SignatureFacts>,
    users: &UserIdStates<'_>,
    self_signatures: &SelfSignatureFilter<'_>,
) -> (Usage, Option<Timestamp>) {
    let key = self_signatures.primary;
    let named = |usage: &Usage| !usage.is_unset();
    let usage = direct
        .map(flags)
        .filter(named)
        .or_else(|| latest(&users.bindings, |signature| Some(flags(signature)).filter(named)));
    let ends = |signature: &SignatureFacts| self_signatures.key_expiration(key.created, signature);
    let expires = direct.and_then(ends).or_else(|| latest(&users.bindings, ends));
    (usage.unwrap_or_default().under(key.algorithm), expires)
}

/// Returns usage and expiration time of the primary key by RFC 9580, 5.2.3.10: what the primary user ID says, even if it is
/// revoked, goes before a direct-key signature, for keys of version 6 behind it. Without key flags it has no usage.
fn said(
    direct: Option<&SignatureFacts>,
    of_user: Option<&SignatureFacts>,
    self_signatures: &SelfSignatureFilter<'_>,
) -> (Usage, Option<Timestamp>) {
    let key = self_signatures.primary;
    let order = match key.fingerprint {
        Fingerprint::V6(_) => [direct, of_user],
        _ => [of_user, direct],
    };
    let order = || order.into_iter().flatten();
    let usage = order().map(flags).find(|usage| !usage.is_unset());
    let ends = order().find(|signature| signature.own.as_ref().is_some_and(|own| own.key_expires.is_some()));
    let expires = ends.and_then(|signature| self_signatures.key_expiration(key.created, signature));
    (usage.unwrap_or(Usage::NONE).under(key.algorithm), expires)
}

/// Returns the newest direct-key signature that is not expired.
fn direct_binding<'f>(
    facts: &'f Facts,
    self_signatures: &SelfSignatureFilter<'_>,
) -> Option<(usize, &'f SignatureFacts)> {
    let direct = self_signatures.of_kind(&facts.components[0], SignatureType::DIRECT_KEY);
    newest(direct.filter(|(_, signature)| !self_signatures.has_expired(signature)))
}

/// Evaluates a subkey: the newest binding signature that is not expired counts, and any revocation. By RFC 9580 the key
/// flags of a direct-key signature count where it has none, and without any it has no usage.
pub(super) fn subkey(
    facts: &Facts,
    key: &KeyFacts,
    component: &Component,
    primary: &KeyState,
    self_signatures: &SelfSignatureFilter<'_>,
) -> KeyState {
    let bindings = self_signatures
        .of_kind(component, SignatureType::SUBKEY_BINDING)
        .filter(|(_, signature)| !self_signatures.has_expired(signature))
        .filter(|(_, signature)| accepts_subkey_binding(key.algorithm, signature.hash_algorithm));
    let binding = newest(bindings);
    let bound = binding.map(|(_, signature)| signature.created);
    let revoked = self_signatures.revocation(component, SignatureType::SUBKEY_REVOCATION, bound);

    let mut state = KeyState { revoked: revoked.or(primary.revoked), ..KeyState::default() };
    if let Some((index, signature)) = binding {
        let direct = primary.binding.filter(|_| !self_signatures.are_gnupgs());
        let of_primary = || {
            let usage = direct.map(|direct| flags(&facts.components[0].signatures[direct]));
            usage.filter(|usage| !usage.is_unset())
        };
        let own = Some(flags(signature)).filter(|usage| !usage.is_unset());
        state.valid = is_usable(key.algorithm, key.fingerprint.version()) && primary.valid;
        let missing = if self_signatures.are_gnupgs() { Usage::default() } else { Usage::NONE };
        state.usage = own.or_else(of_primary).unwrap_or(missing).under(key.algorithm);
        state.expires = self_signatures.key_expiration(key.created, signature);
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

/// Returns the key's own revocation that counts, for GnuPG the last one in the order of the bytes, else one by a
/// designated revoker. Revocations of keys cannot be revoked.
fn primary_revocation(
    component: &Component,
    bound: Option<Timestamp>,
    has_revokers: bool,
    self_signatures: &SelfSignatureFilter<'_>,
) -> Option<Revocation> {
    let own = self_signatures.revocation(component, SignatureType::KEY_REVOCATION, bound);
    let is_over = |revocation: &DesignatedRevocation| {
        let DesignatedRevocation { date, since, is_hard } = *revocation;
        !(self_signatures.are_gnupgs() || is_hard)
            && (since > self_signatures.context.now || bound.is_some_and(|bound| bound > date))
    };
    own.or_else(|| {
        let designated = self_signatures.context.designated_revocation.filter(|_| has_revokers)?;
        (!is_over(&designated)).then_some(Revocation { date: designated.date, designated: true })
    })
}
