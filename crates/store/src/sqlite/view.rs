//! One consistent view: a transaction to read in, and how its rows are read.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::Ordering;

use cert::Fingerprint;
use rusqlite::{Connection, OptionalExtension, Params, Row};

use super::error::Context;
use super::store::SqliteStore;
use super::{schema, wal};
use crate::rows::{is_fingerprint, rotated};
use crate::{CertId, Error, Result, packed};

/// Finds the certificates whose primary key has a key ID.
pub(super) const PRIMARIES: &str = "SELECT cert, fingerprint FROM key_id JOIN cert ON id = cert
    WHERE key_id = ?1 AND component = 0 ORDER BY cert";

/// A read transaction, or the reading side of a write transaction.
pub(super) struct View<'s> {
    pub(super) store: &'s SqliteStore,
    /// Taken out only when the view ends.
    connection: Option<Connection>,
    /// Whether it has [`LARGE_CACHE`].
    has_large_cache: Cell<bool>,
    /// Other connections that read the same moment.
    pub(super) parallel: RefCell<Vec<Self>>,
}

/// SQLite's cache, in negated KiB, for who follows certifications from key to key: he comes back to the same pages again
/// and again. Who reads the file from one end to the other gains nothing by it.
const LARGE_CACHE: i64 = -16 << 10;

impl<'s> View<'s> {
    /// Starts to read what is committed now.
    pub(super) fn begin(store: &'s SqliteStore) -> Result<Self> {
        let connection = store.take()?;
        wal::before_reading(&connection, &store.path, &store.access)?;
        Self::begin_on(store, connection)
    }

    /// Starts to read on a connection that is ready for it.
    pub(super) fn begin_on(store: &'s SqliteStore, connection: Connection) -> Result<Self> {
        let view = Self::within(store, connection);
        view.connection().execute_batch("BEGIN").context(&store.path, "reading")?;
        // The first read is what fixes the view.
        schema::check_version(view.connection(), &store.path)?;
        Ok(view)
    }

    /// Reads within a transaction that has begun on `connection`, which ends with the view.
    pub(super) fn within(store: &'s SqliteStore, connection: Connection) -> Self {
        store.readers.fetch_add(1, Ordering::Relaxed);
        Self {
            store,
            connection: Some(connection),
            has_large_cache: Cell::new(false),
            parallel: RefCell::default(),
        }
    }

    pub(super) fn connection(&self) -> &Connection {
        self.connection.as_ref().expect("it is taken out by drop only")
    }

    pub(super) fn path(&self) -> &Path {
        &self.store.path
    }

    pub(super) fn corrupt(&self, cert: i64, source: packed::Error) -> Error {
        Error::Corrupt { path: self.store.path.clone(), cert, source }
    }

    /// Runs a query and hands out its rows until `each` breaks.
    pub(super) fn rows(
        &self,
        sql: &str,
        parameters: impl Params,
        doing: &'static str,
        mut each: impl FnMut(&Row<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let mut statement = self.connection().prepare_cached(sql).context(self.path(), doing)?;
        let mut rows = statement.query(parameters).context(self.path(), doing)?;
        while let Some(row) = rows.next().context(self.path(), doing)? {
            if each(row)?.is_break() {
                break;
            }
        }
        self.store.check_unchanged()
    }

    /// Runs a query and returns what `map` makes of its rows.
    pub(super) fn list<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        doing: &'static str,
        mut map: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut list = Vec::new();
        self.rows(sql, parameters, doing, |row| {
            list.push(map(row)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(list)
    }

    /// Runs a statement that changes rows; returns how many.
    pub(super) fn execute(&self, sql: &str, parameters: impl Params, doing: &'static str) -> Result<usize> {
        let mut statement = self.connection().prepare_cached(sql).context(self.path(), doing)?;
        statement.execute(parameters).context(self.path(), doing)
    }

    /// Returns the certificate whose primary key has this fingerprint.
    pub(super) fn primary(&self, fingerprint: &Fingerprint) -> Result<Option<CertId>> {
        let mut found = None;
        self.rows(PRIMARIES, [rotated(fingerprint.key_id())], "looking up a fingerprint", |row| {
            if is_fingerprint(self.blob(row, 1)?, fingerprint) {
                found = Some(CertId(self.column(row, 0)?));
                return Ok(ControlFlow::Break(()));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    }

    /// Returns the keys of one certificate: numbers of components and fingerprints.
    pub(super) fn fingerprints(&self, cert: i64) -> Result<Vec<(i64, Fingerprint)>> {
        let mut fingerprints = Vec::new();
        if let Some(own) = self.own(cert)? {
            packed::fingerprints(&own, |number, fingerprint| fingerprints.push((number as i64, fingerprint)))
                .map_err(|source| self.corrupt(cert, source))?;
        }
        Ok(fingerprints)
    }

    /// Returns the blob of own facts.
    pub(super) fn own(&self, cert: i64) -> Result<Option<Vec<u8>>> {
        self.value("SELECT facts FROM self_facts WHERE cert = ?1", cert)
    }

    /// Returns the blob of third-party certifications.
    pub(super) fn third_party(&self, cert: i64) -> Result<Option<Vec<u8>>> {
        self.value("SELECT facts FROM third_party WHERE cert = ?1", cert)
    }

    /// Returns the user IDs of one certificate by the numbers of their components.
    pub(super) fn user_ids(&self, cert: i64) -> Result<Vec<(i64, Vec<u8>)>> {
        const SQL: &str = "SELECT component, value FROM user_id WHERE cert = ?1 ORDER BY component";
        self.list(SQL, [cert], "reading user IDs", |row| Ok((self.column(row, 0)?, self.column(row, 1)?)))
    }

    /// Says whether a query has a row.
    pub(super) fn exists(&self, sql: &str, parameters: impl Params) -> Result<bool> {
        let mut statement = self.connection().prepare_cached(sql).context(self.path(), "reading")?;
        let exists = statement.exists(parameters).context(self.path(), "reading")?;
        self.store.check_unchanged().map(|()| exists)
    }

    /// Returns the number that a query counts.
    pub(super) fn number(&self, sql: &str, parameters: impl Params) -> Result<u64> {
        let count = self.connection().query_row(sql, parameters, |row| row.get::<_, i64>(0));
        self.store.check_unchanged()?;
        count.map(i64::unsigned_abs).context(self.path(), "counting")
    }

    /// Returns the blob that a query finds by a number.
    pub(super) fn value(&self, sql: &str, key: i64) -> Result<Option<Vec<u8>>> {
        let mut statement = self.connection().prepare_cached(sql).context(self.path(), "reading")?;
        let value = statement.query_row([key], |row| row.get(0)).optional();
        self.store.check_unchanged()?;
        value.context(self.path(), "reading a certificate")
    }

    /// Lets SQLite remember more, for who follows certifications from key to key.
    pub(super) fn enlarge_cache(&self) -> Result<()> {
        if self.has_large_cache.replace(true) { Ok(()) } else { self.set_cache(LARGE_CACHE) }
    }

    /// Says how much of the file SQLite is to remember: KiB, negated.
    pub(super) fn set_cache(&self, size: i64) -> Result<()> {
        self.connection().pragma_update(None, "cache_size", size).context(self.path(), "reading")
    }

    pub(super) fn column<T: rusqlite::types::FromSql>(&self, row: &Row<'_>, index: usize) -> Result<T> {
        row.get(index).context(self.path(), "reading a row")
    }

    pub(super) fn blob<'r>(&self, row: &'r Row<'_>, index: usize) -> Result<&'r [u8]> {
        row.get_ref(index).and_then(|value| Ok(value.as_blob()?)).context(self.path(), "reading a row")
    }
}

impl Drop for View<'_> {
    fn drop(&mut self) {
        self.store.readers.fetch_sub(1, Ordering::Relaxed);
        if let Some(connection) = self.connection.take() {
            // A connection that cannot even end its transaction is closed, which ends it.
            if connection.is_autocommit() || connection.execute_batch("ROLLBACK").is_ok() {
                self.store.give_back(connection);
            }
        }
    }
}

/// Returns numbers as one parameter of a statement, which takes it apart with `json_each`.
pub(super) fn list(numbers: impl Iterator<Item = i64>) -> String {
    let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
    format!("[{}]", numbers.join(","))
}
