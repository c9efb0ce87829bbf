//! The PostgreSQL engine, for databases that several machines share.
//!
//! The crate's interface waits for answers, as SQLite's does; the asynchronous client and the one thread that moves its
//! data stay in here.

mod address;
mod certificate_number;
mod certificate_rows;
mod connect;
mod derived;
mod doctor;
pub(crate) mod error;
mod journal;
mod libpq_files;
mod parameters;
mod read;
mod rows_out;
mod schema;
mod search;
mod store;
mod tls;
mod url;
mod verdicts;
mod view;
mod write;

pub use address::Address;
pub use schema::Shape;
pub use store::PostgresStore;

use crate::doctor::{Derive, Finding, Rebuilt};
use crate::engine::Engine;
use crate::{CertId, JournalId, KeptVerdict, Result, Snapshot, Store, Timestamp, Transaction};

impl PostgresStore {
    /// Returns what the server calls itself.
    ///
    /// # Errors
    ///
    /// The server's.
    pub fn server_version(&self) -> Result<String> {
        let view = view::View::begin(self)?;
        let sql = "SELECT current_setting('server_version')";
        Ok(view.first(sql, &[], "asking for the version", |row| row.get(0))?.unwrap_or_default())
    }
}

impl Store for PostgresStore {
    fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>> {
        Ok(Box::new(view::View::begin(self)?))
    }

    fn supports_concurrent_readers(&self) -> Result<bool> {
        Ok(true)
    }

    fn begin(
        &self,
        command: &str,
        journal: Option<JournalId>,
        now: Timestamp,
    ) -> Result<Box<dyn Transaction + '_>> {
        Ok(Box::new(write::Writer::begin(self, write::WriterMode::Exclusive, command, journal, now)?))
    }

    fn begin_concurrent(
        &self,
        command: &str,
        journal: Option<JournalId>,
        now: Timestamp,
    ) -> Result<Box<dyn Transaction + '_>> {
        Ok(Box::new(write::Writer::begin(self, write::WriterMode::Concurrent, command, journal, now)?))
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
