//! Owner trust as the user assigned it.

/// GnuPG's flag of a disabled key in the number of its owner trust.
const DISABLED: u8 = 128;
/// GnuPG's number of ultimate owner trust.
const ULTIMATE: u8 = 6;
/// The number of ultimate owner trust that `--trusted-key` gave. GnuPG's programs and earlier ones of this project read
/// the low four bits: for them it is ultimate, too.
const ULTIMATE_BY_OPTION: u8 = 64 + ULTIMATE;

/// The owner trust that the user assigned to a key, and whether the user disabled the key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AssignedTrust {
    value: u8,
    /// Whether the key is disabled.
    pub disabled: bool,
}

impl AssignedTrust {
    /// Returns owner trust by GnuPG's number without flags (0 unknown, 2 undefined, 3 never, 4 marginal, 5 full,
    /// 6 ultimate; of others the low seven bits are stored, but 70 is 6).
    pub fn new(value: u8, disabled: bool) -> Self {
        let value = value & !DISABLED;
        Self { value: if value == ULTIMATE_BY_OPTION { ULTIMATE } else { value }, disabled }
    }

    /// Returns ultimate owner trust that GnuPG's `--trusted-key` gives: it counts until the option names other keys.
    pub fn ultimate_by_option(disabled: bool) -> Self {
        Self { value: ULTIMATE_BY_OPTION, disabled }
    }

    /// Reads the number that databases store; `None` for 0, which assigns nothing.
    pub fn from_number(number: u8) -> Option<Self> {
        (number != 0).then_some(Self { value: number & !DISABLED, disabled: number & DISABLED != 0 })
    }

    /// Reads the number that GnuPG's database has and `gpg --export-ownertrust` writes; `None` for 0, which assigns nothing.
    pub fn from_gnupg(number: u8) -> Option<Self> {
        (number != 0).then(|| Self::new(number, number & DISABLED != 0))
    }

    /// Returns the number that databases store and, unless an option gave it, `gpg --export-ownertrust` writes: 128 is
    /// added for a disabled key.
    pub fn number(self) -> u8 {
        self.value | if self.disabled { DISABLED } else { 0 }
    }

    /// Returns GnuPG's number without flags.
    pub fn value(self) -> u8 {
        if self.is_by_option() { ULTIMATE } else { self.value }
    }

    /// Returns whether `--trusted-key` gave it.
    pub fn is_by_option(self) -> bool {
        self.value == ULTIMATE_BY_OPTION
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
    fn what_an_option_gave_is_ultimate_and_is_never_read_from_gnupgs_numbers() {
        for (disabled, number) in [(false, 70), (true, 198)] {
            let given = AssignedTrust::ultimate_by_option(disabled);
            assert_eq!((given.value(), given.number(), given.disabled), (6, number, disabled));
            assert_eq!(AssignedTrust::from_number(number), Some(given));
            assert_eq!(AssignedTrust::from_gnupg(number), Some(AssignedTrust::new(6, disabled)));
        }
        let by_option = (1..=255).filter_map(AssignedTrust::from_number).filter(|it| it.is_by_option());
        assert_eq!(by_option.count(), 2);
    }
}
