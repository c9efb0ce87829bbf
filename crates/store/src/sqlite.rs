//! The SQLite engine.

mod access;
mod certifications;
mod connect;
mod derived;
mod doctor;
mod early_sync;
pub(crate) mod error;
#[cfg(unix)]
mod file_access;
mod functions;
mod journal;
mod lock_holder;
#[cfg(not(unix))]
mod portable_file_access;
mod read;
mod schema;
mod search;
mod share;
mod signature_table;
mod statement;
mod store;
mod upgrade;
mod verdicts;
mod view;
mod wal;
mod write;
mod write_lock;

#[cfg(not(unix))]
use portable_file_access as file_access;

pub use statement::{Rows, Value};
pub use store::SqliteStore;

use crate::doctor::{Derive, Finding, Rebuilt};
use crate::{CertId, JournalId, KeptVerdict, Result, Snapshot, Store, Timestamp, Transaction};

impl Store for SqliteStore {
    fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>> {
        Ok(Box::new(view::View::begin(self)?))
    }

    fn snapshot_on_all_cores(&self) -> Result<Box<dyn Snapshot + '_>> {
        Ok(Box::new(view::View::begin_on_all_cores(self)?))
    }

    fn supports_concurrent_readers(&self) -> Result<bool> {
        let connection = self.take()?;
        let logged = wal::is_there(&connection, &self.path, &self.access);
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
        let writer = write::Writer::begin_bulk_load(self, command, now)?;
        Ok(writer.map(|writer| Box::new(writer) as Box<dyn Transaction>))
    }

    fn begin_deferred_indexes(
        &self,
        command: &str,
        journal: Option<JournalId>,
        now: Timestamp,
    ) -> Result<Option<Box<dyn Transaction + '_>>> {
        let mut writer = write::Writer::begin(self, command, journal, now)?;
        writer.defers = true;
        Ok(Some(Box::new(writer)))
    }

    fn keep_verdicts(&self, found: &[(CertId, Vec<KeptVerdict>)]) -> Result<bool> {
        verdicts::keep(self, found)
    }

    fn check(&self, derive: &mut Derive<'_>, found: &mut dyn FnMut(Finding)) -> Result<()> {
        doctor::check(self, derive, found)
    }

    fn rebuild(&self, derive: &mut Derive<'_>) -> Result<Rebuilt> {
        doctor::rebuild(self, derive)
    }
}
