//! Places in a listing where something stands that depends on what the user thinks of the key: a listing can be rendered
//! before that is known, and the gaps filled in later.

use keyhoard::listing::{UserTrust, Validity};

use super::validity;

/// What is to stand at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gap {
    /// The letter of the key's validity.
    Key,
    /// The letter of the trust in its owner.
    Owner,
    /// The letter of a key that is switched off.
    Disabled,
    /// The letter of the validity of the user ID or attribute at this place among the components.
    User(usize),
    /// The same where the key can be used: all user IDs of an ultimately trusted one are the user's own.
    UserOfUsableKey(usize),
    /// The word for the validity of the user ID or attribute at this place.
    Word(usize),
}

impl Gap {
    /// Appends what stands there.
    fn fill(self, trust: &UserTrust, out: &mut Vec<u8>) {
        match self {
            Self::Key => out.push(validity::letter(trust.key)),
            Self::Owner => out.push(validity::letter(trust.owner.into())),
            Self::Disabled => out.extend(trust.disabled.then_some(b'D')),
            Self::UserOfUsableKey(_) if trust.key == Validity::Ultimate => out.push(b'u'),
            Self::User(index) | Self::UserOfUsableKey(index) => {
                out.push(validity::letter(trust.of_component(index)));
            }
            Self::Word(index) => out.extend(validity::word(trust.of_component(index)).as_bytes()),
        }
    }
}

/// Where a gap is in the text, and what is to stand there.
pub(crate) type Placed = (usize, Gap);

/// Appends the text from `start` to the last of these gaps, each filled in; returns where that one is.
pub(crate) fn fill_in(
    gaps: &[Placed],
    trust: &UserTrust,
    text: &[u8],
    mut start: usize,
    out: &mut Vec<u8>,
) -> usize {
    for (at, gap) in gaps {
        out.extend(&text[start..*at]);
        gap.fill(trust, out);
        start = *at;
    }
    start
}

/// Fills gaps at once, or notes where they are.
pub(super) enum Filler<'a> {
    With(&'a UserTrust),
    Later(&'a mut Vec<Placed>),
}

impl Filler<'_> {
    pub(super) fn gap(&mut self, gap: Gap, out: &mut Vec<u8>) {
        match self {
            Self::With(trust) => gap.fill(trust, out),
            Self::Later(gaps) => gaps.push((out.len(), gap)),
        }
    }
}
