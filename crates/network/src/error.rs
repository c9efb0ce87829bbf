//! What can go wrong with a request.

use std::net::IpAddr;
use std::path::PathBuf;

use reqwest::StatusCode;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of a library that makes requests.
pub type ClientError = Box<dyn std::error::Error + Send + Sync>;

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
    #[error("the network cannot be used here")]
    Setup(#[source] ClientError),
    /// No connection was made, or it broke.
    #[error("{url}: no answer")]
    Unreachable {
        /// What was asked for.
        url: String,
        /// Why.
        source: ClientError,
    },
    /// A name stands for an address that is not public, or an address of this kind was not given by the user.
    #[error("{url}: {host} is at {address}, which is no public address; {advice}")]
    NotPublic {
        /// What was asked for.
        url: String,
        /// The host.
        host: String,
        /// The address.
        address: IpAddr,
        /// What the user can do.
        advice: &'static str,
    },
    /// The proxy could not, or would not, connect to the server: the name may not exist.
    #[error("{url}: the proxy makes no connection")]
    NotConnected {
        /// What was asked for.
        url: String,
        /// What the proxy says.
        source: ClientError,
    },
    /// A variable of the environment is not UTF-8.
    #[error("the variable {name} of the environment is not UTF-8")]
    Variable {
        /// Its name.
        name: String,
    },
    /// A name could not be resolved, and it is not known whether it exists.
    #[error("{host}: the name cannot be resolved")]
    Resolve {
        /// The name.
        host: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The DNS could not be asked.
    #[error("{name}: the DNS gives no answer")]
    Dns {
        /// The name.
        name: String,
        /// Why.
        source: ClientError,
    },
    /// Records of the DNS are not signed, or not by those who may.
    #[error("{name}: DNSSEC does not prove the records; they are not used")]
    NotValidated {
        /// The name.
        name: String,
    },
    /// A proxy resolves names, so that the DNS is not asked from here.
    #[error("{domain}: DNS records cannot be looked up through the proxy, and are not looked up around it")]
    DnsThroughProxy {
        /// The domain.
        domain: String,
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
    #[error("{url}: the server says {}{}", with_reason(*.status), first_line(.text))]
    Status {
        /// What was asked for.
        url: String,
        /// The HTTP status.
        status: u16,
        /// What the server says about it, cut.
        text: String,
    },
    /// The server did not say whether it offers the paths by which keys of version 6 are found, so that it is not known
    /// whether it has one.
    #[error("{url}: the server does not say whether it offers keys of version 6")]
    Silent {
        /// The server.
        url: String,
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
            Self::NotPublic { .. } | Self::NotConnected { .. } | Self::Variable { .. } => true,
            Self::Dns { .. } | Self::DnsThroughProxy { .. } => true,
            Self::Status { status, .. } => matches!(status, 429 | 500..=599),
            _ => false,
        }
    }
}

/// Returns an HTTP status with its standard reason (RFC 9110, 15).
fn with_reason(status: u16) -> String {
    StatusCode::from_u16(status).map_or_else(|_| status.to_string(), |status| status.to_string())
}

/// How many characters of what a server says are shown.
const LONGEST_LINE: usize = 200;

/// Returns the first line of what a server says about a refusal, escaped and cut.
fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let cut: String = line.chars().take(LONGEST_LINE).flat_map(char::escape_debug).collect();
    let more = if line.chars().nth(LONGEST_LINE).is_some() { "..." } else { "" };
    if cut.is_empty() { cut } else { format!(": \"{cut}{more}\"") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_has_its_standard_reason_if_there_is_one() {
        let error = |status| Error::Status { url: "U".to_owned(), status, text: String::new() }.to_string();
        assert_eq!(error(404), "U: the server says 404 Not Found");
        assert_eq!(error(599), "U: the server says 599 <unknown status code>");
    }

    #[test]
    fn the_first_line_of_a_refusal_is_shown_escaped_and_cut() {
        assert_eq!(first_line(" \r\n\n"), "");
        assert_eq!(
            first_line("\nToo many\x1b[2J \u{202e}requests\nwait"),
            ": \"Too many\\u{1b}[2J \\u{202e}requests\""
        );
        assert_eq!(first_line(&"a".repeat(201)), format!(": \"{}...\"", "a".repeat(200)));
    }
}
