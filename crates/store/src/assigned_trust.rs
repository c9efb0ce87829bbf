//! Owner trust as the user assigned it.

/// GnuPG's flag of a disabled key in the number of its owner trust.
const DISABLED: u8 = 128;

/// The owner trust that the user assigned to a key, and whether the user disabled the key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AssignedTrust {
    value: u8,
    /// Whether the key is disabled.
    pub disabled: bool,
}

impl AssignedTrust {
    /// Returns owner trust by GnuPG's number without flags (0 unknown, 2 undefined, 3 never, 4 marginal, 5 full,
    /// 6 ultimate; of others the low seven bits are stored).
    pub fn new(value: u8, disabled: bool) -> Self {
        Self { value: value & !DISABLED, disabled }
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
}
