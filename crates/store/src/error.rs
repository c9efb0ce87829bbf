//! What can go wrong in a database.

use std::path::{Path, PathBuf};

use crate::packed;

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
    /// A directory or file that cannot be made.
    #[error("{path}: {source}")]
    File {
        /// The directory or file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// Another writer made no progress for a minute.
    #[error("{path}: another program has held the write lock for a minute without progress{holder}")]
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
        self.map_err(|source| Error::Sqlite { path: path.to_owned(), doing, source })
    }
}
