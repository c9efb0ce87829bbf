//! Keys that were put onto a card, until that is saved.

use engine::cert::Keygrip;
use engine::store::Fingerprint;

use crate::commands::card::key_reference::AgentCopy;

/// What was put onto a card and is not saved yet.
#[derive(Default)]
pub(super) struct OnCard {
    /// Whether a key was put onto the card since the last save.
    pub(super) is_pending: bool,
    /// The user was told that the copy here stays until then.
    pub(super) is_told: bool,
    pub(super) keys: Vec<MovedKey>,
}

impl OnCard {
    /// Notes a key of which there is a copy here, once: where its first copy in the agent came from is what counts.
    pub(super) fn note(&mut self, key: MovedKey) {
        if key.in_agent == AgentCopy::Absent && key.file.is_none() {
            return;
        }
        match self.keys.iter_mut().find(|known| known.keygrip == key.keygrip) {
            Some(known) => known.file = known.file.or(key.file),
            None => self.keys.push(key),
        }
    }
}

/// A key that is on a card and here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MovedKey {
    pub(super) keygrip: Keygrip,
    pub(super) in_agent: AgentCopy,
    /// The key in a file.
    pub(super) file: Option<Fingerprint>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_put_onto_a_card_twice_is_noted_once() {
        let key = |in_agent, file| MovedKey { keygrip: Keygrip([7; 20]), in_agent, file };
        let mut moved = OnCard::default();
        moved.note(key(AgentCopy::FromHere, None));
        let file = Some(Fingerprint::V4([1; 20]));
        moved.note(key(AgentCopy::Own, file));
        moved.note(key(AgentCopy::Own, None));
        assert_eq!(moved.keys, [key(AgentCopy::FromHere, file)]);
    }
}
