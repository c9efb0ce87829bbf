//! How much history a binding has.

/// How much history a binding has: GnuPG's scale, from the days on which messages were verified or encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum History {
    /// No message was seen.
    None = 1,
    /// Too little to say anything.
    Little = 2,
    /// Enough for basic trust.
    Basic = 3,
    /// A lot.
    Large = 4,
}

/// Days that are enough for basic trust, and for more.
const BASIC: u128 = 2 * 4;
const LARGE: u128 = 2 * 21;

impl History {
    /// Weighs the number of days on which there were verified messages, and on which some were encrypted: by the length
    /// of the hypotenuse, so that both together count for more than one of them.
    pub fn of_days(verified: u64, encrypted: u64) -> Self {
        let square = |days: u64| u128::from(days).saturating_mul(u128::from(days));
        match square(verified).saturating_add(square(encrypted)) {
            0 => Self::None,
            sum if sum < BASIC * BASIC => Self::Little,
            sum if sum < LARGE * LARGE => Self::Basic,
            _ => Self::Large,
        }
    }

    /// Returns GnuPG's number for it, 1 to 4.
    pub fn number(self) -> u8 {
        self as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_both_kinds_count_together() {
        assert_eq!(History::of_days(0, 0), History::None);
        assert_eq!(History::of_days(7, 0), History::Little);
        assert_eq!(History::of_days(0, 8), History::Basic);
        assert_eq!(History::of_days(6, 6), History::Basic);
        assert_eq!(History::of_days(41, 9), History::Basic);
        assert_eq!(History::of_days(42, 0), History::Large);
        assert_eq!(History::of_days(u64::MAX, u64::MAX), History::Large);
    }
}
