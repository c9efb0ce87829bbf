//! A certificate that is to be edited, and its state now.

use cert::certificate::Certificate;
use cert::effective::{ComponentState, Effective, EvaluationContext, KeyState, PacketView, UserIdState};
use cert::facts::{AttributeFacts, Component, ComponentKind, KeyFacts, SelfSignature};
use cert::key::{self, Key};
use cert::packet::Span;
use cert::packet::{Packet, Packets};
use cert::signature::{self, Signature};
use cert::signed::Subject;
use cert::{Error, Facts, Fingerprint, Flaw, Timestamp};
use store::ReadCertificates;

use super::EditRefusal;
use crate::Result;
use crate::designated_revocation::evaluate_certificate;

/// A certificate, and its state at the time of the edit, or of its newest self-signature if that is later: a signature
/// that is replaced at once is followed by one of the next second, and nothing is signed before what it replaces.
pub struct Target {
    /// The certificate.
    pub certificate: Certificate,
    /// Its state, revocations by designated revokers included.
    pub effective: Effective,
}

impl Target {
    /// Reads the state of a certificate at a time, or at that of its newest self-signature; `revokers` has the keys of
    /// designated revokers.
    ///
    /// # Errors
    ///
    /// The database's errors.
    pub fn new(certificate: Certificate, revokers: &dyn ReadCertificates, now: Timestamp) -> Result<Self> {
        let moment = newest_self_signature(&certificate.facts).map_or(now, |newest| newest.max(now));
        let context = EvaluationContext::new(moment, PacketView::Full);
        let effective = evaluate_certificate(&certificate, context, &[revokers])?;
        Ok(Self { certificate, effective })
    }

    /// Returns the primary key's fingerprint.
    pub fn fingerprint(&self) -> Fingerprint {
        self.primary_facts().fingerprint
    }

    /// Returns the primary key's facts.
    pub(super) fn primary_facts(&self) -> &KeyFacts {
        self.certificate.facts.primary()
    }

    /// Returns the primary key's packet, read.
    pub(super) fn primary(&self) -> Result<Key<'_>> {
        self.key(&self.certificate.facts.components[0])
    }

    /// Returns a key component's packet, read.
    pub(super) fn key(&self, component: &Component) -> Result<Key<'_>> {
        let packet = self.packet(component.span)?;
        Ok(key::parse_public(packet.body).map_err(|flaw| malformed(component.span, flaw))?)
    }

    /// Returns a signature of a component, read.
    pub(super) fn signature(&self, component: &Component, index: usize) -> Result<Signature<'_>> {
        let span = component.signatures[index].span;
        Ok(signature::parse(self.packet(span)?.body).map_err(|flaw| malformed(span, flaw))?)
    }

    pub(super) fn packet(&self, span: Span) -> Result<Packet<'_>> {
        let only = Packets::new(self.certificate.packet(span)).next();
        only.unwrap_or_else(|| Err(malformed(span, Flaw::CutShort("a packet")))).map_err(Into::into)
    }

    /// Iterates over the user IDs with their states.
    pub fn user_ids(&self) -> impl Iterator<Item = UserId<'_>> {
        self.components().filter_map(|(index, component, state)| match (&component.kind, state) {
            (ComponentKind::UserId(value), ComponentState::User(state)) => {
                Some(UserId { index, value, state })
            }
            _ => None,
        })
    }

    /// Iterates over the user IDs and attributes with their states.
    pub(super) fn identities(&self) -> impl Iterator<Item = Found<'_>> {
        self.components().filter_map(|(index, component, state)| {
            let ComponentState::User(state) = state else { return None };
            Some(Found { index, identity: CertifiedIdentity::of(&component.kind)?, state })
        })
    }

    /// Iterates over the user IDs and attributes that are bound and not revoked, with what their self-signatures say.
    pub fn bound_identities(&self) -> impl Iterator<Item = (CertifiedIdentity, Option<&SelfSignature>)> {
        self.identities().filter(|found| !found.state.revoked).filter_map(|found| {
            let signature = &self.component(found.index).signatures[found.state.binding?];
            Some((found.identity, signature.own.as_deref()))
        })
    }

    /// Returns what signatures over a user ID or attribute are made over.
    pub(super) fn subject(&self, found: &Found<'_>) -> Result<Subject<'_>> {
        let packet = self.packet(self.component(found.index).span)?;
        Ok(Subject::of(packet).expect("user IDs and attributes are components"))
    }

    /// Iterates over the subkeys with their states.
    pub fn subkeys(&self) -> impl Iterator<Item = Subkey<'_>> {
        self.components().skip(1).filter_map(|(index, component, state)| match (&component.kind, state) {
            (ComponentKind::Key(facts), ComponentState::Key(state)) => Some(Subkey { index, facts, state }),
            _ => None,
        })
    }

    fn components(&self) -> impl Iterator<Item = (usize, &Component, &ComponentState)> {
        let components = self.certificate.facts.components.iter().zip(&self.effective.components);
        components.enumerate().map(|(index, (component, state))| (index, component, state))
    }

    pub(super) fn component(&self, index: usize) -> &Component {
        &self.certificate.facts.components[index]
    }

    /// Finds the user ID with exactly these bytes.
    ///
    /// # Errors
    ///
    /// [`EditRefusal::NoUserId`].
    pub fn user_id(&self, user_id: &[u8]) -> Result<UserId<'_>> {
        let found = self.user_ids().find(|found| found.value == user_id);
        found.ok_or_else(|| EditRefusal::NoUserId { user_id: user_id.to_vec() }.into())
    }
}

/// A user ID of a certificate that is to be changed.
#[derive(Clone, Copy, Debug)]
pub struct UserId<'a> {
    pub(super) index: usize,
    /// Its bytes.
    pub value: &'a [u8],
    /// What it means.
    pub state: &'a UserIdState,
}

impl UserId<'_> {
    /// Says whether it is valid: neither revoked nor expired, as GnuPG counts the remaining ones.
    pub fn holds(&self) -> bool {
        !self.state.revoked && !self.state.expired
    }
}

/// What others certify: a user ID or an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CertifiedIdentity {
    /// A user ID, by its bytes.
    UserId(Vec<u8>),
    /// An attribute, such as a photograph.
    Attribute(AttributeFacts),
}

impl CertifiedIdentity {
    /// Returns the user ID or attribute that a component is.
    pub fn of(kind: &ComponentKind) -> Option<Self> {
        match kind {
            ComponentKind::UserId(value) => Some(Self::UserId(value.clone())),
            ComponentKind::Attribute(facts) => Some(Self::Attribute(facts.clone())),
            ComponentKind::Key(_) | ComponentKind::Unknown(_) => None,
        }
    }

    /// Returns the bytes of a user ID.
    pub fn user_id(&self) -> Option<&[u8]> {
        match self {
            Self::UserId(value) => Some(value),
            Self::Attribute(_) => None,
        }
    }
}

/// A user ID or an attribute of a certificate.
pub(super) struct Found<'a> {
    pub(super) index: usize,
    pub(super) identity: CertifiedIdentity,
    pub(super) state: &'a UserIdState,
}

/// A subkey of a certificate that is to be changed.
#[derive(Clone, Copy, Debug)]
pub struct Subkey<'a> {
    pub(super) index: usize,
    /// Its public values.
    pub facts: &'a KeyFacts,
    /// What it means.
    pub state: &'a KeyState,
}

/// Returns when the newest self-signature was made.
pub(super) fn newest_self_signature(facts: &Facts) -> Option<Timestamp> {
    let signatures = facts.components.iter().flat_map(|component| &component.signatures);
    signatures.filter(|signature| signature.is_good()).map(|signature| signature.created).max()
}

fn malformed(span: Span, flaw: Flaw) -> Error {
    Error::Malformed { position: span.start.into(), flaw }
}
