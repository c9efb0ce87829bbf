//! The modes of authenticated encryption (RFC 9580, 9.6).

use crate::Cipher;

/// A mode of authenticated encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Aead {
    /// EAX.
    Eax = 1,
    /// OCB.
    Ocb = 2,
    /// GCM.
    Gcm = 3,
}

impl Aead {
    /// Finds the mode with a number (RFC 9580, 9.6).
    pub fn of(number: u8) -> Option<Self> {
        [Self::Eax, Self::Ocb, Self::Gcm].into_iter().find(|mode| mode.number() == number)
    }

    /// Finds the mode with a name, in any case.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Eax, Self::Ocb, Self::Gcm].into_iter().find(|mode| mode.name().eq_ignore_ascii_case(name))
    }

    /// Returns the number of the mode (RFC 9580, 9.6).
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Returns the name of the mode.
    pub fn name(self) -> &'static str {
        match self {
            Self::Eax => "EAX",
            Self::Ocb => "OCB",
            Self::Gcm => "GCM",
        }
    }

    /// Says whether there is an implementation of a cipher in this mode.
    pub fn takes(self, cipher: Cipher) -> bool {
        use Cipher::*;
        match cipher {
            Aes128 | Aes192 | Aes256 => true,
            Camellia128 | Camellia192 | Camellia256 => self != Self::Gcm,
            _ => false,
        }
    }

    /// Returns the size of a nonce in bytes.
    pub fn nonce_size(self) -> usize {
        match self {
            Self::Eax => 16,
            Self::Ocb => 15,
            Self::Gcm => 12,
        }
    }
}

impl std::fmt::Display for Aead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
