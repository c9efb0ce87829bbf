//! What can go wrong in a database.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use crate::packed;
use crate::sqlite::turn;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why the database could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// SQLite's own words, with what was being done.
    #[error("{path}: {doing}: {source}")]
    Sqlite {
        /// The database.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// There is no database.
    #[error("{path}: there is no database")]
    Missing {
        /// Where one was looked for.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("{path}: this is not a Keyhoard database")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Rows that nobody wrote this way.
    #[error("{path}: certificate {cert}: {source}")]
    Corrupt {
        /// The database.
        path: PathBuf,
        /// The certificate's number.
        cert: i64,
        /// What is wrong.
        #[source]
        source: packed::Error,
    },
    /// A binding that nobody wrote this way.
    #[error("{path}: binding {binding}: its fingerprint is none")]
    CorruptBinding {
        /// The database.
        path: PathBuf,
        /// The binding's number.
        binding: i64,
    },
    /// Rows cannot be derived again from these bytes.
    #[error("{path}: certificate {cert}: {reason}")]
    Underivable {
        /// The database.
        path: PathBuf,
        /// The certificate's number.
        cert: i64,
        /// What is wrong.
        reason: String,
    },
    /// A directory or file that cannot be made.
    #[error("{path}: {source}")]
    File {
        /// The directory or file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// It can be read here, but not written to.
    #[error("{path}: cannot be written to: the file, its directory or the file system is read-only")]
    Unwritable {
        /// The database.
        path: PathBuf,
    },
    /// A read-only place holds a database whose last changes were never moved into it.
    #[error("{path}: the last changes are still in {log}, and cannot be read where nothing can be written")]
    Unfinished {
        /// The database.
        path: PathBuf,
        /// SQLite's write-ahead log.
        log: PathBuf,
    },
    /// It was written to while it was read in a way that does not notice.
    #[error("{path}: was changed while it was read from a read-only directory; try again")]
    ChangedMeanwhile {
        /// The database.
        path: PathBuf,
    },
    /// On a network file system, and in use in a way that does not work there.
    #[error("{path}: a database in use cannot move to a network file system; try again when nothing uses it")]
    Network {
        /// The database.
        path: PathBuf,
    },
    /// There is no write-ahead log, so that a writer waits for all readers, and one of them is in this program.
    #[error("{path}: cannot be written to while this program reads it, since it has no write-ahead log")]
    SnapshotHeld {
        /// The database.
        path: PathBuf,
    },
    /// No space is left.
    #[error("{path}: {doing}: no space is left; nothing of it was written")]
    Full {
        /// The database.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
    },
    /// SQLite finds its own structures broken.
    #[error("{path}: the database is damaged ({source})")]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// A user's statement that SQLite does not accept.
    #[error("{words}")]
    Statement {
        /// What SQLite said.
        words: String,
    },
    /// A user's statement that would change something.
    #[error("only statements that read are run here: SELECT, VALUES, EXPLAIN, PRAGMA")]
    NotReadOnly,
    /// Another writer made no progress for a minute.
    #[error("{path}: another program{holder} has held the lock for a minute without getting anything done")]
    Locked {
        /// The database.
        path: PathBuf,
        /// " (process 123, keyhoard import)" where the holder could be found.
        holder: String,
    },
    /// Written by a newer Keyhoard.
    #[error("{path}: written by a newer Keyhoard (schema {found}, this program knows {known})")]
    Newer {
        /// The database.
        path: PathBuf,
        /// The version found.
        found: i64,
        /// The version this program writes.
        known: i64,
    },
}

/// Adds to SQLite's words what was being done, and where.
pub(crate) trait Context<T> {
    fn context(self, path: &Path, doing: &'static str) -> Result<T>;
}

impl<T> Context<T> for rusqlite::Result<T> {
    fn context(self, path: &Path, doing: &'static str) -> Result<T> {
        self.map_err(|source| {
            let path = path.to_owned();
            match source.sqlite_error_code() {
                Some(code) if turn::is_busy(code) => Error::Locked { holder: turn::holder(&path), path },
                Some(ErrorCode::NotADatabase) => Error::Foreign { path },
                Some(ErrorCode::DatabaseCorrupt) => Error::Damaged { path, source },
                Some(ErrorCode::DiskFull) => Error::Full { path, doing },
                Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen) => Error::Unwritable { path },
                _ => Error::Sqlite { path, doing, source },
            }
        })
    }
}
