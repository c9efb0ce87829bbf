//! How one database can be accessed.

use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::Path;
use std::time::SystemTime;

use crate::{Error, Result};

/// How every connection to one database is opened.
#[derive(Clone, Debug)]
pub(super) enum Access {
    /// With locks: others may write meanwhile.
    Local,
    /// With locks, without shared memory.
    Network,
    /// There is no file: all connections share a database in memory, which ends with the last one. It has no log.
    Memory,
    /// There is no file: each connection has a database of its own, in memory and without certificates.
    Empty,
    /// Without locks, since none can be had here; the file is watched instead.
    Immutable(Stamp, Obstacle),
}

/// Why nothing can be written beside a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    ReadOnly,
    /// No space is left, or the system takes no more for another reason.
    Full,
}

impl Obstacle {
    /// Returns the error of an attempt to write.
    pub(super) fn error(self, path: &Path, doing: &'static str) -> Error {
        let path = path.to_owned();
        match self {
            Self::ReadOnly => Error::Unwritable { path },
            Self::Full => Error::Refused { path, doing },
        }
    }
}

/// What tells whether a file was written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    #[cfg(unix)]
    inode: u64,
    size: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    pub(super) fn of(path: &Path) -> Result<Self> {
        let metadata = metadata(path)?;
        Ok(Self {
            #[cfg(unix)]
            inode: std::os::unix::fs::MetadataExt::ino(&metadata),
            size: metadata.len(),
            modified: metadata.modified().ok(),
        })
    }
}

/// Looks at the file of a database.
pub(super) fn metadata(path: &Path) -> Result<Metadata> {
    std::fs::metadata(path).map_err(|source| match source.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Error::Missing { path: path.to_owned() },
        _ => Error::File { path: path.to_owned(), source },
    })
}
