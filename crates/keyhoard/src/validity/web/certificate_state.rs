//! What a certificate says about itself at the moment, as far as certifications of it are concerned.

use std::borrow::Cow;

use cert::effective::objections::{IssuerKey, Objection, objections};
use cert::effective::{ComponentState, Effective};
use cert::facts::{Component, ComponentKind, Facts, SignatureType};
use cert::{Fingerprint, Timestamp, attribute};
use trust::pgp::{Certificate, Certification, CertifiedUserId, Interest, IntroducerStatus};

/// Is told of a certificate, and returns which further certifications of it matter.
pub(super) type Visit<'v> = dyn FnMut(Certificate<'_>) -> Interest + 'v;

/// What a certificate says about itself.
pub(super) struct CertificateState {
    pub(super) key: Fingerprint,
    pub(super) created: Timestamp,
    pub(super) standing: IntroducerStatus,
    /// Its user IDs and attributes.
    pub(super) users: Box<[CertificateUserId]>,
}

/// What a certificate says about a user ID or attribute.
pub(super) struct CertificateUserId {
    /// Its place among the components.
    pub(super) component: usize,
    pub(super) live: bool,
    pub(super) name: Box<[u8]>,
}

impl CertificateState {
    pub(super) fn new(facts: &Facts, effective: &Effective) -> Self {
        let users = users(facts).map(|(component, Component { kind, .. })| CertificateUserId {
            component,
            live: is_live(effective, component),
            name: name(kind).into(),
        });
        let primary = facts.primary();
        Self {
            key: primary.fingerprint,
            created: primary.created,
            standing: standing(facts, effective),
            users: users.collect(),
        }
    }

    /// Hands it out with certifications of its components, which ascend, and returns what still matters of it.
    pub(super) fn hand_out<'c>(
        &self,
        certified: impl Iterator<Item = (usize, Certification<'c>)>,
        visit: &mut Visit<'_>,
    ) -> Interest {
        let mut certified = certified.peekable();
        let mut certifications = Vec::with_capacity(certified.size_hint().1.unwrap_or_default());
        let mut ends = Vec::with_capacity(self.users.len());
        for user in &self.users {
            while let Some((component, certification)) = certified.next_if(|(it, _)| *it <= user.component) {
                if component == user.component {
                    certifications.push(certification);
                }
            }
            ends.push(certifications.len());
        }
        if certifications.is_empty() {
            return Interest::All;
        }
        let mut start = 0;
        let users = self.users.iter().zip(ends).map(|(user, end)| CertifiedUserId {
            component: user.component,
            live: user.live,
            name: (&*user.name).into(),
            certifications: &certifications[std::mem::replace(&mut start, end)..end],
        });
        let users: Vec<CertifiedUserId<'_>> = users.collect();
        visit(Certificate { key: self.key, standing: self.standing, users: &users })
    }
}

/// Walks the user IDs and attributes, and where they stand.
pub(crate) fn users(facts: &Facts) -> impl Iterator<Item = (usize, &Component)> {
    let is_user =
        |kind: &ComponentKind| matches!(kind, ComponentKind::UserId(_) | ComponentKind::Attribute(_));
    facts.components.iter().enumerate().filter(move |(_, component)| is_user(&component.kind))
}

pub(crate) fn name(kind: &ComponentKind) -> Cow<'_, [u8]> {
    match kind {
        ComponentKind::UserId(value) => value.as_slice().into(),
        ComponentKind::Attribute(facts) => attribute::name(facts).into_bytes().into(),
        ComponentKind::Key(_) | ComponentKind::Unknown(_) => Cow::Borrowed(&[]),
    }
}

/// Says what a certificate's primary key means to others: whether it [may certify](objections) now.
pub(crate) fn standing(facts: &Facts, effective: &Effective) -> IntroducerStatus {
    // What it says about the moment of a certification does not matter here: none is asked about.
    let created = facts.primary().created;
    let issuer = IssuerKey::primary(facts, effective);
    let found = objections(&issuer, SignatureType::GENERIC_CERTIFICATION, created, created);
    let is_dead = found.contains(Objection::Revoked) || found.contains(Objection::Ended);
    if is_dead || !effective.fully_checked {
        IntroducerStatus::Dead
    } else if found.is_empty() {
        IntroducerStatus::Usable
    } else {
        IntroducerStatus::Unbound
    }
}

/// Says whether a component is a user ID or attribute that is neither revoked nor expired.
pub(crate) fn is_live(effective: &Effective, component: usize) -> bool {
    matches!(&effective.components[component], ComponentState::User(user) if !user.revoked && !user.expired)
}
