//! Passwords as text.

use secret::Passphrase;
use zeroize::Zeroizing;

use super::{Failure, Kind, Result};

/// A password of a message, or of a key.
#[derive(Clone)]
pub struct Password(Zeroizing<Vec<u8>>);

impl Password {
    /// Takes a new password: text without white space except single spaces inside. A line end after it is ignored.
    ///
    /// # Errors
    ///
    /// [`Kind::PasswordNotHumanReadable`].
    pub fn new(bytes: Zeroizing<Vec<u8>>) -> Result<Self> {
        let refused = |reason| Failure::new(Kind::PasswordNotHumanReadable, reason);
        let text = std::str::from_utf8(&bytes).map_err(|_| refused("the password is no UTF-8 text"))?;
        let text = text.trim_end();
        let is_odd =
            |character: char| (character.is_whitespace() && character != ' ') || character.is_control();
        if text.starts_with(char::is_whitespace) || text.contains(is_odd) {
            return Err(refused("the password has white space or control characters that are hard to type"));
        }
        Ok(Self(text.as_bytes().to_vec().into()))
    }

    /// Takes an existing password, which may be any bytes.
    pub fn existing(bytes: Zeroizing<Vec<u8>>) -> Self {
        Self(bytes)
    }

    /// Returns its bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the passwords to try: without white space at the end, then as it is.
    pub(super) fn variants(&self) -> impl Iterator<Item = Passphrase> {
        let trimmed = match std::str::from_utf8(&self.0) {
            Ok(text) => text.trim_end().as_bytes(),
            Err(_) => self.0.trim_ascii_end(),
        };
        let whole = (trimmed.len() < self.0.len()).then_some(&self.0[..]);
        std::iter::once(trimmed).chain(whole).map(Passphrase::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(text: &[u8]) -> Result<Password> {
        Password::new(text.to_vec().into())
    }

    #[test]
    fn the_end_of_a_line_is_no_part_of_a_new_password() {
        assert_eq!(new(b"open sesame\n").expect("a password").bytes(), b"open sesame");
        for odd in [&b" first"[..], b"tab\tinside", b"not \xff UTF-8", b"two\nlines"] {
            assert_eq!(new(odd).err().map(|failure| failure.kind), Some(Kind::PasswordNotHumanReadable));
        }
    }

    #[test]
    fn a_password_that_was_given_before_is_tried_without_its_white_space_and_with_it() {
        let variants = |text: &[u8]| {
            let password = Password::existing(text.to_vec().into());
            password.variants().map(|one| one.as_bytes().to_vec()).collect::<Vec<_>>()
        };
        assert_eq!(variants(b"sesame \r\n"), [&b"sesame"[..], b"sesame \r\n"]);
        assert_eq!(variants(b"sesame"), [b"sesame"]);
    }
}
