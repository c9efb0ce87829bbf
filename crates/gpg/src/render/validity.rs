//! A validity as listings write it: a letter for programs, a word for people.

use engine::listing::{OwnerTrust, Validity};

pub(crate) fn letter(validity: Validity) -> u8 {
    match validity {
        Validity::Unknown => b'-',
        Validity::Undefined => b'q',
        Validity::Never => b'n',
        Validity::Marginal => b'm',
        Validity::Full => b'f',
        Validity::Ultimate => b'u',
    }
}

/// Returns the letter of owner trust.
pub(crate) fn owner_letter(owner: OwnerTrust) -> u8 {
    match owner {
        OwnerTrust::Expired => b'e',
        assigned => letter(assigned.into()),
    }
}

/// Returns how valid a user ID is, in brackets.
pub(crate) fn word(validity: Validity) -> &'static str {
    match validity {
        Validity::Unknown => "[ unknown]",
        Validity::Undefined => "[  undef ]",
        Validity::Never => "[  never ]",
        Validity::Marginal => "[marginal]",
        Validity::Full => "[  full  ]",
        Validity::Ultimate => "[ultimate]",
    }
}
