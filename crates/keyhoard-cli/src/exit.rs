//! Exit codes, and the error message before them.

use std::error::Error;
use std::fmt;
use std::process::ExitCode;

use engine::stateless::Failure;
use engine::{causes, lacks_search_index, secret};

use crate::output::is_standard_output_closed;
use crate::stderr;
use crate::style::Style;

/// The outcome of a command that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The command did its task: exit code 0.
    Done,
    /// Nothing was found, nothing was usable, or problems were found: exit code 1.
    Nothing,
}

/// An error because nothing is there that the command could use: exit code 1, as with [`Outcome::Nothing`].
#[derive(Debug)]
pub(crate) struct NotFound(String);

impl NotFound {
    /// Nothing that is there can be used, for this reason.
    pub(crate) fn because(reason: impl fmt::Display) -> Self {
        Self(reason.to_string())
    }
}

impl fmt::Display for NotFound {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl Error for NotFound {}

impl Outcome {
    /// Returns [`Outcome::Done`] if `something` is true.
    pub(crate) fn done_if(something: bool) -> Self {
        if something { Self::Done } else { Self::Nothing }
    }
}

/// Writes an error to stderr and returns the exit code.
///
/// Nothing is written about a standard output that is closed (`| head`), since its reader has closed it.
pub(crate) fn report(result: anyhow::Result<Outcome>) -> ExitCode {
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Nothing) => ExitCode::from(1),
        Err(error) if error.chain().any(is_standard_output_closed) => ExitCode::from(2),
        Err(error) => {
            let advice = match advice(&error) {
                Some(advice) => format!("; {advice}"),
                None if lacks_search_index(error.as_ref()) => ", then run `keyhoard db migrate`".to_owned(),
                None => String::new(),
            };
            stderr::print(Style::Error, "keyhoard:", format_args!("{}{advice}", causes(error.as_ref())));
            if is_locked(&error) {
                stderr::print(
                    Style::Faint,
                    "keyhoard:",
                    "use --passphrase-file, --passphrase-fd or --passphrase-program",
                );
            }
            ExitCode::from(match error.downcast_ref::<Failure>() {
                Some(failure) => failure.kind.exit_code(),
                None if error.is::<NotFound>() => 1,
                None => 2,
            })
        }
    }
}

/// Returns which command helps where the library refuses something.
fn advice(error: &anyhow::Error) -> Option<&'static str> {
    if let Some(secret::Error::EmptyPassphrase) = secret_error(error) {
        return Some(
            "for a key without passphrase use `generate --no-passphrase` or `key passphrase --remove`",
        );
    }
    Some(match error.downcast_ref()? {
        engine::Error::NoSuchEntry { .. } => "`keyhoard log` lists them",
        engine::Error::NothingInEntry { .. } => {
            "messages that were seen are forgotten with `keyhoard tofu forget`"
        }
        engine::Error::OtherPartitions { .. } => "`keyhoard copy` makes another",
        _ => return None,
    })
}

/// Returns whether a passphrase was missing and there was no way to ask for it.
fn is_locked(error: &anyhow::Error) -> bool {
    matches!(secret_error(error), Some(secret::Error::NoPassphrase { .. }))
}

fn secret_error(error: &anyhow::Error) -> Option<&secret::Error> {
    error.downcast_ref().or_else(|| match error.downcast_ref() {
        Some(engine::Error::Secret(error)) => Some(error),
        _ => None,
    })
}
