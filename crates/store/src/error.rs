//! What can go wrong in a database.

use std::path::PathBuf;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a database engine.
pub type BoxedError = Box<dyn std::error::Error + Send + Sync>;

/// Why the database could not do what it was asked. The text does not repeat that of the source.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// SQLite failed; the source says why.
    #[error("{path}: {doing}")]
    Sqlite {
        /// The database.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// What SQLite reported.
        source: BoxedError,
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
    #[error("{path}: certificate {cert}")]
    Corrupt {
        /// The database.
        path: PathBuf,
        /// The certificate's number.
        cert: i64,
        /// What is wrong.
        source: crate::packed::Error,
    },
    /// A binding that nobody wrote this way.
    #[error("{path}: binding {binding}: its key is not a fingerprint")]
    CorruptBinding {
        /// The database.
        path: PathBuf,
        /// The binding's number.
        binding: i64,
    },
    /// An entry of the journal that nobody wrote this way.
    #[error("{path}: journal entry {entry} cannot be read")]
    CorruptEntry {
        /// The database.
        path: PathBuf,
        /// The entry's number.
        entry: i64,
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
    #[error("{path}")]
    File {
        /// The directory or file.
        path: PathBuf,
        /// What the system reported.
        source: std::io::Error,
    },
    /// It can be read here, but not written to.
    #[error("{path}: cannot be written to: the file, its directory or the file system is read-only")]
    Unwritable {
        /// The database.
        path: PathBuf,
    },
    /// A read-only place holds a database whose last changes were never moved into it.
    #[error("{path}: the last changes are still in {log}; reading them takes write access")]
    Unfinished {
        /// The database.
        path: PathBuf,
        /// SQLite's write-ahead log.
        log: PathBuf,
    },
    /// It was written to while it was read in a way that does not notice.
    #[error(
        "{path}: was changed while it was read without locks, since its directory is read-only or full; try again"
    )]
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
    /// A purge was committed, but what it deleted is still in pages that are not in use; the source says why.
    #[error("{path}: it was deleted, but the old pages could not be overwritten; purge it again")]
    NotOverwritten {
        /// The database.
        path: PathBuf,
        /// What was reported.
        source: BoxedError,
    },
    /// The system takes no more, for want of space or another reason.
    #[error(
        "{path}: {doing}: the system refused to write: no space is left, a quota is used up, the file is too large for \
         it, or the disk fails; nothing of it was written"
    )]
    Refused {
        /// The database.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
    },
    /// SQLite finds its own structures broken.
    #[error("{path}: the database is damaged ({said})")]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What SQLite reported.
        said: String,
    },
    /// A user's statement that SQLite does not accept.
    #[error("{words}")]
    Statement {
        /// What SQLite said.
        words: String,
    },
    /// A user's statement that would change something.
    #[error("only statements that read are allowed: SELECT, VALUES, EXPLAIN, PRAGMA")]
    NotReadOnly,
    /// Another writer held the lock for a minute, with SQLite without making progress.
    #[error("{path}: another program{holder} has held the lock for a minute; try again when it has finished")]
    Locked {
        /// The database.
        path: PathBuf,
        /// " (process 123, keyhoard import)" where the holder could be found.
        holder: String,
    },
    /// The server, or the connection to it, failed; the source says why.
    #[error("{path}: {doing}")]
    Server {
        /// The database.
        path: PathBuf,
        /// What was being done.
        doing: &'static str,
        /// What the server or the system reported.
        source: BoxedError,
        /// Trying again, the whole transaction, may well succeed.
        transient: bool,
    },
    /// Something that is no address of a database.
    #[error("{url}: {reason}")]
    Address {
        /// What was given, without its password.
        url: String,
        /// What is wrong.
        reason: String,
    },
    /// A search would have to read too much.
    #[error(
        "{path}: no search index: this would read more than {limit} user IDs; look for a whole mail address, or have \
         the administrator make the extension pg_trgm available"
    )]
    Unindexed {
        /// The database.
        path: PathBuf,
        /// How many user IDs are read at most.
        limit: i64,
    },
    /// Tables of an earlier version, which this user may not bring to this program's.
    #[error("{path}: the tables are of an earlier version; their owner has to upgrade them")]
    Older {
        /// The database.
        path: PathBuf,
        /// The version found.
        found: i64,
    },
    /// Owner trust of everybody, where there is no such thing or the user may not set it.
    #[error("{path}: owner trust for everybody: {reason}")]
    NotForEverybody {
        /// The database.
        path: PathBuf,
        /// Why not.
        reason: &'static str,
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

impl Error {
    /// Says whether the same transaction may well succeed when it is tried again: others were in the way, or the server
    /// went away; nothing of it was written.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Server { transient: true, .. })
    }
}
