//! The eleven symmetric ciphers of OpenPGP (RFC 9580, 9.3).

use std::fmt;

/// A symmetric cipher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Cipher {
    /// IDEA.
    Idea = 1,
    /// Triple-DES with three keys.
    TripleDes = 2,
    /// CAST5 with a key of 128 bits.
    Cast5 = 3,
    /// Blowfish with a key of 128 bits.
    Blowfish = 4,
    /// AES with a key of 128 bits.
    Aes128 = 7,
    /// AES with a key of 192 bits.
    Aes192 = 8,
    /// AES with a key of 256 bits.
    Aes256 = 9,
    /// Twofish with a key of 256 bits.
    Twofish = 10,
    /// Camellia with a key of 128 bits.
    Camellia128 = 11,
    /// Camellia with a key of 192 bits.
    Camellia192 = 12,
    /// Camellia with a key of 256 bits.
    Camellia256 = 13,
}

impl Cipher {
    /// All ciphers, in the order of their numbers.
    pub const ALL: [Self; 11] = [
        Self::Idea,
        Self::TripleDes,
        Self::Cast5,
        Self::Blowfish,
        Self::Aes128,
        Self::Aes192,
        Self::Aes256,
        Self::Twofish,
        Self::Camellia128,
        Self::Camellia192,
        Self::Camellia256,
    ];

    /// Finds the cipher with a number (RFC 9580, 9.3).
    pub fn of(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|cipher| cipher.number() == number)
    }

    /// Finds the cipher with a name as GnuPG writes it, in any case (also `S9` for number 9).
    pub fn named(name: &str) -> Option<Self> {
        let number = name.strip_prefix(['S', 's']).and_then(|number| number.parse().ok());
        let by_name = |cipher: &Self| cipher.name().eq_ignore_ascii_case(name);
        match number {
            Some(number) => Self::of(number),
            None if name.eq_ignore_ascii_case("AES128") => Some(Self::Aes128),
            None => Self::ALL.into_iter().find(by_name),
        }
    }

    /// Returns the number of the cipher (RFC 9580, 9.3).
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Returns the name of the cipher as GnuPG writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Idea => "IDEA",
            Self::TripleDes => "3DES",
            Self::Cast5 => "CAST5",
            Self::Blowfish => "BLOWFISH",
            Self::Aes128 => "AES",
            Self::Aes192 => "AES192",
            Self::Aes256 => "AES256",
            Self::Twofish => "TWOFISH",
            Self::Camellia128 => "CAMELLIA128",
            Self::Camellia192 => "CAMELLIA192",
            Self::Camellia256 => "CAMELLIA256",
        }
    }

    /// Returns the size of a key in bytes.
    pub fn key_size(self) -> usize {
        match self {
            Self::Idea | Self::Cast5 | Self::Blowfish | Self::Aes128 | Self::Camellia128 => 16,
            Self::TripleDes | Self::Aes192 | Self::Camellia192 => 24,
            Self::Aes256 | Self::Twofish | Self::Camellia256 => 32,
        }
    }

    /// Returns the size of a block in bytes.
    pub fn block_size(self) -> usize {
        match self {
            Self::Idea | Self::TripleDes | Self::Cast5 | Self::Blowfish => 8,
            _ => 16,
        }
    }

    /// Returns whether a block has only 64 bits, too few for more than some gigabytes under one key.
    pub fn is_old(self) -> bool {
        self.block_size() == 8
    }
}

impl fmt::Display for Cipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ciphers_are_found_by_number_and_by_name() {
        for cipher in Cipher::ALL {
            assert_eq!(Cipher::of(cipher.number()), Some(cipher));
            assert_eq!(Cipher::named(&cipher.name().to_lowercase()), Some(cipher));
            assert_eq!(Cipher::named(&format!("s{}", cipher.number())), Some(cipher));
        }
        assert_eq!(Cipher::named("aes128"), Some(Cipher::Aes128));
        assert_eq!((Cipher::of(5), Cipher::of(0), Cipher::named("ROT13")), (None, None, None));
    }
}
