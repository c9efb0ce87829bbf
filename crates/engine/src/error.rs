//! What can go wrong in a command.

use std::path::PathBuf;

use store::{Fingerprint, JournalId};

/// An error of a library that reads foreign files.
pub type ForeignError = Box<dyn std::error::Error + Send + Sync>;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Returns an error's text and those of its causes. Where a library gives an error the text of its cause, it is there once.
pub fn causes(error: &dyn std::error::Error) -> String {
    let mut texts: Vec<String> =
        std::iter::successors(Some(error), |error| error.source()).map(ToString::to_string).collect();
    texts.dedup();
    texts.join(": ")
}

/// Says whether a search failed because the database has no index for it, which migrating the database may make.
pub fn lacks_search_index(error: &(dyn std::error::Error + 'static)) -> bool {
    let error = error.downcast_ref().or_else(|| match error.downcast_ref() {
        Some(Error::Store(error)) => Some(error),
        _ => None,
    });
    matches!(error, Some(store::Error::Unindexed { .. }))
}

/// The errors of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The database refused.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// Foreign bytes could not be read.
    #[error(transparent)]
    Cert(#[from] cert::Error),
    /// A secret key could not be used or kept.
    #[error(transparent)]
    Secret(#[from] secret::Error),
    /// A message could not be written or read.
    #[error(transparent)]
    Message(#[from] message::Error),
    /// Something in the network did not answer, or not as it should.
    #[cfg(feature = "network")]
    #[error(transparent)]
    Network(#[from] network::Error),
    /// A signature could not be made.
    #[error(transparent)]
    Sign(#[from] sign::Error),
    /// A change to a certificate was not made.
    #[error(transparent)]
    Edit(#[from] crate::edit::EditRefusal),
    /// A key could not be made.
    #[error(transparent)]
    Keygen(#[from] keygen::Error),
    /// No profile for new keys has this name.
    #[error("there is no profile '{name}'; there are {}", .known.join(", "))]
    UnknownProfile {
        /// The name.
        name: String,
        /// All names there are.
        known: Vec<String>,
    },
    /// Somebody else can change a file that is relied on.
    #[error(transparent)]
    Exposed(#[from] crate::permissions::Exposed),
    /// Neither an option nor the environment says where the database is.
    #[error("the user has no home directory")]
    NoHome,
    /// There is no GnuPG home directory, whose agent could be asked.
    #[error(
        "there is no gpg-agent for this database: GnuPG's home directory (GNUPGHOME, else ~/.gnupg) does not exist, and GnuPG \
             keeps no keys in the directory of the database"
    )]
    NoAgentHere,
    /// A name that can stand for no certificate.
    #[error("'{name}'")]
    Name {
        /// The name as it was given.
        name: String,
        /// What is wrong with it.
        source: store::query::NameError,
    },
    /// The journal has no entry that could be undone.
    #[error("there is nothing to undo")]
    NothingToUndo,
    /// The journal has no such entry.
    #[error("the journal has no entry {}", .entry.0)]
    NoSuchEntry {
        /// The entry that was asked for.
        entry: JournalId,
    },
    /// An entry that was undone.
    #[error("entry {} was undone by entry {} already", .entry.0, .by.0)]
    AlreadyUndone {
        /// The entry that was asked for.
        entry: JournalId,
        /// The entry that undid it.
        by: JournalId,
    },
    /// An entry that changed nothing.
    #[error("entry {} changed nothing that could be taken back", .entry.0)]
    NothingInEntry {
        /// The entry that was asked for.
        entry: JournalId,
    },
    /// A later import brought the same certificates as the entry that was to be undone.
    #[error(
        "{count} of the certificates of entry {} were imported again later ({fingerprint} by entry {})",
        .entry.0, .later.0
    )]
    BroughtAgain {
        /// The entry that was to be undone.
        entry: JournalId,
        /// How many of its certificates.
        count: u64,
        /// The first of them.
        fingerprint: Fingerprint,
        /// The latest import that brought it again.
        later: JournalId,
    },
    /// The database exists with another number of partitions.
    #[error("{location}: the database exists already, with another number of partitions")]
    OtherPartitions {
        /// The database, without a password.
        location: String,
    },
    /// Two databases that should be equal are not.
    #[error("the databases are not equal: {what}")]
    NotEqual {
        /// What differs.
        what: String,
    },
    /// SQL statements for a database on a server, which psql runs.
    #[error("{location}: use psql for SQL on a server; docs/schema.md describes the tables")]
    ServerStatement {
        /// The database.
        location: String,
    },
    /// Another program changed the same certificates.
    #[error("another program changed the same certificates meanwhile; try again")]
    ChangedMeanwhile,
    /// The output of an export failed.
    #[error("writing")]
    Output(#[source] std::io::Error),
    /// A directory that is neither a GnuPG home with key files nor a certificate directory.
    #[error("{path}: neither a GnuPG home directory with keys nor a shared certificate directory")]
    NoSource {
        /// The directory.
        path: PathBuf,
    },
    /// The user's configuration or profiles, or a database of GnuPG's, could not be understood.
    #[error("{path}")]
    ForeignFile {
        /// The file.
        path: PathBuf,
        /// What is wrong, and in which line.
        source: ForeignError,
    },
    /// A database of GnuPG's with tables that are not known here.
    #[error("{path}: written by a {program} with tables of version {version}, which are not known here")]
    ForeignVersion {
        /// The database.
        path: PathBuf,
        /// What wrote it.
        program: &'static str,
        /// The version it says.
        version: String,
    },
    /// A file could not be read or written.
    #[error("{path}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    #[test]
    fn an_error_names_each_cause_once() {
        let source = || io::Error::other("disk full");
        assert_eq!(causes(&Error::Output(source())), "writing: disk full");
        let read = cert::Error::Read { position: 7, source: source() };
        assert_eq!(causes(&Error::from(read)), "reading failed at byte 7: disk full");
    }
}
