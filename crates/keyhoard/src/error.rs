//! What can go wrong in a command.

use std::path::PathBuf;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a command could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The database refused.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// Foreign bytes could not be read.
    #[error(transparent)]
    Cert(#[from] cert::Error),
    /// Neither an option nor the environment says where the database is.
    #[error("no place for the database: HOME is not set; name one with --db or KEYHOARD_DB")]
    NoHome,
    /// A name that can stand for no certificate.
    #[error("'{name}': {source}")]
    Name {
        /// The name as it was given.
        name: String,
        /// What is wrong with it.
        #[source]
        source: store::query::NameError,
    },
    /// What an export was written to takes no more.
    #[error("writing: {0}")]
    Output(#[source] std::io::Error),
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
}
