//! Error codes as status lines carry them, with gpg's words for them.

use std::fmt;

/// A code of libgpg-error that this program reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    General = 1,
    NoPublicKey = 9,
    AmbiguousName = 107,
    Exists = 32803,
    NoEntry = 32849,
    InvalidUserId = 37,
    NotFound = 27,
    NotImplemented = 69,
    NoData = 58,
    InvalidKeyring = 162,
    EndOfFile = 16383,
}

impl Code {
    /// Returns the value with gpg as its source, as a `FAILURE` line has it.
    pub(crate) fn from_gpg(self) -> u32 {
        const SOURCE_GPG: u32 = 2 << 24;
        SOURCE_GPG | self as u32
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::General => "General error",
            Self::NoPublicKey => "No public key",
            Self::AmbiguousName => "Ambiguous name",
            Self::Exists => "File exists",
            Self::NoEntry => "No such file or directory",
            Self::InvalidUserId => "Invalid user ID",
            Self::NotFound => "Not found",
            Self::NotImplemented => "Not implemented",
            Self::NoData => "No data",
            Self::InvalidKeyring => "Invalid keyring",
            Self::EndOfFile => "End of file",
        })
    }
}
