//! The database's connections and shape.

use super::address::Address;
use super::connect::{Connection, Server};
use super::schema::{self, Shape};
use crate::{Error, Result};

/// A database in a schema of a PostgreSQL server.
pub struct PostgresStore {
    pub(super) server: Server,
    pub(super) shape: Shape,
}

impl PostgresStore {
    /// Opens a database that is there.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] if its schema is not, [`Error::Newer`], [`Error::Older`] and [`Error::Foreign`] if this
    /// program cannot read it; [`Error::Server`] in the server's words.
    pub fn open(address: Address) -> Result<Self> {
        Self::with(address, schema::upgraded)
    }

    /// Opens a database, making its schema and tables if they are not there: split over so many partitions, or plain
    /// for 0.
    ///
    /// # Errors
    ///
    /// Those of [`PostgresStore::open`]; the server's words if this user may not make them.
    pub fn create(address: Address, partitions: u32) -> Result<Self> {
        Self::with(address, |connection, server| match schema::upgraded(connection, server) {
            Err(Error::Missing { .. }) => {
                schema::create(connection, server, partitions)?;
                schema::shape(connection, server)
            }
            shape => shape,
        })
    }

    /// Brings the tables of a database to the version of this program, and makes what could not be made before.
    ///
    /// # Errors
    ///
    /// Those of [`PostgresStore::open`].
    pub fn migrate(address: Address) -> Result<Self> {
        Self::with(address, schema::migrate)
    }

    fn with(address: Address, shape: impl FnOnce(&Connection, &Server) -> Result<Shape>) -> Result<Self> {
        let server = Server::new(address)?;
        let connection = server.connect()?;
        let shape = shape(&connection, &server)?;
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
}
