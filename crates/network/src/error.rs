//! What can go wrong with a request.

use std::net::IpAddr;
use std::path::PathBuf;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// The errors of this crate. None of them says that a key does not exist: that is no error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A text that is no address of a keyserver, a file or a person.
    #[error("'{text}': {reason}")]
    Address {
        /// The text.
        text: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The system lacks what a request needs.
    #[error("requests cannot be made here")]
    Setup(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// No connection was made, or it broke.
    #[error("{url}: no answer")]
    Unreachable {
        /// What was asked for.
        url: String,
        /// Why.
        source: reqwest::Error,
    },
    /// A name stands for an address that is not public, or an address of this kind was not given by the user.
    #[error("{url}: {host} is at {address}, which is no public address")]
    NotPublic {
        /// What was asked for.
        url: String,
        /// The host.
        host: String,
        /// The address.
        address: IpAddr,
    },
    /// A name could not be resolved, and it is not known whether it exists.
    #[error("{host}: the name cannot be resolved")]
    Resolve {
        /// The name.
        host: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The answer was not complete in time.
    #[error("{url}: no complete answer within {seconds} seconds")]
    Timeout {
        /// What was asked for.
        url: String,
        /// The time.
        seconds: u64,
    },
    /// The server refuses.
    #[error("{url}: the server says {status}")]
    Status {
        /// What was asked for.
        url: String,
        /// The HTTP status.
        status: reqwest::StatusCode,
        /// What the server says about it, cut.
        text: String,
    },
    /// The answer is too long.
    #[error("{url}: the answer is longer than {limit} bytes")]
    TooLong {
        /// What was asked for.
        url: String,
        /// The limit.
        limit: usize,
    },
    /// The server redirects where no request goes.
    #[error("{url}: redirected to {target}: {reason}")]
    Redirect {
        /// What was asked for.
        url: String,
        /// Where it was redirected.
        target: String,
        /// Why the request does not go there.
        reason: &'static str,
    },
    /// The answer makes no sense.
    #[error("{url}: the answer is not that of {expected}")]
    Answer {
        /// What was asked for.
        url: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A file could not be read.
    #[error("{path}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl Error {
    /// Says whether the server could not be reached or asks for less, so that further requests to it are of no use now.
    pub fn is_of_server(&self) -> bool {
        match self {
            Self::Setup(_) | Self::Unreachable { .. } | Self::Resolve { .. } | Self::Timeout { .. } => true,
            Self::NotPublic { .. } => true,
            Self::Status { status, .. } => status.is_server_error() || status.as_u16() == 429,
            _ => false,
        }
    }
}
