//! The database's connections.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;

use super::access::{Access, Stamp};
use super::connect;
use crate::{Error, Result};

/// A database in one file, or in memory.
pub struct SqliteStore {
    pub(super) path: PathBuf,
    pub(super) access: Access,
    /// Open connections that nobody uses at the moment.
    idle: Mutex<Vec<Connection>>,
    /// How many snapshots there are.
    pub(super) readers: AtomicUsize,
    /// Keeps a database in memory, which would end with its last connection; nobody uses it.
    _anchor: Option<Mutex<Connection>>,
}

impl SqliteStore {
    /// Opens a database that is there.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Missing`] if it is not, [`crate::Error::Newer`] and [`crate::Error::Foreign`] if this program
    /// cannot read it.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self::with(path, connect::open(path)?))
    }

    /// Opens a database; creates it, and its directories, if it is not there.
    ///
    /// Files are readable for their owner only, directories too.
    pub fn create(path: &Path) -> Result<Self> {
        Ok(Self::with(path, connect::create(path)?))
    }

    /// Makes a database in memory, which is gone when this is dropped.
    ///
    /// It has no write-ahead log: whoever writes waits for all readers, and they for him.
    pub fn in_memory() -> Result<Self> {
        static NUMBER: AtomicUsize = AtomicUsize::new(1);
        let name = format!(":memory:{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let anchor = connect::create_in_memory(Path::new(&name))?;
        let store = Self::empty(Path::new(&name));
        Ok(Self { access: Access::Memory, _anchor: Some(Mutex::new(anchor)), ..store })
    }

    /// Returns a database without certificates, which can only be read, in the place of one that is not there.
    pub fn empty(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            access: Access::Empty,
            idle: Mutex::default(),
            readers: AtomicUsize::new(0),
            _anchor: None,
        }
    }

    pub(super) fn with(path: &Path, (access, connection): (Access, Connection)) -> Self {
        Self { access, idle: Mutex::new(vec![connection]), ..Self::empty(path) }
    }

    /// Returns the database's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn take(&self) -> Result<Connection> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| connect::reopen(&self.path, &self.access), Ok)
    }

    /// Says whether what was read since the database was opened can be relied on.
    pub(super) fn check_unchanged(&self) -> Result<()> {
        match &self.access {
            Access::Immutable(stamp, _) if *stamp != Stamp::of(&self.path)? => {
                Err(Error::ChangedMeanwhile { path: self.path.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Says whether this process has a snapshot.
    pub(super) fn is_read(&self) -> bool {
        self.readers.load(Ordering::Relaxed) > 0
    }

    pub(super) fn give_back(&self, connection: Connection) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }
}
