//! One consistent view: a transaction to read in, and how its rows are read.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::Ordering;

use cert::{Fingerprint, Timestamp};
use rusqlite::{Connection, OptionalExtension, params_from_iter};

use super::error::Context;
use super::store::SqliteStore;
use super::{schema, search, upgrade, wal};
use crate::engine::{Engine, Parameters, Row};
use crate::rows::{is_fingerprint, rotated};
use crate::{CertId, InputDigest, Query, Result};

/// A read transaction, or the reading side of a write transaction.
pub(super) struct View<'s> {
    pub(super) store: &'s SqliteStore,
    /// Taken out only when the view ends.
    connection: Option<Connection>,
    /// The version of the tables.
    version: Cell<i64>,
    /// Whether it has [`LARGE_CACHE`].
    has_large_cache: Cell<bool>,
    /// Other connections that read the same moment.
    pub(super) parallel: RefCell<Vec<Self>>,
}

/// SQLite's cache, in negated KiB, for a reader that follows certifications from key to key, and so reads the same pages
/// again and again. A reader that scans the file once gains nothing by it.
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
        view.check_version()?;
        Ok(view)
    }

    /// Finds out which version the tables have, if it is known.
    pub(super) fn check_version(&self) -> Result<()> {
        self.version.set(schema::check_version(self.connection(), self.path())?);
        Ok(())
    }

    /// Reads within a transaction that has begun on `connection`, which ends with the view.
    pub(super) fn within(store: &'s SqliteStore, connection: Connection) -> Self {
        store.readers.fetch_add(1, Ordering::Relaxed);
        Self {
            store,
            connection: Some(connection),
            version: Cell::new(schema::VERSION),
            has_large_cache: Cell::new(false),
            parallel: RefCell::default(),
        }
    }

    pub(super) fn connection(&self) -> &Connection {
        self.connection.as_ref().expect("it is taken out by drop only")
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
        self.list(SQL, &[&cert], "reading user IDs", |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Says whether a query has a row.
    pub(super) fn exists(&self, sql: &str, parameters: Parameters<'_>) -> Result<bool> {
        Ok(self.first(sql, parameters, "reading", |_| Ok(()))?.is_some())
    }

    /// Returns the blob that a query finds by a number.
    pub(super) fn value(&self, sql: &str, key: i64) -> Result<Option<Vec<u8>>> {
        self.first(sql, &[&key], "reading a certificate", |row| row.get(0))
    }

    /// Lets SQLite remember more, for who follows certifications from key to key.
    pub(super) fn enlarge_cache(&self) -> Result<()> {
        if self.has_large_cache.replace(true) { Ok(()) } else { self.set_cache(LARGE_CACHE) }
    }

    /// Says how much of the file SQLite is to remember: KiB, negated.
    pub(super) fn set_cache(&self, size: i64) -> Result<()> {
        self.connection().pragma_update(None, "cache_size", size).context(self.path(), "reading")
    }
}

impl Engine for View<'_> {
    const IN_LIST: &'static str = "IN (SELECT value FROM json_each('[' || ?1 || ']'))";
    const IN_BYTE_STRINGS: &'static str = "IN (SELECT unhex(value) FROM json_each(?1))";
    const BY_KEY_ID: &'static str = "SELECT cert FROM key_id WHERE key_id = ?1";
    const BY_SHORT_KEY_ID: &'static str =
        "SELECT cert FROM key_id WHERE key_id BETWEEN ?1 << 32 AND (?1 << 32) + 4294967295";
    const KEYS: &'static str = "SELECT cert, component, facts FROM key_id JOIN self_facts USING (cert)
        WHERE key_id = ?1 ORDER BY cert, component LIMIT ?2";
    const PRIMARIES: &'static str = "SELECT cert, fingerprint FROM key_id JOIN cert ON id = cert
        WHERE key_id = ?1 AND component = 0 ORDER BY cert";
    const OWN_ROLE: &'static str = "";
    const AND_OWN: &'static str = "";
    const OWNER_TRUSTS: &'static str = "owner_trust";
    // In both versions of the table: what another row said of an option is gone.
    const SET_OWNER_TRUST: &'static str = "REPLACE INTO owner_trust (fingerprint, value) VALUES (?1, ?2)";
    const UNSET_OWNER_TRUST: &'static str = "DELETE FROM owner_trust WHERE fingerprint = ?1";
    const BINDINGS: &'static str = "tofu_binding";
    const OF_BINDING: &'static str = "binding = ?1";
    const DERIVED_BINDINGS: &'static str = "SELECT NULL, fingerprint, email, value, first_seen, 1 FROM (
            SELECT cert, bound_address(value) AS email, value, min(component) FROM user_id WHERE {which}
            GROUP BY 1, 2) JOIN cert ON id = cert
        WHERE (email, fingerprint) NOT IN (SELECT email, fingerprint FROM tofu_binding)";
    const OF_ADDRESS: [&'static str; 2] =
        ["email = ?1", "cert IN (SELECT cert FROM mail WHERE hash = ?2) AND bound_address(value) = ?1"];
    const OF_ADDRESSES: &'static str = "email IN (SELECT unhex(value) FROM json_each(?1))";
    const ADDRESS_HASH: &'static str = "mail_hash(email)";
    const INSERT_BINDING: &'static str =
        "INSERT INTO tofu_binding (email, fingerprint, user_id, time, policy)
        VALUES (?1, ?3, ?4, ?5, ?6) ON CONFLICT (email, fingerprint)";
    const ENCRYPTION_ROW: &'static str = "rowid";
    const FORMERS_AT_ONCE: usize = 1;
    const SET_USER_ID_ORIGIN: &'static str =
        "REPLACE INTO user_id_origin (cert, value, kind, updated, url) VALUES (?1, ?2, ?3, ?4, ?5)";
    const REMEMBER_MIGRATION: &'static str =
        "REPLACE INTO migration (path, modified, size, time) VALUES (?1, ?2, ?3, ?4)";

    fn path(&self) -> &Path {
        &self.store.path
    }

    fn by_option(&self) -> &'static str {
        if self.version.get() == schema::FIRST_VERSION { "0" } else { "by_option" }
    }

    fn keep_options(&self, now: Timestamp) -> Result<()> {
        if self.version.get() == schema::FIRST_VERSION {
            upgrade::upgrade(self.store, self.connection(), now)?;
            self.check_version()?;
        }
        Ok(())
    }

    fn each_row(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
        doing: &'static str,
        mut each: impl FnMut(Row<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let mut read = || {
            let mut statement = self.connection().prepare_cached(sql).context(self.path(), doing)?;
            let mut rows = statement.query(params_from_iter(parameters)).context(self.path(), doing)?;
            while let Some(row) = rows.next().context(self.path(), doing)? {
                if each(Row::sqlite(row, self.path()))?.is_break() {
                    break;
                }
            }
            Ok(())
        };
        let read = read();
        // Whatever is wrong with what was read: first of all it may have changed.
        self.store.check_unchanged()?;
        read
    }

    fn execute(&self, sql: &str, parameters: Parameters<'_>, doing: &'static str) -> Result<u64> {
        let mut statement = self.connection().prepare_cached(sql).context(self.path(), doing)?;
        let changed = statement.execute(params_from_iter(parameters)).context(self.path(), doing)?;
        Ok(changed as u64)
    }

    fn primary(&self, fingerprint: &Fingerprint) -> Result<Option<CertId>> {
        let mut found = None;
        let rotated = rotated(fingerprint.key_id());
        self.each_row(Self::PRIMARIES, &[&rotated], "looking up a fingerprint", |row| {
            if is_fingerprint(row.bytes(1)?, fingerprint) {
                found = Some(CertId(row.get(0)?));
                return Ok(ControlFlow::Break(()));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    }

    fn find_text(&self, query: &Query, part: &[u8]) -> Result<Vec<CertId>> {
        search::find(self, query, part)
    }

    fn inputs(&self, digests: &[InputDigest]) -> Result<Vec<Option<CertId>>> {
        const SQL: &str = "SELECT cert FROM input WHERE digest = ?1";
        const DOING: &str = "looking up earlier imports";
        // An import asks for every certificate: finding the statement takes longer than running it.
        let mut statement = self.connection().prepare_cached(SQL).context(self.path(), DOING)?;
        let mut known = |digest: &InputDigest| {
            let found = statement.query_row([digest.0], |row| row.get(0).map(CertId));
            found.optional().context(self.path(), DOING)
        };
        digests.iter().map(&mut known).collect()
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
