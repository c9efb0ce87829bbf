//! One consistent view: a transaction to read in, and how its rows are read.

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

use cert::{Fingerprint, Timestamp};
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use super::connect::{Connection, Parameters};
use super::store::PostgresStore;
use crate::rows::stored_fingerprint;
use crate::{CertId, Error, Origin, Result, packed};

/// User IDs with the numbers of their components.
pub(super) type UserIds = Vec<(i64, Vec<u8>)>;

/// A read transaction, or the reading side of a write transaction.
pub(super) struct View<'s> {
    pub(super) store: &'s PostgresStore,
    /// Taken out only when the view ends.
    connection: Option<Connection>,
    /// How many cursors there were.
    cursors: Cell<u32>,
}

impl<'s> View<'s> {
    /// Starts to read what is committed now.
    pub(super) fn begin(store: &'s PostgresStore) -> Result<Self> {
        const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1";
        Ok(Self::within(store, store.server.begin(BEGIN)?))
    }

    /// Reads within a transaction that has begun on `connection`, which ends with the view.
    pub(super) fn within(store: &'s PostgresStore, connection: Connection) -> Self {
        Self { store, connection: Some(connection), cursors: Cell::new(0) }
    }

    pub(super) fn connection(&self) -> &Connection {
        self.connection.as_ref().expect("it is taken out by drop and commit only")
    }

    /// Ends the transaction for good; without it, what was written is taken back.
    pub(super) fn commit(mut self) -> Result<()> {
        self.connection().batch("COMMIT", "committing")?;
        if let Some(connection) = self.connection.take() {
            self.store.server.give_back(connection);
        }
        Ok(())
    }

    pub(super) fn path(&self) -> PathBuf {
        self.store.server.path()
    }

    pub(super) fn corrupt(&self, cert: i64, source: packed::Error) -> Error {
        Error::Corrupt { path: self.path(), cert, source }
    }

    pub(super) fn rows(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
        doing: &'static str,
    ) -> Result<Vec<Row>> {
        self.connection().rows(sql, parameters, doing)
    }

    pub(super) fn execute(&self, sql: &str, parameters: Parameters<'_>, doing: &'static str) -> Result<u64> {
        self.connection().execute(sql, parameters, doing)
    }

    /// Runs a query without parameters and hands out its rows, some at a time, until `each` breaks; `each` may ask
    /// for other things meanwhile.
    pub(super) fn each_row(
        &self,
        sql: &str,
        doing: &'static str,
        mut each: impl FnMut(&Row) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let cursor = format!("rows_{}", self.cursors.replace(self.cursors.get() + 1));
        self.connection().batch(&format!("DECLARE {cursor} NO SCROLL CURSOR FOR {sql}"), doing)?;
        let mut more = true;
        while more {
            let rows = self.connection().rows_once(&format!("FETCH 500 FROM {cursor}"), doing)?;
            more = !rows.is_empty();
            for row in &rows {
                if each(row)?.is_break() {
                    more = false;
                    break;
                }
            }
        }
        self.connection().batch(&format!("CLOSE {cursor}"), doing)
    }

    /// Returns the certificate whose primary key has this fingerprint.
    pub(super) fn primary(&self, fingerprint: &Fingerprint) -> Result<Option<CertId>> {
        const SQL: &str = "SELECT cert FROM primary_key WHERE fingerprint = $1";
        let row =
            self.connection().row(SQL, &[&stored_fingerprint(fingerprint)], "looking up a fingerprint")?;
        row.map(|row| self.column(&row, 0).map(CertId)).transpose()
    }

    /// Returns blobs of certificates by their numbers; `sql` selects numbers and blobs of numbers in `$1`.
    pub(super) fn blobs(&self, sql: &str, ids: &[i64]) -> Result<HashMap<i64, Vec<u8>>> {
        let rows = self.rows(sql, &[&ids], "reading certificates")?;
        rows.iter().map(|row| Ok((self.column(row, 0)?, self.column(row, 1)?))).collect()
    }

    /// Returns the blobs of own facts.
    pub(super) fn own(&self, ids: &[i64]) -> Result<HashMap<i64, Vec<u8>>> {
        self.blobs("SELECT cert, facts FROM self_facts WHERE cert = ANY ($1)", ids)
    }

    /// Returns the blobs of third-party certifications.
    pub(super) fn third_party(&self, ids: &[i64]) -> Result<HashMap<i64, Vec<u8>>> {
        self.blobs("SELECT cert, facts FROM third_party WHERE cert = ANY ($1)", ids)
    }

    pub(super) fn column<'r, T: FromSql<'r>>(&self, row: &'r Row, index: usize) -> Result<T> {
        use super::error::ServerContext;
        row.try_get(index).server_context(&self.path(), "reading a row")
    }

    /// Returns a time.
    pub(super) fn time(&self, row: &Row, index: usize) -> Result<Timestamp> {
        self.column::<i64>(row, index).map(timestamp)
    }

    /// Returns where something came from: the kind, the time and the place from column `first` on.
    pub(super) fn origin(&self, row: &Row, first: usize) -> Result<Origin> {
        Ok(Origin {
            kind: self.column::<i16>(row, first)? as u8,
            updated: self.column::<Option<i64>>(row, first + 1)?.map(timestamp),
            url: self
                .column::<Option<&[u8]>>(row, first + 2)?
                .map(|url| String::from_utf8_lossy(url).into_owned()),
        })
    }

    /// Returns the number that a query counts.
    pub(super) fn number(&self, sql: &str) -> Result<u64> {
        let rows = self.rows(sql, &[], "counting")?;
        rows.first().map_or(Ok(0), |row| Ok(self.column::<i64>(row, 0)?.unsigned_abs()))
    }

    /// Returns the user IDs of certificates, with their numbers and those of their components, in order.
    pub(super) fn user_ids(&self, ids: &[i64]) -> Result<HashMap<i64, UserIds>> {
        const SQL: &str =
            "SELECT cert, component, value FROM user_id WHERE cert = ANY ($1) ORDER BY cert, component";
        let mut user_ids: HashMap<i64, UserIds> = HashMap::new();
        for row in self.rows(SQL, &[&ids], "reading user IDs")? {
            let component: i32 = self.column(&row, 1)?;
            let of_cert = user_ids.entry(self.column(&row, 0)?).or_default();
            of_cert.push((i64::from(component), self.column(&row, 2)?));
        }
        Ok(user_ids)
    }
}

impl Drop for View<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take()
            && connection.batch("ROLLBACK", "ending").is_ok()
        {
            self.store.server.give_back(connection);
        }
    }
}

fn timestamp(seconds: i64) -> Timestamp {
    Timestamp(u32::try_from(seconds).unwrap_or_default())
}
