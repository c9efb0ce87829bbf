//! Owner trust as the user assigned it, or an option did.

/// GnuPG's flag of a disabled key in the number of its owner trust.
const DISABLED: u8 = 128;

/// The owner trust of a key, and whether the user disabled the key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AssignedTrust {
    value: u8,
    /// Whether the key is disabled.
    pub disabled: bool,
    by_option: bool,
}

impl AssignedTrust {
    /// GnuPG's number of ultimate owner trust.
    pub const ULTIMATE: u8 = 6;

    /// Returns owner trust by GnuPG's number without flags (0 unknown, 2 undefined, 3 never, 4 marginal, 5 full,
    /// 6 ultimate; of others the low seven bits are stored).
    pub fn new(value: u8, disabled: bool) -> Self {
        Self { value: value & !DISABLED, disabled, by_option: false }
    }

    /// Returns ultimate owner trust that `gpg --trusted-key` gives: it lasts until that option names other keys, and is
    /// never exported.
    pub fn ultimate_by_option(disabled: bool) -> Self {
        Self { by_option: true, ..Self::new(Self::ULTIMATE, disabled) }
    }

    /// Reads the number that databases store and `gpg --export-ownertrust` writes; `None` for 0, which assigns nothing.
    pub fn from_number(number: u8) -> Option<Self> {
        (number != 0).then(|| Self::new(number, number & DISABLED != 0))
    }

    /// Returns the number that databases store and `gpg --export-ownertrust` writes: 128 is added for a disabled key.
    pub fn number(self) -> u8 {
        self.value | if self.disabled { DISABLED } else { 0 }
    }

    /// Returns GnuPG's number without flags.
    pub fn value(self) -> u8 {
        self.value
    }

    /// Says whether `gpg --trusted-key` gave it, not the user.
    pub fn is_by_option(self) -> bool {
        self.by_option
    }

    /// Returns the same owner trust of a key that is disabled or not; `None` if nothing is left.
    pub fn with_disabled(self, disabled: bool) -> Option<Self> {
        Some(Self { disabled, ..self }).filter(|trust| trust.number() != 0)
    }

    /// Returns the owner trust with what is stored beside its number: whether an option gave it.
    pub(crate) fn stored(number: u8, by_option: bool) -> Option<Self> {
        let trust = Self::from_number(number)?;
        Some(Self { by_option: by_option && trust.value == Self::ULTIMATE, ..trust })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_but_0_is_stored_as_it_was_read() {
        assert_eq!(AssignedTrust::from_number(0), None);
        for number in 1..=255 {
            assert_eq!(AssignedTrust::from_number(number).map(AssignedTrust::number), Some(number));
        }
        assert_eq!(AssignedTrust::from_number(134), Some(AssignedTrust::new(6, true)));
    }

    #[test]
    fn only_ultimate_owner_trust_is_given_by_an_option_and_it_differs_from_the_users() {
        for number in 1..=255 {
            let stored = AssignedTrust::stored(number, true).expect("a number but 0");
            assert_eq!(stored.is_by_option(), number & !DISABLED == AssignedTrust::ULTIMATE, "{number}");
            assert_eq!(stored == AssignedTrust::new(number, number & DISABLED != 0), !stored.is_by_option());
        }
        let disabled = AssignedTrust::ultimate_by_option(false).with_disabled(true);
        assert_eq!(disabled, Some(AssignedTrust::ultimate_by_option(true)));
        assert_eq!(AssignedTrust::default().with_disabled(false), None);
    }
}
