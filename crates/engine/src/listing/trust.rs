//! The user's trust in a certificate, and its secret keys. Trust models compute it; a listing only has it.

use cert::Fingerprint;
use store::tofu::Messages;
use trust::tofu::Policy;
use trust::{OwnerTrust, Validity};

/// The user's trust in one certificate, and its secret keys; the default is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserTrust {
    /// The key's validity, as its user IDs make it.
    pub key: Validity,
    /// By component of the facts; a missing one is unknown.
    pub user_ids: Vec<Validity>,
    /// By component what trust on first use knows, where that was asked for.
    pub first_uses: Vec<Option<FirstUse>>,
    /// The trust in its owner.
    pub owner: OwnerTrust,
    /// The user disabled the key.
    pub disabled: bool,
    /// Which of its keys the user has the secret part of, where that was asked.
    pub secret_keys: Vec<SecretPart>,
}

/// The secret part of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretPart {
    /// The key.
    pub key: Fingerprint,
    /// The serial number of the card that it is on, in hexadecimal digits; `None` if it is not on a card.
    pub card: Option<String>,
}

/// What trust on first use knows of a user ID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstUse {
    /// The policy in effect for its address.
    pub policy: Policy,
    /// The messages that were seen with it.
    pub messages: Messages,
    /// The keys that it is in conflict with, and the messages that were seen with those.
    pub rivals: Vec<(Fingerprint, Messages)>,
}

impl UserTrust {
    /// Returns the secret part of a key, if the user has it.
    pub fn secret_part(&self, key: &Fingerprint) -> Option<&SecretPart> {
        self.secret_keys.iter().find(|part| part.key == *key)
    }

    /// Returns the validity of a component, by its index in the facts.
    pub fn of_component(&self, index: usize) -> Validity {
        self.user_ids.get(index).copied().unwrap_or_default()
    }
}
