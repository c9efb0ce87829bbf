//! Policies of bindings (GnuPG's `--tofu-policy`).

/// What is to be thought of a binding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Policy {
    /// Nobody decided; by default that makes it marginally valid.
    #[default]
    Auto = 1,
    /// It is right.
    Good = 2,
    /// Nothing is known about it.
    Unknown = 3,
    /// It is wrong.
    Bad = 4,
    /// The user has to decide each time.
    Ask = 5,
}

impl Policy {
    /// Every policy, in GnuPG's order.
    pub const ALL: [Self; 5] = [Self::Auto, Self::Good, Self::Unknown, Self::Bad, Self::Ask];

    /// Returns the number that GnuPG's `tofu.db` has for it.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Reads such a number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.number() == number)
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        ["auto", "good", "unknown", "bad", "ask"][self as usize - 1]
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
