//! The programs of GnuPG that a run stands in for.

/// The version of gpg this program stands in for.
pub(crate) const GPG_VERSION: &str = "2.2.40";

/// Which of GnuPG's programs a run stands in for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Program {
    /// The one that does everything.
    #[default]
    Gpg,
    /// The one that only verifies, with keyrings whose keys are all trusted; it has no database and no configuration.
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
