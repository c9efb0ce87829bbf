//! The standards that `--compliance` names.

/// Which standard messages and keys comply with, as far as it matters here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Compliance {
    /// LibrePGP: its OCB-encrypted data are written to recipients whose preferences allow that, and new keys announce that they
    /// are read.
    Gnupg,
    /// `openpgp`, which is the default of Debian's gpg 2.4, and older standards, which share its algorithms here.
    #[default]
    OpenPgp,
    /// The rules of Germany's office for information security for restricted data.
    DeVs,
}
