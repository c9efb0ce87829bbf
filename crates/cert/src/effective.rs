//! What a certificate's self-signatures mean at a given moment.
//!
//! [`evaluate`] decides as GnuPG 2.2 does when it merges self-signatures into keys (its `g10/getkey.c`):
//! which keys are bound, revoked or expired and what they may do, which user IDs hold, and which is the
//! primary one. It looks at verdicts that are there already and verifies nothing.

mod key;
pub mod objections;
mod usage;
mod user_id;

pub use usage::{Usage, can_be_primary};

use crate::facts::{Component, ComponentKind, Facts, KeyFacts, Revoker, SignatureFacts};
use crate::identity::Timestamp;
use verify::policy::{self, DigestPolicy};

/// Which packets of a certificate are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketView {
    /// What GnuPG would have kept: superseded packets are invisible, and signatures by others of algorithms that it
    /// does not know.
    Gnupg,
    /// Every packet.
    Full,
}

impl PacketView {
    /// Says whether a signature is visible.
    pub fn shows(self, signature: &SignatureFacts) -> bool {
        let is_known = || signature.own.is_some() || policy::is_known_to_gnupg(signature.key_algorithm);
        self == Self::Full || (!signature.flags.superseded && is_known())
    }
}

/// A certificate's meaning at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effective {
    /// What each component of the facts means, at the same index.
    pub components: Vec<ComponentState>,
    /// Who else may revoke the certificate: from all good direct-key signatures, each revoker once.
    pub revokers: Vec<Revoker>,
    /// Every possible revocation was verified. Where one was not, since verifying all of them takes too long, no key is
    /// [valid](KeyState::valid).
    pub fully_checked: bool,
}

/// What a component means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ComponentState {
    /// The primary key or a subkey.
    Key(KeyState),
    /// A user ID or an attribute.
    User(UserIdState),
    /// A packet of an unknown type means nothing.
    Unknown,
}

/// What a key means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyState {
    /// A good self-signature binds it; for a subkey, the primary key is bound as well.
    pub valid: bool,
    /// When it was revoked, or its primary key was.
    pub revoked: Option<Revocation>,
    /// When it ends or ended by its own binding.
    pub expires: Option<Timestamp>,
    /// It has ended, or its primary key has.
    pub expired: bool,
    /// What it may be used for.
    pub usage: Usage,
    /// The signature its values come from, by index into the component's signatures; for a primary key the
    /// direct-key signature if there is one.
    pub binding: Option<usize>,
}

impl KeyState {
    /// Says whether the key is bound, not revoked and not expired.
    pub fn is_usable(&self) -> bool {
        self.valid && self.revoked.is_none() && !self.expired
    }
}

/// A revocation that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revocation {
    /// When it was made.
    pub date: Timestamp,
    /// Made by a designated revoker, not by the key itself.
    pub designated: bool,
}

/// What a user ID or an attribute means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserIdState {
    /// When the self-signature that binds it was made; `None` without one, and when it is revoked or expired.
    pub created: Option<Timestamp>,
    /// When that self-signature ends.
    pub expires: Option<Timestamp>,
    /// That self-signature has ended.
    pub expired: bool,
    /// The newest self-signature is a revocation.
    pub revoked: bool,
    /// The primary user ID. Of the user IDs exactly one is, of the attributes any that says so.
    pub primary: bool,
    /// The newest self-signature, by index into the component's signatures.
    pub binding: Option<usize>,
}

/// What [`evaluate`] needs to know besides the facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvaluationContext {
    /// The clock.
    pub now: Timestamp,
    /// Which packets count.
    pub view: PacketView,
    /// When a designated revoker revoked the primary key. Only who has the revoker's certificate can verify that.
    pub designated_revocation: Option<Timestamp>,
    /// Which digests are accepted in self-signatures.
    pub digests: DigestPolicy,
}

impl EvaluationContext {
    /// Returns the moment, without a designated revocation, and with the digests that are usually accepted.
    pub fn new(now: Timestamp, view: PacketView) -> Self {
        Self { now, view, designated_revocation: None, digests: DigestPolicy::GNUPG }
    }

    /// Returns the same moment where other digests are accepted.
    pub fn with_digests(self, digests: DigestPolicy) -> Self {
        Self { digests, ..self }
    }
}

/// Decides what a certificate means at a moment. It is not valid unless it is [fully
/// checked](Facts::is_fully_checked).
pub fn evaluate(facts: &Facts, moment: EvaluationContext) -> Effective {
    let effective = evaluate_checked_part(facts, moment);
    if facts.is_fully_checked() { effective } else { effective.not_fully_checked() }
}

/// Decides what a certificate would mean at a moment if nothing of it was left unchecked.
pub fn evaluate_checked_part(facts: &Facts, moment: EvaluationContext) -> Effective {
    let judge = SelfSignatureFilter { primary: facts.primary(), moment };
    let mut users = user_id::evaluate(facts, &judge);
    let primary = key::primary(facts, &users, &judge);
    user_id::choose_primary(facts, moment.view, &mut users.states);

    let components = facts
        .components
        .iter()
        .zip(users.states)
        .enumerate()
        .map(|(index, (component, user))| match &component.kind {
            ComponentKind::Key(_) if index == 0 => ComponentState::Key(primary.state),
            ComponentKind::Key(subkey) => {
                ComponentState::Key(key::subkey(subkey, component, &primary.state, &judge))
            }
            ComponentKind::UserId(_) | ComponentKind::Attribute(_) => ComponentState::User(user),
            ComponentKind::Unknown(_) => ComponentState::Unknown,
        })
        .collect();
    Effective { components, revokers: primary.revokers, fully_checked: true }
}

impl Effective {
    /// Returns what is left if a possible revocation was not verified: nothing is valid. What is known to be revoked says
    /// so; no further revocation can make a difference to it.
    #[must_use]
    pub fn not_fully_checked(mut self) -> Self {
        self.fully_checked = false;
        if self.primary().revoked.is_some() {
            return self;
        }
        for state in &mut self.components {
            if let ComponentState::Key(key) = state {
                key.valid = false;
            }
        }
        self
    }

    /// Returns what the primary key means.
    ///
    /// # Panics
    ///
    /// Never on what [`evaluate`] returned: facts begin with a key.
    pub fn primary(&self) -> &KeyState {
        match self.components.first() {
            Some(ComponentState::Key(state)) => state,
            _ => unreachable!("the first component of a certificate is its primary key"),
        }
    }

    /// Returns the index of the component that is the primary user ID; attributes do not count.
    pub fn primary_user_id(&self, facts: &Facts) -> Option<usize> {
        self.components.iter().zip(&facts.components).position(|(state, component)| {
            matches!(state, ComponentState::User(user) if user.primary)
                && matches!(component.kind, ComponentKind::UserId(_))
        })
    }
}

/// Tells which self-signatures count.
struct SelfSignatureFilter<'a> {
    primary: &'a KeyFacts,
    moment: EvaluationContext,
}

impl SelfSignatureFilter<'_> {
    /// Walks the self-signatures of a component that count: visible, good, made neither before the key nor with
    /// a weak digest, without critical subpackets that are not understood. A key from the future has none.
    fn own<'c>(&self, component: &'c Component) -> impl Iterator<Item = (usize, &'c SignatureFacts)> {
        let from_the_future = self.primary.created > self.moment.now;
        let signatures = if from_the_future { &[] } else { component.signatures.as_slice() };
        signatures.iter().enumerate().filter(|(_, signature)| self.counts(signature))
    }

    fn counts(&self, signature: &SignatureFacts) -> bool {
        self.moment.view.shows(signature) && signature.counts_by(self.primary, self.moment.digests)
    }

    fn has_expired(&self, signature: &SignatureFacts) -> bool {
        signature.has_expired(self.moment.now)
    }

    /// Says whether a key that ends at `expires` has ended: from the second after on, unlike a signature.
    fn has_ended(&self, expires: Option<Timestamp>) -> bool {
        expires.is_some_and(|end| end < self.moment.now)
    }
}

/// Returns when a key ends that was made at `created`.
///
/// The sum wraps around like GnuPG's, so that a key "until 2150" has ended in both programs.
fn key_end(created: Timestamp, signature: &SignatureFacts) -> Option<Timestamp> {
    let seconds = signature.own.as_ref()?.key_expires.filter(|&seconds| seconds != 0)?;
    Some(Timestamp(created.0.wrapping_add(seconds))).filter(|end| end.0 != 0)
}

/// Returns the newest of the signatures, the last one where several are of the same second.
fn newest<'c>(
    signatures: impl Iterator<Item = (usize, &'c SignatureFacts)>,
) -> Option<(usize, &'c SignatureFacts)> {
    signatures.max_by_key(|(_, signature)| signature.created)
}

#[cfg(test)]
mod tests;
