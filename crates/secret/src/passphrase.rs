//! Passphrases.

use std::fmt;

use subtle::ConstantTimeEq as _;

use crate::memory::Guarded;

/// A passphrase: kept out of swap and core dumps, wiped when dropped, compared in constant time, never displayed.
///
/// It is a sequence of bytes; input of a terminal is not converted.
pub struct Passphrase(Guarded);

impl Passphrase {
    /// Copies a passphrase; the caller wipes the original.
    pub fn new(bytes: &[u8]) -> Self {
        Self(Guarded::copy_of(bytes))
    }

    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Clone for Passphrase {
    fn clone(&self) -> Self {
        Self::new(&self.0)
    }
}

/// Comparisons reveal only the lengths by the time they take.
impl PartialEq for Passphrase {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for Passphrase {}

impl fmt::Debug for Passphrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Passphrase(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passphrases_are_equal_when_all_bytes_are() {
        assert_eq!(Passphrase::new(b"abc"), Passphrase::new(b"abc"));
        assert_eq!(Passphrase::new(b""), Passphrase::new(b""));
        for other in [&b"abd"[..], b"bbc", b"ab", b"abcd", b""] {
            assert_ne!(Passphrase::new(b"abc"), Passphrase::new(other));
        }
    }

    #[test]
    fn a_passphrase_is_not_shown() {
        assert_eq!(format!("{:?}", Passphrase::new(b"abc")), "Passphrase(..)");
    }
}
