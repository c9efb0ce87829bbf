//! What a certificate says about itself at the moment, as far as certifications of it are concerned.

use std::borrow::Cow;

use cert::effective::objections::{IssuerKey, Objection, objections};
use cert::effective::{ComponentState, Effective};
use cert::facts::{Component, ComponentKind, Facts, SignatureType};
use cert::{Timestamp, attribute};
use trust::pgp::{CertificateUser, IntroducerStatus};

/// Returns what a certificate says about its user IDs and attributes.
pub(super) fn all(facts: &Facts, effective: &Effective) -> Vec<CertificateUser> {
    let users = users(facts).map(|(component, Component { kind, .. })| CertificateUser {
        component,
        live: is_live(effective, component),
        name: name(kind).into(),
    });
    users.collect()
}

/// Iterates over the user IDs and attributes with their indices.
pub(crate) fn users(facts: &Facts) -> impl Iterator<Item = (usize, &Component)> {
    let is_user =
        |kind: &ComponentKind| matches!(kind, ComponentKind::UserId(_) | ComponentKind::Attribute(_));
    facts.components.iter().enumerate().filter(move |(_, component)| is_user(&component.kind))
}

/// Returns a user ID, or what GnuPG calls an attribute.
pub(crate) fn name(kind: &ComponentKind) -> Cow<'_, [u8]> {
    match kind {
        ComponentKind::UserId(value) => value.as_slice().into(),
        ComponentKind::Attribute(facts) => attribute::name(facts).into_bytes().into(),
        ComponentKind::Key(_) | ComponentKind::Unknown(_) => Cow::Borrowed(&[]),
    }
}

/// Says whether a certificate's primary key [may certify](objections) others now.
pub(crate) fn status(facts: &Facts, effective: &Effective) -> IntroducerStatus {
    // No certification is asked about, so its time does not matter.
    let created = facts.primary().created;
    let issuer = IssuerKey::primary(facts, effective);
    let found = objections(&issuer, SignatureType::GENERIC_CERTIFICATION, created, created);
    let is_dead = found.contains(Objection::Revoked) || found.contains(Objection::Expired);
    if is_dead || !effective.fully_checked {
        IntroducerStatus::Dead
    } else if found.is_empty() {
        IntroducerStatus::Usable
    } else {
        IntroducerStatus::Unbound
    }
}

/// Says whether nothing about a certificate itself keeps certifications from making its user IDs valid.
pub(crate) fn can_be_valid(facts: &Facts, effective: &Effective, now: Timestamp) -> bool {
    status(facts, effective) != IntroducerStatus::Dead && facts.primary().created <= now
}

/// Says whether a component is a user ID or attribute that is neither revoked nor expired.
pub(crate) fn is_live(effective: &Effective, component: usize) -> bool {
    matches!(&effective.components[component], ComponentState::User(user) if !user.revoked && !user.expired)
}
