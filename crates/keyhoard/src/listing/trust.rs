//! What the user thinks of a certificate, and has of it. Trust models compute it; a listing only carries it.

use cert::Keygrip;

/// How sure one may be that a user ID belongs to the key (GnuPG's validity).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Validity {
    /// Nothing is known.
    #[default]
    Unknown,
    /// Not enough is known.
    Undefined,
    /// It does not.
    Never,
    /// Marginally.
    Marginal,
    /// Fully.
    Full,
    /// It is the user's own.
    Ultimate,
}

/// How far the user trusts the owner of a key to certify others (GnuPG's owner trust).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OwnerTrust {
    /// Never asked.
    #[default]
    Unknown,
    /// No opinion.
    Undefined,
    /// Not at all.
    Never,
    /// Marginally.
    Marginal,
    /// Fully.
    Full,
    /// It is the user's own key.
    Ultimate,
}

/// Everything the user thinks of one certificate, and has of it; the default is nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// The key's validity: the best one of its user IDs.
    pub key: Validity,
    /// By component of the facts; a missing one is unknown.
    pub user_ids: Vec<Validity>,
    /// The trust in its owner.
    pub owner: OwnerTrust,
    /// The user switched the key off.
    pub disabled: bool,
    /// Which of its keys the user has the secret part of, where that was asked.
    pub secret_keys: Vec<Keygrip>,
}

impl Trust {
    pub(super) fn of_component(&self, index: usize) -> Validity {
        self.user_ids.get(index).copied().unwrap_or_default()
    }
}
