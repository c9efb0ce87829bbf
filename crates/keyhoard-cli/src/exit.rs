//! How the program ends.

use std::io;
use std::process::ExitCode;

use crate::style::{self, Style};

/// What a command came to, for scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It did what it was asked: exit code 0.
    Done,
    /// Nothing was found, nothing was usable, or problems were found: exit code 1.
    Nothing,
}

impl Outcome {
    /// Returns [`Outcome::Done`] if something was found.
    pub(crate) fn found(something: bool) -> Self {
        if something { Self::Done } else { Self::Nothing }
    }
}

/// Writes an error to stderr and returns the exit code.
///
/// A reader that closed the pipe early (`| head`) has what it wanted.
pub(crate) fn report(result: anyhow::Result<Outcome>) -> ExitCode {
    match result {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Nothing) => ExitCode::from(1),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{} {}", style::on_stderr(Style::Error, "keyhoard:"), causes(&error));
            ExitCode::from(2)
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// Joins an error and its causes, leaving out a cause that the error before it has said already.
fn causes(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |said, cause| {
        let cause = cause.to_string();
        match said.as_str() {
            "" => cause,
            _ if said.ends_with(&cause) => said,
            _ => format!("{said}: {cause}"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn an_error_names_each_cause_once() {
        let error = anyhow::Error::from(io::Error::other("disk full")).context("a.gpg: disk full");
        assert_eq!(causes(&error), "a.gpg: disk full");
        let error =
            Err::<(), _>(io::Error::other("disk full")).context("writing a.gpg").expect_err("an error");
        assert_eq!(causes(&error), "writing a.gpg: disk full");
    }

    #[test]
    fn a_closed_pipe_is_no_error() {
        let error = anyhow::Error::from(io::Error::from(io::ErrorKind::BrokenPipe)).context("writing");
        assert!(is_broken_pipe(&error));
    }
}
