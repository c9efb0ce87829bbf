//! Keys that were put onto a card, until that is saved.

use engine::cert::Keygrip;
use engine::store::Fingerprint;

use crate::commands::card::place::KeyCard;

/// What was put onto a card and is not saved yet.
#[derive(Default)]
pub(super) struct OnCard {
    pub(super) card: KeyCard,
    /// Something was.
    pub(super) is_pending: bool,
    /// The user was told that the copy here stays until then.
    pub(super) is_told: bool,
    pub(super) keys: Vec<MovedKey>,
}

/// A key that is on a card and here.
pub(super) struct MovedKey {
    pub(super) keygrip: Keygrip,
    /// The agent has its copy from here only.
    pub(super) is_lent: bool,
    /// The key in a file.
    pub(super) file: Option<Fingerprint>,
}
