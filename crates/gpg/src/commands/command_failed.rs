//! The error of a command that ends the run with exit code 1.

/// A command failed and has reported why: the exit code is 1.
#[derive(Debug, thiserror::Error)]
#[error("the command gave up")]
pub(crate) struct CommandFailed;
