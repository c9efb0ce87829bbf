//! What can go wrong in a database.

use std::path::PathBuf;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why the database could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// SQLite's own words, with what was being done.
    #[error("{doing}: {source}")]
    Sqlite {
        /// What was being done.
        doing: &'static str,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
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
