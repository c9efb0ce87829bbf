//! What SQLite reports, as errors of this crate.

use std::path::Path;

use rusqlite::ErrorCode;

use super::lock_holder;
use crate::{BoxedError, Error, Result};

/// SQLite's codes for a write that failed, unless it knows that space is wanting, and for a failure to make room for
/// what processes share, which it tells without the reason.
const WRITE_REFUSED: [i32; 3] = [
    rusqlite::ffi::SQLITE_IOERR_WRITE,
    rusqlite::ffi::SQLITE_IOERR_SHMSIZE,
    rusqlite::ffi::SQLITE_IOERR_SHMOPEN,
];

/// Adds to SQLite's words what was being done, and where.
pub(crate) trait Context<T> {
    fn context(self, path: &Path, doing: &'static str) -> Result<T>;
}

impl<T> Context<T> for rusqlite::Result<T> {
    fn context(self, path: &Path, doing: &'static str) -> Result<T> {
        self.map_err(|source| {
            let path = path.to_owned();
            match source.sqlite_error_code() {
                Some(code) if is_busy(code) => Error::Locked { holder: lock_holder::describe(&path), path },
                Some(ErrorCode::NotADatabase) => Error::Foreign { path },
                Some(ErrorCode::DatabaseCorrupt) => Error::Damaged { path, said: source.to_string() },
                Some(ErrorCode::DiskFull) => Error::Full { path, doing },
                Some(ErrorCode::SystemIoFailure)
                    if source
                        .sqlite_error()
                        .is_some_and(|error| WRITE_REFUSED.contains(&error.extended_code)) =>
                {
                    Error::Refused { path, doing }
                }
                Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen) => Error::Unwritable { path },
                _ => Error::Sqlite { path, doing, source: boxed(source) },
            }
        })
    }
}

/// Boxes an error; without a message of its own its code says everything.
fn boxed(error: rusqlite::Error) -> BoxedError {
    match error {
        rusqlite::Error::SqliteFailure(code, None) => code.into(),
        error => error.into(),
    }
}

/// Returns whether the only reason is another connection's lock.
pub(super) fn is_busy(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed)
}
