//! The SQLite engine.

mod certifications;
mod connect;
mod derived;
mod doctor;
mod early_sync;
mod file_access;
mod find;
mod journal;
mod log;
mod provenance;
mod read;
mod schema;
mod search;
mod share;
mod signature_table;
mod statement;
mod tofu;
mod verdicts;
mod view;
mod write;
pub(crate) mod write_lock;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;

use connect::{Access, Stamp};

pub use statement::{Rows, Value};

use crate::doctor::{Derive, Finding, Rebuilt};
use crate::{CertId, Error, JournalId, KeptVerdict, Result, Snapshot, Store, Timestamp, Transaction};

/// A database in one file.
pub struct SqliteStore {
    path: PathBuf,
    access: Access,
    /// Open connections that nobody uses at the moment.
    idle: Mutex<Vec<Connection>>,
    /// How many snapshots there are.
    readers: AtomicUsize,
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

    fn with(path: &Path, (access, connection): (Access, Connection)) -> Self {
        Self {
            path: path.to_owned(),
            access,
            idle: Mutex::new(vec![connection]),
            readers: AtomicUsize::new(0),
        }
    }

    /// Returns the database's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn take(&self) -> Result<Connection> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.map_or_else(|| connect::reopen(&self.path, &self.access), Ok)
    }

    /// Says whether what was read since the database was opened can be relied on.
    fn check_unchanged(&self) -> Result<()> {
        match &self.access {
            Access::Fixed(stamp, _) if *stamp != Stamp::of(&self.path)? => {
                Err(Error::ChangedMeanwhile { path: self.path.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Says whether this process has a snapshot.
    fn is_read(&self) -> bool {
        self.readers.load(Ordering::Relaxed) > 0
    }

    fn give_back(&self, connection: Connection) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }
}

impl Store for SqliteStore {
    fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>> {
        Ok(Box::new(view::View::begin(self)?))
    }

    fn snapshot_on_all_cores(&self) -> Result<Box<dyn Snapshot + '_>> {
        Ok(Box::new(view::View::begin_on_all_cores(self)?))
    }

    fn supports_concurrent_readers(&self) -> Result<bool> {
        let connection = self.take()?;
        let logged = log::is_there(&connection, &self.path, &self.access);
        self.give_back(connection);
        logged
    }

    fn begin(
        &self,
        command: &str,
        journal: Option<JournalId>,
        now: Timestamp,
    ) -> Result<Box<dyn Transaction + '_>> {
        Ok(Box::new(write::Writer::begin(self, command, journal, now)?))
    }

    fn begin_bulk_load(&self, command: &str, now: Timestamp) -> Result<Option<Box<dyn Transaction + '_>>> {
        let writer = write::Writer::begin_first(self, command, now)?;
        Ok(writer.map(|writer| Box::new(writer) as Box<dyn Transaction>))
    }

    fn begin_deferred_indexes(
        &self,
        command: &str,
        journal: Option<JournalId>,
        now: Timestamp,
    ) -> Result<Option<Box<dyn Transaction + '_>>> {
        Ok(Some(Box::new(write::Writer::begin_in_parts(self, command, journal, now)?)))
    }

    fn keep_verdicts(&self, found: &[(CertId, Vec<KeptVerdict>)]) -> Result<bool> {
        verdicts::keep(self, found)
    }

    fn check(&self, derive: &mut Derive<'_>, found: &mut dyn FnMut(Finding)) -> Result<()> {
        self.check_all(derive, found)
    }

    fn rebuild(&self, derive: &mut Derive<'_>) -> Result<Rebuilt> {
        self.rebuild_all(derive)
    }
}
