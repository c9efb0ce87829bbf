//! The substitute of the PostgreSQL engine in a build without it: no address can be read, so that no such store exists.

use std::convert::Infallible;
use std::fmt;

use cert::Timestamp;

use crate::doctor::{Derive, Finding, Rebuilt};
use crate::server_url::without_password;
use crate::{CertId, Error, JournalId, KeptVerdict, Result, Snapshot, Store, Transaction};

/// Where a PostgreSQL database is: nowhere.
#[derive(Clone, Debug)]
pub struct Address(Infallible);

/// The PostgreSQL engine.
#[derive(Debug)]
pub struct PostgresStore(Address);

/// What a database says about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// How many partitions its tables have.
    pub partitions: u32,
    /// Whether parts of user IDs are found by an index.
    pub search_index: bool,
}

impl Address {
    /// Reads no URL.
    ///
    /// # Errors
    ///
    /// Always [`Error::Address`].
    pub fn parse(url: &str) -> Result<Self> {
        let reason = "this program was built without PostgreSQL (feature `postgres`)".to_owned();
        Err(Error::Address { url: without_password(url), reason })
    }

    /// Reads no URL.
    ///
    /// # Errors
    ///
    /// Always [`Error::Address`].
    pub fn parse_alone(url: &str) -> Result<Self> {
        Self::parse(url)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {}
    }
}

impl PostgresStore {
    /// Opens a database.
    ///
    /// # Errors
    ///
    /// None: there is no address.
    pub fn open(address: Address) -> Result<Self> {
        match address.0 {}
    }

    /// Makes a database.
    ///
    /// # Errors
    ///
    /// None: there is no address.
    pub fn create(address: Address, _partitions: u32) -> Result<Self> {
        match address.0 {}
    }

    /// Brings the tables to this version.
    ///
    /// # Errors
    ///
    /// None: there is no address.
    pub fn migrate(address: Address) -> Result<Self> {
        match address.0 {}
    }

    /// Returns what the database says about itself.
    pub fn shape(&self) -> Shape {
        match self.0.0 {}
    }

    /// Returns where the database is.
    pub fn address(&self) -> &Address {
        &self.0
    }

    /// Returns what the server calls itself.
    ///
    /// # Errors
    ///
    /// None: there is no store.
    pub fn server_version(&self) -> Result<String> {
        match self.0.0 {}
    }
}

impl Store for PostgresStore {
    fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>> {
        match self.0.0 {}
    }

    fn supports_concurrent_readers(&self) -> Result<bool> {
        match self.0.0 {}
    }

    fn begin(&self, _: &str, _: Option<JournalId>, _: Timestamp) -> Result<Box<dyn Transaction + '_>> {
        match self.0.0 {}
    }

    fn keep_verdicts(&self, _: &[(CertId, Vec<KeptVerdict>)]) -> Result<bool> {
        match self.0.0 {}
    }

    fn check(&self, _: &mut Derive<'_>, _: &mut dyn FnMut(Finding)) -> Result<()> {
        match self.0.0 {}
    }

    fn rebuild(&self, _: &mut Derive<'_>) -> Result<Rebuilt> {
        match self.0.0 {}
    }
}
