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
mod find;
mod journal;
mod libpq_files;
mod provenance;
mod read;
mod rows_out;
mod schema;
mod tls;
mod tofu;
mod url;
mod verdicts;
mod view;
mod write;

use connect::Server;

pub use address::Address;
pub use schema::Shape;
pub use url::without_password;

use crate::doctor::{Derive, Finding, Rebuilt};
use crate::{CertId, JournalId, KeptVerdict, Result, Snapshot, Store, Timestamp, Transaction};

/// A database in a schema of a PostgreSQL server.
pub struct PostgresStore {
    server: Server,
    shape: Shape,
}

impl PostgresStore {
    /// Opens a database that is there.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Missing`] if its schema is not, [`crate::Error::Newer`] and [`crate::Error::Foreign`] if this
    /// program cannot read it; [`crate::Error::Server`] in the server's words.
    pub fn open(address: Address) -> Result<Self> {
        let server = Server::new(address)?;
        let connection = server.connect()?;
        let shape = schema::shape(&connection, &server)?;
        server.give_back(connection);
        Ok(Self { server, shape })
    }

    /// Opens a database, making its schema and tables if they are not there: split over so many partitions, or plain
    /// for 0.
    ///
    /// # Errors
    ///
    /// Those of [`PostgresStore::open`]; the server's words if this user may not make them.
    pub fn create(address: Address, partitions: u32) -> Result<Self> {
        let server = Server::new(address)?;
        let connection = server.connect()?;
        let shape = match schema::shape(&connection, &server) {
            Err(crate::Error::Missing { .. }) => {
                schema::create(&connection, &server, partitions)?;
                schema::shape(&connection, &server)?
            }
            shape => shape?,
        };
        server.give_back(connection);
        Ok(Self { server, shape })
    }

    /// Brings the tables of a database to the version of this program, and makes what could not be made before.
    ///
    /// # Errors
    ///
    /// Those of [`PostgresStore::open`].
    pub fn migrate(address: Address) -> Result<Self> {
        let server = Server::new(address)?;
        let connection = server.connect()?;
        let shape = schema::migrate(&connection, &server)?;
        server.give_back(connection);
        Ok(Self { server, shape })
    }

    /// Returns what the database says about itself.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns where the database is.
    pub fn address(&self) -> &Address {
        &self.server.address
    }

    /// Returns what the server calls itself.
    ///
    /// # Errors
    ///
    /// The server's.
    pub fn server_version(&self) -> Result<String> {
        let view = view::View::begin(self)?;
        let rows = view.rows("SELECT current_setting('server_version')", &[], "asking for the version")?;
        rows.first().map_or(Ok(String::new()), |row| view.column(row, 0))
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
        Ok(Box::new(write::Writer::begin(self, write::WriterMode::Alone, command, journal, now)?))
    }

    fn begin_concurrent(
        &self,
        command: &str,
        journal: Option<JournalId>,
        now: Timestamp,
    ) -> Result<Box<dyn Transaction + '_>> {
        Ok(Box::new(write::Writer::begin(self, write::WriterMode::Beside, command, journal, now)?))
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
