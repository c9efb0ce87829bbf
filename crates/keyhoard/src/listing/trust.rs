//! What the user thinks of a certificate, and has of it. Trust models compute it; a listing only carries it.

use cert::Keygrip;
use store::tofu::Messages;
use trust::tofu::Policy;
use trust::{OwnerTrust, Validity};

/// Everything the user thinks of one certificate, and has of it; the default is nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// The key's validity, as its user IDs make it.
    pub key: Validity,
    /// By component of the facts; a missing one is unknown.
    pub user_ids: Vec<Validity>,
    /// By component what trust on first use knows, where that was asked for.
    pub first_uses: Vec<Option<FirstUse>>,
    /// The trust in its owner.
    pub owner: OwnerTrust,
    /// The user switched the key off.
    pub disabled: bool,
    /// Which of its keys the user has the secret part of, where that was asked.
    pub secret_keys: Vec<Keygrip>,
}

/// What trust on first use knows of a user ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstUse {
    /// The policy in effect for its address.
    pub policy: Policy,
    /// The messages that were seen with it.
    pub messages: Messages,
}

impl Trust {
    pub(super) fn of_component(&self, index: usize) -> Validity {
        self.user_ids.get(index).copied().unwrap_or_default()
    }
}
