//! What the server and the connection to it report, as errors of this crate.

use std::error::Error as _;
use std::path::Path;

use tokio_postgres::error::SqlState;

use crate::{Error, Result};

/// Adds to a server's words what was being done, and where.
pub(crate) trait ServerContext<T> {
    fn server_context(self, path: &Path, doing: &'static str) -> Result<T>;
}

impl<T> ServerContext<T> for std::result::Result<T, tokio_postgres::Error> {
    fn server_context(self, path: &Path, doing: &'static str) -> Result<T> {
        self.map_err(|error| {
            let path = path.to_owned();
            match error.code() {
                Some(&SqlState::DISK_FULL) => Error::Full { path, doing },
                Some(&SqlState::LOCK_NOT_AVAILABLE) => Error::Locked { path, holder: String::new() },
                Some(&SqlState::READ_ONLY_SQL_TRANSACTION) => Error::Unwritable { path },
                _ => Error::Server {
                    path,
                    doing,
                    source: message(&error).into(),
                    transient: is_transient(&error),
                },
            }
        })
    }
}

/// Returns the server's message, or what the connection to it reports with all sources.
fn message(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(reported) => match reported.detail() {
            Some(detail) => format!("{} ({detail})", reported.message()),
            None => reported.message().to_owned(),
        },
        None => causes(error).fold(error.to_string(), |message, cause| format!("{message}: {cause}")),
    }
}

type Cause<'e> = &'e (dyn std::error::Error + 'static);

/// Returns what led to an error, one cause after the other.
fn causes(error: &tokio_postgres::Error) -> impl Iterator<Item = Cause<'_>> {
    fn next<'e>(cause: &Cause<'e>) -> Option<Cause<'e>> {
        (*cause).source()
    }
    std::iter::successors(error.source(), next)
}

/// Serialization failures and deadlocks, and whatever says that the server went away or is not there yet.
fn is_transient(error: &tokio_postgres::Error) -> bool {
    match error.code() {
        Some(code) => {
            [
                &SqlState::T_R_SERIALIZATION_FAILURE,
                &SqlState::T_R_DEADLOCK_DETECTED,
                &SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN,
                &SqlState::ADMIN_SHUTDOWN,
                &SqlState::CRASH_SHUTDOWN,
                &SqlState::CANNOT_CONNECT_NOW,
                &SqlState::TOO_MANY_CONNECTIONS,
            ]
            .contains(&code)
                || code.code().starts_with("08")
        }
        None => {
            error.is_closed()
                || causes(error)
                    .any(|cause| cause.downcast_ref::<std::io::Error>().is_some_and(is_lost_connection))
        }
    }
}

fn is_lost_connection(error: &std::io::Error) -> bool {
    use std::io::ErrorKind;
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::UnexpectedEof
            | ErrorKind::TimedOut
            | ErrorKind::NotFound
    )
}
