//! The properties of user IDs, keys and signatures for filter expressions, as in gpg's manual.

use std::borrow::Cow;

use engine::cert::Timestamp;
use engine::cert::attribute;
use engine::cert::certificate::{Certificate, Retained};
use engine::cert::effective::{ComponentState, Effective, KeyState, PacketView, Usage, UserIdState};
use engine::cert::facts::{Component, ComponentKind, Facts, KeyFacts, SignatureFacts, SignatureType};
use engine::cert::mailbox::mailbox;
use engine::configuration::Compat;

use crate::clock;
use crate::filter::Filter;
use crate::render::algorithm;
use crate::render::colons::capabilities;

/// Returns for each component whether a `keep-uid` filter keeps it: it drops user IDs and attributes that do not match.
pub(crate) fn kept_user_ids(filter: &Filter, facts: &Facts, effective: &Effective) -> Vec<bool> {
    kept_components(facts, effective, |component, state| match (&component.kind, state) {
        (ComponentKind::UserId(value), ComponentState::User(state)) => {
            filter.selects(|property| user_id(value, state, property))
        }
        (ComponentKind::Attribute(value), ComponentState::User(state)) => {
            let name = attribute::name(value).into_bytes();
            filter.selects(|property| user_id(&name, state, property))
        }
        _ => true,
    })
}

/// Returns for each component whether a `drop-subkey` filter keeps it: it drops subkeys that match.
pub(crate) fn kept_subkeys(filter: &Filter, facts: &Facts, effective: &Effective) -> Vec<bool> {
    let primary = facts.primary().fingerprint;
    kept_components(facts, effective, |component, state| match (&component.kind, state) {
        (ComponentKind::Key(facts), ComponentState::Key(state)) if facts.fingerprint != primary => {
            !filter.selects(|property| key(facts, state, false, property))
        }
        _ => true,
    })
}

/// Says whether a `select` filter lists a certificate: it does if one of its components or signatures matches.
pub(crate) fn selects_certificate(
    filter: &Filter,
    facts: &Facts,
    effective: &Effective,
    is_disabled: bool,
    now: Timestamp,
) -> bool {
    let primary = facts.primary().fingerprint;
    facts.components.iter().zip(&effective.components).any(|(component, state)| {
        let is_selected = match (&component.kind, state) {
            (ComponentKind::Key(facts), ComponentState::Key(state)) => {
                let is_disabled = is_disabled && facts.fingerprint == primary;
                filter.selects(|property| key(facts, state, is_disabled, property))
            }
            (ComponentKind::UserId(value), ComponentState::User(state)) => {
                filter.selects(|property| user_id(value, state, property))
            }
            (ComponentKind::Attribute(value), ComponentState::User(state)) => {
                let name = attribute::name(value).into_bytes();
                filter.selects(|property| user_id(&name, state, property))
            }
            _ => false,
        };
        is_selected
            || component
                .signatures
                .iter()
                .filter(|signature| PacketView::Gnupg.shows(signature))
                .any(|signature| filter.selects(|property| of_signature(signature, now, property)))
    })
}

/// Returns a certificate without the components that are `false` in `kept`; the primary key stays.
pub(crate) fn retain(certificate: &Certificate, kept: &[bool]) -> Certificate {
    let mut number = 0;
    certificate.retain(|asked| match asked {
        Retained::Component(_) => {
            number += 1;
            kept.get(number) != Some(&false)
        }
        _ => true,
    })
}

/// Says whether a `drop-sig` filter keeps a signature: it drops certifications by other keys that match.
pub(crate) fn keeps_signature(
    filter: &Filter,
    facts: &Facts,
    component: &Component,
    signature: &SignatureFacts,
    now: Timestamp,
) -> bool {
    let on_user_id = matches!(component.kind, ComponentKind::UserId(_) | ComponentKind::Attribute(_));
    let certifies =
        signature.kind.is_certification() || signature.kind == SignatureType::CERTIFICATION_REVOCATION;
    let own = signature.issuer.key_id == facts.primary().fingerprint.key_id();
    !on_user_id || !certifies || own || !filter.selects(|property| of_signature(signature, now, property))
}

fn kept_components(
    facts: &Facts,
    effective: &Effective,
    keeps: impl Fn(&Component, &ComponentState) -> bool,
) -> Vec<bool> {
    facts
        .components
        .iter()
        .zip(&effective.components)
        .map(|(component, state)| keeps(component, state))
        .collect()
}

fn user_id<'a>(value: &'a [u8], state: &UserIdState, property: &str) -> Option<Cow<'a, [u8]>> {
    Some(match property {
        "uid" => value.into(),
        "mbox" => mailbox(value)?.into(),
        "primary" => truth(state.primary),
        "expired" => truth(state.expired),
        "revoked" => truth(state.revoked),
        _ => return None,
    })
}

/// Returns a property of a key; in gpg no subkey is disabled.
fn key(facts: &KeyFacts, state: &KeyState, is_disabled: bool, property: &str) -> Option<Cow<'static, [u8]>> {
    Some(match property {
        "secret" => truth(false),
        "disabled" => truth(is_disabled),
        "key_algo" => text(facts.algorithm.0),
        "key_size" => text(facts.bits),
        "algostr" => {
            let mut name = Vec::new();
            algorithm::description(facts, false, Compat::V2_4, &mut name);
            name.into()
        }
        "key_created" => text(facts.created.0),
        "key_created_d" => date(facts.created),
        "expired" => truth(state.expired),
        "revoked" => truth(state.revoked.is_some()),
        "usage" => usage(state.usage),
        "fpr" => text(facts.fingerprint),
        _ => return None,
    })
}

fn of_signature(signature: &SignatureFacts, now: Timestamp, property: &str) -> Option<Cow<'static, [u8]>> {
    Some(match property {
        "sig_created" => text(signature.created.0),
        "sig_created_d" => date(signature.created),
        "sig_algo" => text(signature.key_algorithm.0),
        "sig_digest_algo" => text(signature.hash_algorithm.0),
        "expired" => truth(signature.has_expired(now)),
        _ => return None,
    })
}

fn truth(holds: bool) -> Cow<'static, [u8]> {
    Cow::Borrowed(if holds { b"1" } else { b"0" })
}

fn text(value: impl std::fmt::Display) -> Cow<'static, [u8]> {
    Cow::Owned(value.to_string().into_bytes())
}

fn date(time: Timestamp) -> Cow<'static, [u8]> {
    text(clock::day_string(time))
}

fn usage(usage: Usage) -> Cow<'static, [u8]> {
    let mut letters = Vec::new();
    capabilities(usage, Compat::V2_4, &mut letters);
    letters.into()
}
