//! How many signatures the reduction of a certificate that is too large has removed, and whose they say to be.

use std::fmt;
use std::ops::{AddAssign, Sub};

/// Numbers of removed signatures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemovedSignatures {
    /// Those that do not name the certificate's primary key as their issuer.
    pub by_others: usize,
    /// Those that name it: the primary key did not make them, or there are more than
    /// [`verify::limits::MAX_OWN_SIGNATURES`].
    pub own: usize,
}

impl RemovedSignatures {
    /// Counts one signature, of which is known whether it names the primary key.
    pub(crate) fn count(&mut self, names_primary: bool) {
        *(if names_primary { &mut self.own } else { &mut self.by_others }) += 1;
    }

    /// Returns whether none was removed.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl AddAssign for RemovedSignatures {
    fn add_assign(&mut self, other: Self) {
        self.by_others += other.by_others;
        self.own += other.own;
    }
}

impl Sub for RemovedSignatures {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self { by_others: self.by_others - other.by_others, own: self.own - other.own }
    }
}

impl fmt::Display for RemovedSignatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |count: usize, one: &str, many: &str| match count {
            1 => format!("1 {one}"),
            count => format!("{count} {many}"),
        };
        let by_others = counted(self.by_others, "signature by others", "signatures by others");
        let own = counted(
            self.own,
            "forged or surplus signature that names the key itself",
            "forged or surplus signatures that name the key itself",
        );
        match (self.by_others, self.own) {
            (_, 0) => f.write_str(&by_others),
            (0, _) => f.write_str(&own),
            _ => write!(f, "{by_others} and {own}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_says_whose_signatures_were_removed() {
        let text = |by_others, own| RemovedSignatures { by_others, own }.to_string();
        assert_eq!(text(1, 0), "1 signature by others");
        assert_eq!(text(0, 2), "2 forged or surplus signatures that name the key itself");
        assert_eq!(
            text(3, 1),
            "3 signatures by others and 1 forged or surplus signature that names the key itself"
        );
    }
}
