//! Errors of the agent.

use std::io;
use std::path::PathBuf;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why the agent could not be asked, or what it refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No agent listens, and none may be started.
    #[error("no gpg-agent runs here, and none was started (socket {})", .socket.display())]
    NoAgent {
        /// The socket.
        socket: PathBuf,
    },
    /// The agent could not be started.
    #[error("gpg-agent could not be started ({}): {reason}", .program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The connection broke.
    #[error("the connection to gpg-agent failed: {0}")]
    Io(io::Error),
    /// The agent answered what the protocol does not allow, or more than a limit.
    #[error("gpg-agent's answer cannot be read: {0}")]
    Protocol(&'static str),
    /// The agent refused a command.
    #[error("gpg-agent: {text}")]
    Refused {
        /// Libgpg-error's number, without the part that names the program.
        code: u16,
        /// What the agent said.
        text: String,
    },
}

impl Error {
    /// Returns libgpg-error's number of what the agent refused.
    pub fn code(&self) -> Option<u16> {
        match self {
            Self::Refused { code, .. } => Some(*code),
            Self::NoAgent { .. } | Self::Start { .. } => Some(NO_AGENT),
            Self::Io(_) | Self::Protocol(_) => None,
        }
    }
}

/// Libgpg-error's `GPG_ERR_NO_AGENT`.
const NO_AGENT: u16 = 77;

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Error> for secret::Error {
    fn from(error: Error) -> Self {
        Self::Agent { code: error.code(), message: error.to_string() }
    }
}
