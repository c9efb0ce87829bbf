//! Exit codes, and the error message before them.

use std::error::Error;
use std::fmt;
use std::io;
use std::process::ExitCode;

use engine::stateless::Failure;
use engine::{causes, lacks_search_index, secret};

use crate::error_code::ErrorCode;
use crate::hint::Hint;
use crate::output::is_standard_output_closed;
use crate::stderr::{self, MessageJson};
use crate::style::Style;

/// Libgpg-error's `GPG_ERR_ENOTTY`, with which a pinentry without a terminal fails.
const NO_TERMINAL: u16 = 0x8000 | 102;

/// The outcome of a command that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The command did its task: exit code 0.
    Done,
    /// Nothing was found, nothing was usable, or problems were found: exit code 1.
    Nothing,
    /// What `keyhoard verify` found, with an exit code of its own.
    Verified(u8),
}

/// An error of a certain kind. Exit code 1 if nothing is there that the command could use, else 2.
#[derive(Debug)]
pub(crate) struct CodedError {
    code: ErrorCode,
    message: String,
}

impl CodedError {
    /// Makes an error of a kind.
    pub(crate) fn new(code: ErrorCode, message: impl fmt::Display) -> Self {
        Self { code, message: message.to_string() }
    }

    /// Nothing that is there can be used, for this reason.
    pub(crate) fn not_found(reason: impl fmt::Display) -> Self {
        Self::new(ErrorCode::NotFound, reason)
    }
}

impl fmt::Display for CodedError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message.fmt(formatter)
    }
}

impl Error for CodedError {}

impl Outcome {
    /// Returns [`Outcome::Done`] if `something` is true.
    pub(crate) fn done_if(something: bool) -> Self {
        if something { Self::Done } else { Self::Nothing }
    }

    /// Returns whether the exit code is 0.
    pub(crate) fn is_success(self) -> bool {
        matches!(self, Self::Done | Self::Verified(0))
    }
}

/// Writes an error to stderr, as a line of text or of JSON, and returns the exit code.
///
/// Nothing is written about a standard output that is closed (`| head`), since its reader has closed it.
pub(crate) fn report(result: anyhow::Result<Outcome>, is_json: bool) -> ExitCode {
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Nothing) => ExitCode::from(1),
        Ok(Outcome::Verified(code)) => ExitCode::from(code),
        Err(error) if error.chain().any(is_standard_output_closed) => ExitCode::from(2),
        Err(error) => {
            let code = code(&error);
            let advice = match advice(&error) {
                Some(advice) if code == ErrorCode::NoDatabase => format!(" yet; {advice}"),
                Some(advice) if is_homeless(&error) => format!(": {advice}"),
                Some(advice) => format!("; {advice}"),
                None if lacks_search_index(error.as_ref()) => format!(", then run {}", Hint::MigrateDatabase),
                None => String::new(),
            };
            let message = format!("{}{advice}", causes(error.as_ref()));
            match is_json {
                true => stderr::json(&MessageJson::Error { error: code, message: &message }),
                false => stderr::print(Style::Error, "keyhoard:", message),
            }
            ExitCode::from(match error.downcast_ref::<Failure>() {
                Some(failure) => failure.kind.exit_code(),
                None if code == ErrorCode::NotFound => 1,
                None => 2,
            })
        }
    }
}

fn code(error: &anyhow::Error) -> ErrorCode {
    if let Some(coded) = error.downcast_ref::<CodedError>() {
        return coded.code;
    }
    if let Some(secret::Error::NoPassphrase { .. }) = secret_error(error) {
        return ErrorCode::PassphraseNeeded;
    }
    match error.downcast_ref() {
        Some(engine::Error::Store(engine::store::Error::Missing { .. })) => ErrorCode::NoDatabase,
        Some(engine::Error::Store(_)) => ErrorCode::Database,
        _ if error.chain().any(|cause| cause.is::<io::Error>()) => ErrorCode::System,
        _ => ErrorCode::Failed,
    }
}

/// Returns what helps where the library refuses something.
fn advice(error: &anyhow::Error) -> Option<String> {
    match secret_error(error) {
        Some(secret::Error::EmptyPassphrase) => {
            return Some(format!(
                "a key without passphrase is made with --no-passphrase; {} removes a passphrase",
                Hint::RemovePassphrase("NAME".to_owned())
            ));
        }
        Some(secret::Error::Agent { code: Some(NO_TERMINAL), .. }) => {
            return Some(
                "its pinentry has no terminal: run this on one, with GPG_TTY set to what `tty` prints"
                    .to_owned(),
            );
        }
        // There was no way to ask for it.
        Some(secret::Error::NoPassphrase { .. }) => {
            return Some("use --passphrase-file, --passphrase-fd or --passphrase-program".to_owned());
        }
        _ => {}
    }
    Some(match error.downcast_ref()? {
        engine::Error::Store(engine::store::Error::Missing { .. }) => {
            match engine::migrate::usual().is_empty() {
                true => format!("{} or {} makes it", Hint::ImportFile, Hint::Generate),
                false => format!("{}, {} or {} makes it", Hint::ImportFile, Hint::Generate, Hint::Migrate),
            }
        }
        engine::Error::Store(engine::store::Error::Older { .. }) => {
            format!("the owner runs {}", Hint::MigrateDatabase)
        }
        engine::Error::NoSuchEntry { .. } => format!("{} lists them", Hint::Log),
        engine::Error::AlreadyUndone { by, .. } => format!("{} brings it back", Hint::Undo(by.0)),
        engine::Error::BroughtAgain { entry, .. } => {
            format!("{} takes it back all the same", Hint::UndoByForce(entry.0))
        }
        engine::Error::NothingInEntry { .. } => {
            format!("{} forgets the messages that were seen", Hint::TofuForget)
        }
        engine::Error::OtherPartitions { location } => {
            format!("{} makes another", Hint::Copy(location.clone()))
        }
        engine::Error::NoHome => "name the database with KEYHOARD_DB".to_owned(),
        engine::Error::NoAgentHere => "`gpg -k` makes the home directory".to_owned(),
        _ => return None,
    })
}

/// Says whether the user has no home directory, and so no default database.
fn is_homeless(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(engine::Error::NoHome))
}

fn secret_error(error: &anyhow::Error) -> Option<&secret::Error> {
    error.downcast_ref().or_else(|| match error.downcast_ref() {
        Some(engine::Error::Secret(error)) => Some(error),
        _ => None,
    })
}
