//! What a certificate says about itself at the moment, as far as certifications of it are concerned.

use std::borrow::Cow;

use cert::effective::{Effective, State};
use cert::facts::{Component, ComponentKind, Facts};
use cert::{Fingerprint, Timestamp, attribute};
use trust::pgp::{Certificate, Certification, Interest, Standing, User};

use super::claims::Visit;

/// What a certificate says about itself.
pub(super) struct Present {
    pub(super) key: Fingerprint,
    pub(super) created: Timestamp,
    pub(super) standing: Standing,
    /// Its user IDs and attributes.
    pub(super) users: Box<[PresentUser]>,
}

/// What a certificate says about a user ID or attribute.
pub(super) struct PresentUser {
    /// Its place among the components.
    pub(super) component: usize,
    pub(super) live: bool,
    pub(super) name: Box<[u8]>,
}

impl Present {
    pub(super) fn new(facts: &Facts, effective: &Effective) -> Self {
        let users = users(facts).map(|(component, Component { kind, .. })| PresentUser {
            component,
            live: is_live(effective, component),
            name: name(kind).into(),
        });
        let primary = facts.primary();
        Self {
            key: primary.fingerprint,
            created: primary.created,
            standing: standing(effective),
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
        let users = self.users.iter().zip(ends).map(|(user, end)| User {
            component: user.component,
            live: user.live,
            name: (&*user.name).into(),
            certifications: &certifications[std::mem::replace(&mut start, end)..end],
        });
        let users: Vec<User<'_>> = users.collect();
        visit(Certificate { key: self.key, standing: self.standing, users: &users })
    }
}

/// Walks the user IDs and attributes, and where they stand.
pub(in super::super) fn users(facts: &Facts) -> impl Iterator<Item = (usize, &Component)> {
    let is_user =
        |kind: &ComponentKind| matches!(kind, ComponentKind::UserId(_) | ComponentKind::Attribute(_));
    facts.components.iter().enumerate().filter(move |(_, component)| is_user(&component.kind))
}

pub(in super::super) fn name(kind: &ComponentKind) -> Cow<'_, [u8]> {
    match kind {
        ComponentKind::UserId(value) => value.as_slice().into(),
        ComponentKind::Attribute(facts) => attribute::name(facts).into_bytes().into(),
        ComponentKind::Key(_) | ComponentKind::Unknown(_) => Cow::Borrowed(&[]),
    }
}

pub(in super::super) fn standing(effective: &Effective) -> Standing {
    let primary = effective.primary();
    if primary.revoked.is_some() || primary.expired {
        Standing::Dead
    } else if primary.valid {
        Standing::Usable
    } else {
        Standing::Unbound
    }
}

/// Says whether a component is a user ID or attribute that is neither revoked nor expired.
pub(in super::super) fn is_live(effective: &Effective, component: usize) -> bool {
    matches!(&effective.components[component], State::User(user) if !user.revoked && !user.expired)
}
