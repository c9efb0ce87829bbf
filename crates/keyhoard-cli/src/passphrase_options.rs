//! Where passphrases come from, as arguments.

use std::env;
use std::os::fd::RawFd;
use std::path::PathBuf;

use keyhoard::passphrase::Source;

/// Where the passphrases of secret keys come from.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Passphrases")]
#[group(id = "passphrase", multiple = false)]
pub(crate) struct PassphraseOptions {
    /// Take the first line of this file descriptor as passphrase, instead of asking on the terminal.
    #[arg(long, value_name = "NUMBER")]
    passphrase_fd: Option<RawFd>,

    /// Take the first line of this file as passphrase.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    passphrase_file: Option<PathBuf>,

    /// Take the first line that this program writes as passphrase; its argument is the question.
    #[arg(long, value_name = "PROGRAM", value_hint = clap::ValueHint::ExecutablePath)]
    passphrase_program: Option<PathBuf>,
}

impl PassphraseOptions {
    /// Returns the source that was chosen; if none was, the program that `KEYHOARD_PASSPHRASE_PROGRAM` names, else the
    /// terminal.
    pub(crate) fn source(&self) -> Source {
        match self {
            Self { passphrase_fd: Some(number), .. } => Source::Descriptor(*number),
            Self { passphrase_file: Some(path), .. } => Source::File(path.clone()),
            Self { passphrase_program: Some(path), .. } => Source::Program(path.clone()),
            _ => by_default(),
        }
    }

    /// Returns who is asked for something else than what the options give: the program, else the default.
    pub(crate) fn source_of_questions(&self) -> Source {
        self.passphrase_program.clone().map_or_else(by_default, Source::Program)
    }
}

fn by_default() -> Source {
    let program = env::var_os("KEYHOARD_PASSPHRASE_PROGRAM").filter(|program| !program.is_empty());
    program.map_or(Source::Terminal, |program| Source::Program(program.into()))
}
