//! Why something was not done.

use crate::code::Code;

/// Why something was not done.
#[derive(Debug)]
pub(crate) enum Failure {
    /// gpg has a code for it, which the caller reports in its own words.
    Coded(CodedFailure),
    /// An error that ends the run.
    Fatal(anyhow::Error),
}

/// gpg's code for a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodedFailure {
    pub(crate) code: Code,
    /// The code as status lines carry it, with the part of GnuPG that found the failure.
    pub(crate) value: u32,
}

impl Failure {
    /// A failure of which gpg does not say which part found it.
    pub(crate) fn bare(code: Code) -> Self {
        Self::Coded(CodedFailure { code, value: code.bare() })
    }

    /// A failure that gpg's agent found.
    pub(crate) fn of_agent(code: Code) -> Self {
        Self::Coded(CodedFailure { code, value: code.with_agent() })
    }

    /// Returns gpg's code.
    ///
    /// # Errors
    ///
    /// The error that ends the run.
    pub(crate) fn coded(self) -> anyhow::Result<CodedFailure> {
        match self {
            Self::Coded(coded) => Ok(coded),
            Self::Fatal(error) => Err(error),
        }
    }
}

/// A command failed and has reported why: the exit code is 1.
#[derive(Debug, thiserror::Error)]
#[error("the command gave up")]
pub(crate) struct CommandFailed;

/// Returns the value; `None` where a failure has a code, which was reported.
///
/// # Errors
///
/// The error that ends the run.
pub(crate) fn reported<T>(outcome: Result<T, Failure>) -> anyhow::Result<Option<T>> {
    outcome.map(Some).or_else(|failure| failure.coded().map(|_| None))
}

impl CodedFailure {
    /// Says whether a secret key did not sign: gpg's agent found that, or the answers ended.
    pub(crate) fn is_of_signer(self) -> bool {
        self.value == self.code.with_agent() || self.code == Code::CANCELLED
    }
}

impl From<CodedFailure> for Failure {
    fn from(coded: CodedFailure) -> Self {
        Self::Coded(coded)
    }
}

/// A failure that gpg itself found.
impl From<Code> for Failure {
    fn from(code: Code) -> Self {
        Self::Coded(CodedFailure { code, value: code.with_gpg() })
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Fatal(error.into())
    }
}
