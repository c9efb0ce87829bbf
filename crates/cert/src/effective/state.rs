//! What a certificate and its components mean at one moment.

use super::usage::Usage;
use crate::facts::{ComponentKind, Facts, Revoker};
use crate::identity::Timestamp;

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
    /// Never on what [`evaluate`](super::evaluate) returned: facts begin with a key.
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
