//! The options that say where passphrases come from.

use std::os::fd::RawFd;
use std::path::PathBuf;

use engine::cert::Fingerprint;
use engine::passphrase::PassphraseSource;
use engine::secret_keys::owner_of;
use engine::store::ReadCertificates;

use crate::printable::printable;

/// The heading of these options. Each of them names it, so that it is not that of the options after them, too.
const HEADING: &str = "Passphrases";

/// Where the passphrases of secret keys come from.
#[derive(Clone, Debug, clap::Args)]
#[group(id = "passphrase", multiple = false)]
pub(crate) struct PassphraseOptions {
    /// Take the first line of this file descriptor as passphrase, instead of asking on the terminal.
    #[arg(long, help_heading = HEADING, value_name = "NUMBER")]
    passphrase_fd: Option<RawFd>,

    /// Take the first line of this file as passphrase.
    #[arg(long, help_heading = HEADING, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    passphrase_file: Option<PathBuf>,

    /// Take the first line that this program writes as passphrase; its argument is the question.
    #[arg(long, help_heading = HEADING, value_name = "PROGRAM", value_hint = clap::ValueHint::ExecutablePath)]
    passphrase_program: Option<PathBuf>,
}

impl PassphraseOptions {
    /// Returns the source that the options name, or the usual one.
    pub(crate) fn source(&self) -> engine::Result<PassphraseSource> {
        match self {
            Self { passphrase_fd: Some(number), .. } => Ok(PassphraseSource::Descriptor(*number)),
            Self { passphrase_file: Some(path), .. } => Ok(PassphraseSource::File(path.clone())),
            _ => self.source_of_questions(),
        }
    }

    /// Returns the source of a passphrase that the file and descriptor do not hold: the program, or the usual one.
    pub(crate) fn source_of_questions(&self) -> engine::Result<PassphraseSource> {
        self.passphrase_program
            .clone()
            .map_or_else(PassphraseSource::usual, |program| Ok(PassphraseSource::Program(program)))
    }
}

/// Returns the user ID of a key's certificate, for questions.
pub(crate) fn owner(snapshot: &dyn ReadCertificates, key: &Fingerprint) -> Option<String> {
    owner_of(snapshot, key).ok().flatten()?.name.map(|name| printable(&name))
}
