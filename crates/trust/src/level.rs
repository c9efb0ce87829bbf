//! The two scales: the validity of user IDs, and the owner trust in keys.

/// How sure one may be that a user ID belongs to the key (GnuPG's validity).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Validity {
    /// Nothing is known.
    #[default]
    Unknown,
    /// A valid key certified it, but nobody who is trusted to.
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

impl Validity {
    /// Returns the word that GnuPG has for it.
    pub fn word(self) -> &'static str {
        ["unknown", "undefined", "never", "marginal", "full", "ultimate"][self as usize]
    }
}

/// How far the user trusts the owner of a key to certify others (GnuPG's owner trust).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OwnerTrust {
    /// Never asked.
    #[default]
    Unknown,
    /// GnuPG's number 1, which no command assigns; it counts as unknown.
    Expired,
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

impl OwnerTrust {
    /// Every owner trust that can be assigned, in ascending order.
    pub const ALL: [Self; 6] =
        [Self::Unknown, Self::Undefined, Self::Never, Self::Marginal, Self::Full, Self::Ultimate];

    /// Returns the word that GnuPG has for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            assigned => Validity::from(assigned).word(),
        }
    }

    /// Returns what a trust signature's amount stands for (RFC 9580, 5.2.3.21): from 120 on full, from 60 on marginal.
    pub fn from_amount(amount: u8) -> Self {
        match amount {
            120.. => Self::Full,
            60.. => Self::Marginal,
            _ => Self::Unknown,
        }
    }

    /// Returns the value that GnuPG's trust database and `--export-ownertrust` have for it, without the flags.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Reads such a value; GnuPG's flags are left out, and what nobody defined is unknown.
    pub fn from_number(number: u8) -> Self {
        let mut known = Self::ALL.into_iter().chain([Self::Expired]);
        known.find(|trust| trust.number() == number & 15).unwrap_or_default()
    }
}

/// As far as an owner is trusted in the model `direct`, so valid are the user IDs of the key; GnuPG has one scale for
/// both.
impl From<OwnerTrust> for Validity {
    fn from(trust: OwnerTrust) -> Self {
        match trust {
            OwnerTrust::Unknown | OwnerTrust::Expired => Self::Unknown,
            OwnerTrust::Undefined => Self::Undefined,
            OwnerTrust::Never => Self::Never,
            OwnerTrust::Marginal => Self::Marginal,
            OwnerTrust::Full => Self::Full,
            OwnerTrust::Ultimate => Self::Ultimate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_count_from_sixty_and_from_a_hundred_and_twenty() {
        let trusts = [0, 59, 60, 119, 120, 255].map(OwnerTrust::from_amount);
        use OwnerTrust::{Full, Marginal, Unknown};
        assert_eq!(trusts, [Unknown, Unknown, Marginal, Marginal, Full, Full]);
    }

    #[test]
    fn numbers_are_those_of_gnupg_and_1_is_expired() {
        let read = [0, 1, 2, 6, 7].map(OwnerTrust::from_number);
        use OwnerTrust::{Expired, Ultimate, Undefined, Unknown};
        assert_eq!(read, [Unknown, Expired, Undefined, Ultimate, Unknown]);
        assert_eq!(OwnerTrust::ALL.map(OwnerTrust::number), [0, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn a_disabled_key_keeps_its_owner_trust() {
        assert_eq!(OwnerTrust::from_number(128 + 5), OwnerTrust::Full);
    }
}
