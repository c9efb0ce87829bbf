//! Gaps in a listing for validity and owner trust: a listing can be rendered before these are known, and the gaps
//! filled in later.

use keyhoard::listing::{UserTrust, Validity};

use super::validity;

/// What a gap is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gap {
    /// The letter of the key's validity.
    Key,
    /// The letter of the trust in its owner.
    Owner,
    /// The letter `D` of a disabled key.
    Disabled,
    /// The letter of the validity of the user ID or attribute with this component index.
    User(usize),
    /// The same where the key can be used: all user IDs of an ultimately trusted one are the user's own.
    UserOfUsableKey(usize),
    /// The word for the validity of the user ID or attribute with this component index.
    Word(usize),
}

impl Gap {
    /// Appends the value.
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

/// A gap and its byte index in the text.
pub(crate) type Placed = (usize, Gap);

/// Appends the text from `start` to the last of these gaps, each filled in; returns the byte index of the last gap.
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

/// Fills gaps at once, or records their positions.
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
