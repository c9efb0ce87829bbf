//! The programs of GnuPG that this crate replaces.

/// The program of GnuPG that a run replaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Program {
    /// gpg.
    #[default]
    Gpg,
    /// gpgv, which only verifies, with keyrings whose keys are all trusted; it has no database and no configuration.
    Gpgv,
}

impl Program {
    /// Returns its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Gpg => "gpg",
            Self::Gpgv => "gpgv",
        }
    }
}
