//! The states of a certificate and its components at a given time.

use super::usage::Usage;
use crate::facts::{ComponentKind, Facts, Revoker};
use crate::identity::Timestamp;

/// The state of a certificate at a given time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effective {
    /// The states of the components, at the same indexes as in the facts.
    pub components: Vec<ComponentState>,
    /// The designated revokers from all good direct-key signatures, each only once.
    pub revokers: Vec<Revoker>,
    /// Whether every possible revocation was verified. Otherwise no key is [valid](KeyState::valid).
    pub fully_checked: bool,
}

/// The state of a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ComponentState {
    /// The primary key or a subkey.
    Key(KeyState),
    /// A user ID or an attribute.
    User(UserIdState),
    /// A packet of an unknown type has no state.
    Unknown,
}

/// The state of a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyState {
    /// Whether a good self-signature binds it; for a subkey, the primary key must be valid, too.
    pub valid: bool,
    /// Of a primary key: whether it has a good self-signature, even if its user IDs are revoked. That is enough to revoke
    /// others.
    pub self_signed: bool,
    /// The revocation of the key, or of its primary key.
    pub revoked: Option<Revocation>,
    /// The expiration time by its own binding signature.
    pub expires: Option<Timestamp>,
    /// Whether it is expired, or its primary key is.
    pub expired: bool,
    /// What it may be used for.
    pub usage: Usage,
    /// The index of the signature from which the values come; for a primary key that of the direct-key signature, if
    /// there is one.
    pub binding: Option<usize>,
}

impl KeyState {
    /// Returns whether the key is bound, not revoked and not expired.
    pub fn is_usable(&self) -> bool {
        self.valid && self.revoked.is_none() && !self.expired
    }
}

/// A revocation that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revocation {
    /// The creation time.
    pub date: Timestamp,
    /// Whether a designated revoker made it.
    pub designated: bool,
}

/// The state of a user ID or an attribute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserIdState {
    /// The creation time of the self-signature that binds it; `None` without one, and if it is revoked or expired.
    pub created: Option<Timestamp>,
    /// The expiration time of that self-signature.
    pub expires: Option<Timestamp>,
    /// Whether that self-signature is expired.
    pub expired: bool,
    /// Whether the newest self-signature is a revocation.
    pub revoked: bool,
    /// Whether it is primary: exactly one of the user IDs, and any attribute that says so.
    pub primary: bool,
    /// The index of the newest self-signature.
    pub binding: Option<usize>,
}

impl Effective {
    /// Returns the state if a possible revocation was not verified: nothing is valid. A certificate that is known to be
    /// revoked stays so.
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

    /// Returns the state of the primary key.
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

    /// Returns the primary user ID; attributes do not count.
    pub fn primary_name<'f>(&self, facts: &'f Facts) -> Option<&'f [u8]> {
        match &facts.components[self.primary_user_id(facts)?].kind {
            ComponentKind::UserId(value) => Some(value),
            _ => None,
        }
    }
}
