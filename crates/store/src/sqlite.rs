//! The SQLite engine.

mod connect;
mod find;
mod journal;
mod read;
mod rows;
mod schema;
mod search;
mod write;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;

use crate::{JournalId, Result, Snapshot, Store, Timestamp, Transaction};

/// A database in one file.
pub struct SqliteStore {
    path: PathBuf,
    /// Open connections that nobody uses at the moment.
    idle: Mutex<Vec<Connection>>,
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

    /// Opens a database, creating it, and the directories it stands in, if it is not there.
    ///
    /// Files are readable for their owner only, directories too.
    pub fn create(path: &Path) -> Result<Self> {
        Ok(Self::with(path, connect::create(path)?))
    }

    fn with(path: &Path, connection: Connection) -> Self {
        Self { path: path.to_owned(), idle: Mutex::new(vec![connection]) }
    }

    /// Returns the database's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn take(&self) -> Result<Connection> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| connect::open(&self.path), Ok)
    }

    fn give_back(&self, connection: Connection) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }
}

impl Store for SqliteStore {
    fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>> {
        Ok(Box::new(read::View::begin(self)?))
    }

    fn begin(
        &self,
        command: &str,
        journal: Option<JournalId>,
        now: Timestamp,
    ) -> Result<Box<dyn Transaction + '_>> {
        Ok(Box::new(write::Writer::begin(self, command, journal, now)?))
    }
}
