//! The key that encrypts one message.

use std::fmt::{self, Write as _};

use zeroize::Zeroizing;

use crate::{Cipher, Error, Result};

/// The key that encrypts one message, with the cipher it is for.
#[derive(Clone)]
pub struct SessionKey {
    cipher: Cipher,
    key: Zeroizing<Vec<u8>>,
}

impl SessionKey {
    /// Generates a session key.
    ///
    /// # Errors
    ///
    /// [`Error::Random`].
    pub fn random(cipher: Cipher) -> Result<Self> {
        let mut key = Zeroizing::new(vec![0; cipher.key_size()]);
        getrandom::fill(&mut key).map_err(|_| Error::Random)?;
        Ok(Self { cipher, key })
    }

    /// Takes a key; `None` if it does not have the cipher's size.
    pub fn new(cipher: Cipher, key: &[u8]) -> Option<Self> {
        (key.len() == cipher.key_size()).then(|| Self { cipher, key: Zeroizing::new(key.to_vec()) })
    }

    /// Parses the output of GnuPG's `--show-session-key`: the number of the cipher, a colon, and the key in
    /// hexadecimal.
    pub fn from_text(text: &str) -> Option<Self> {
        let (number, digits) = text.trim().split_once(':')?;
        let cipher = Cipher::of(number.parse().ok()?)?;
        let mut key = Zeroizing::new(vec![0; cipher.key_size()]);
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) || digits.len() != 2 * key.len() {
            return None;
        }
        for (byte, pair) in key.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(Self { cipher, key })
    }

    /// Returns the form that [`SessionKey::from_text`] reads.
    pub fn to_text(&self) -> Zeroizing<String> {
        // With the capacity for all of it, since memory that a growing string frees is not wiped.
        let mut text = Zeroizing::new(String::with_capacity(5 + 2 * self.key.len()));
        let written = write!(text, "{}:", self.cipher.number());
        written
            .and_then(|()| self.key.iter().try_for_each(|byte| write!(text, "{byte:02X}")))
            .expect("memory");
        text
    }

    /// Returns the cipher.
    pub fn cipher(&self) -> Cipher {
        self.cipher
    }

    /// Returns the bytes of the key.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// Parses the plaintext of encrypted session keys: the number of the cipher, then the key.
    pub(crate) fn from_numbered(bytes: &[u8]) -> Option<Self> {
        let (&number, key) = bytes.split_first()?;
        Self::new(Cipher::of(number)?, key)
    }
}

impl fmt::Debug for SessionKey {
    /// Shows only the cipher.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionKey({})", self.cipher)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_session_key_is_read_back_and_nothing_else_is() {
        let key = SessionKey::random(Cipher::Aes256).expect("random numbers");
        let text = key.to_text();
        assert_eq!(SessionKey::from_text(&text).expect("a key").key(), key.key());
        assert!(!format!("{key:?}").contains(&text[2..10]));
        for wrong in [
            "",
            "9",
            "9:",
            "9:00",
            "5:00",
            "x:00",
            &text.replace(&text[2..4], "+1"),
            &text[..text.len() - 1],
            &format!("{}é", *text),
        ] {
            assert!(SessionKey::from_text(wrong).is_none(), "{wrong}");
        }
    }
}
