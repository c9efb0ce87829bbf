//! Trust on first use, as GnuPG's models `tofu` and `tofu+pgp` compute it.
//!
//! A binding is an address that came with a key. The first key that comes with an address is believed; another key with
//! the same address is a conflict, and both need a decision by the user. No conflict are keys that certified each other
//! (somebody has a new key), and nobody needs to decide about a key that an ultimately trusted key certified.
//! A [`Contest`] says who is in conflict with whom and what policy that leaves in effect; [`validity`] says how valid
//! that makes a user ID and its key, alone or together with the web of trust.
//!
//! The rules are those of GnuPG 2.2 (its `g10/tofu.c`), without its cache of policies that were in effect once: what a
//! conflict means depends on which binding came first, never on which one was looked at first.

mod contest;
mod history;
pub mod validity;

pub use contest::{Claim, Contest, Evidence};
pub use history::History;

/// What is to be thought of a binding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Policy {
    /// Nobody decided; by default that makes it marginally valid.
    #[default]
    Auto,
    /// It is right.
    Good,
    /// Nothing is known about it.
    Unknown,
    /// It is wrong.
    Bad,
    /// The user has to decide each time.
    Ask,
}

impl Policy {
    /// Every policy, in GnuPG's order.
    pub const ALL: [Self; 5] = [Self::Auto, Self::Good, Self::Unknown, Self::Bad, Self::Ask];

    /// Returns the number that GnuPG's `tofu.db` has for it.
    pub fn number(self) -> u8 {
        match self {
            Self::Auto => 1,
            Self::Good => 2,
            Self::Unknown => 3,
            Self::Bad => 4,
            Self::Ask => 5,
        }
    }

    /// Reads such a number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.number() == number)
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Good => "good",
            Self::Unknown => "unknown",
            Self::Bad => "bad",
            Self::Ask => "ask",
        }
    }

    /// Finds a policy by its name, in letters of any case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.name().eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_go_by_numbers_and_names() {
        for policy in Policy::ALL {
            assert_eq!(Policy::from_number(policy.number()), Some(policy));
            assert_eq!(Policy::from_name(&policy.name().to_uppercase()), Some(policy));
        }
        assert_eq!(Policy::from_number(0), None);
        assert_eq!(Policy::from_name("help"), None);
    }
}
