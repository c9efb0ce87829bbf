//! One consistent view: a transaction to read in, and how its rows are read.

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

use cert::Fingerprint;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, ToSql};

use super::connect::Connection;
use super::error::ServerContext;
use super::search;
use super::store::PostgresStore;
use crate::engine::{self, Engine};
use crate::rows::stored_fingerprint;
use crate::{CertId, InputDigest, Query, Result};

/// The role whose rows are written: the user's own, or everybody's (empty) in a transaction that says so.
macro_rules! own_role {
    () => {
        "(CASE current_setting('keyhoard.everybody', true) WHEN 'on' THEN '' ELSE current_user::text END)"
    };
}

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

    /// Commits the transaction; without this it is rolled back.
    pub(super) fn commit(mut self) -> Result<()> {
        self.connection().batch("COMMIT", "committing")?;
        if let Some(connection) = self.connection.take() {
            self.store.server.give_back(connection);
        }
        Ok(())
    }

    /// Returns blobs of certificates by their numbers; `sql` selects numbers and blobs of numbers in `$1`.
    pub(super) fn blobs(&self, sql: &str, ids: &[i64]) -> Result<HashMap<i64, Vec<u8>>> {
        let rows = self.connection().rows(sql, &[&ids], "reading certificates")?;
        rows.iter().map(|row| Ok((self.column(row, 0)?, self.column(row, 1)?))).collect()
    }

    /// Returns the certificate of each of these keys, in their order; `sql` selects the keys in `$1` with the numbers of
    /// their certificates.
    pub(super) fn lookup(
        &self,
        sql: &str,
        asked: &[&[u8]],
        doing: &'static str,
    ) -> Result<Vec<Option<CertId>>> {
        let rows = self.connection().rows(sql, &[&asked], doing)?;
        let pairs = rows.iter().map(|row| Ok((self.column(row, 0)?, self.column(row, 1)?)));
        let found: HashMap<&[u8], i64> = pairs.collect::<Result<_>>()?;
        Ok(asked.iter().map(|key| found.get(key).copied().map(CertId)).collect())
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
        row.try_get(index).server_context(self.path(), "reading a row")
    }

    /// Returns the user IDs of certificates, with their numbers and those of their components, in order.
    pub(super) fn user_ids(&self, ids: &[i64]) -> Result<HashMap<i64, UserIds>> {
        const SQL: &str =
            "SELECT cert, component, value FROM user_id WHERE cert = ANY ($1) ORDER BY cert, component";
        let mut user_ids: HashMap<i64, UserIds> = HashMap::new();
        for row in self.connection().rows(SQL, &[&ids], "reading user IDs")? {
            let component: i32 = self.column(&row, 1)?;
            let of_cert = user_ids.entry(self.column(&row, 0)?).or_default();
            of_cert.push((i64::from(component), self.column(&row, 2)?));
        }
        Ok(user_ids)
    }
}

impl Engine for View<'_> {
    const IN_LIST: &'static str = "= ANY (string_to_array(?1, ',')::bigint[])";
    const IN_BYTE_STRINGS: &'static str = "= ANY (?1)";
    const BY_KEY_ID: &'static str = "SELECT cert FROM key_id
        WHERE short = (?1::bigint >> 32)::integer AND high = (?1::bigint << 32 >> 32)::integer";
    const BY_SHORT_KEY_ID: &'static str =
        "SELECT cert FROM key_id WHERE short = (?1::bigint << 32 >> 32)::integer";
    const KEYS: &'static str =
        "SELECT cert, component::bigint, facts FROM key_id JOIN self_facts USING (cert)
        WHERE short = (?1::bigint >> 32)::integer AND high = (?1::bigint << 32 >> 32)::integer
        ORDER BY cert, key_id.component LIMIT ?2";
    const PRIMARIES: &'static str = "SELECT id, fingerprint FROM cert WHERE id = ANY
        (ARRAY(SELECT cert FROM key_id WHERE short = (?1::bigint >> 32)::integer
            AND high = (?1::bigint << 32 >> 32)::integer AND component = 0)) ORDER BY id";
    const OWN_ROLE: &'static str = own_role!();
    const AND_OWN: &'static str = concat!(" AND role = ", own_role!());
    const OWNER_TRUSTS: &'static str = concat!(
        "(SELECT DISTINCT ON (fingerprint) fingerprint, value, by_option FROM owner_trust WHERE role IN ('', ",
        own_role!(),
        ") ORDER BY fingerprint, role DESC) AS owner_trust"
    );
    const SET_OWNER_TRUST: &'static str = concat!(
        "INSERT INTO owner_trust (role, fingerprint, value) VALUES (",
        own_role!(),
        ", ?1, ?2) ON CONFLICT (fingerprint, role) DO UPDATE SET value = ?2, by_option = false"
    );
    // No owner trust is one of its own: it comes before that of everybody.
    const UNSET_OWNER_TRUST: &'static str = concat!(
        "INSERT INTO owner_trust (role, fingerprint, value) VALUES (",
        own_role!(),
        ", ?1, 0) ON CONFLICT (fingerprint, role) DO UPDATE SET value = 0, by_option = false"
    );
    const BINDINGS: &'static str = concat!(
        "(SELECT DISTINCT ON (digest, fingerprint) * FROM tofu_binding WHERE role IN ('', ",
        own_role!(),
        ") ORDER BY digest, fingerprint, role DESC) AS tofu_binding"
    );
    const OF_BINDING: &'static str = concat!(
        "binding IN (SELECT same.id FROM tofu_binding one JOIN tofu_binding same USING (digest, fingerprint)
        WHERE one.id = ?1 AND same.role IN ('', ",
        own_role!(),
        "))"
    );
    const DERIVED_BINDINGS: &'static str = concat!(
        "SELECT NULL, fingerprint, email, value, first_seen, 1::smallint FROM (
            SELECT DISTINCT ON (cert, email) cert, email, value FROM user_id WHERE {which}
            ORDER BY cert, email, component) AS bound JOIN cert ON cert.id = bound.cert
        WHERE NOT EXISTS (SELECT 1 FROM tofu_binding kept
            WHERE kept.digest = sha256(bound.email) AND kept.fingerprint = cert.fingerprint
            AND kept.role IN ('', ",
        own_role!(),
        "))"
    );
    const OF_ADDRESS: [&'static str; 2] =
        ["digest = sha256(?1)", "cert = ANY (ARRAY(SELECT cert FROM mail WHERE hash = ?2)) AND email = ?1"];
    const OF_ADDRESSES: &'static str =
        "digest = ANY (ARRAY(SELECT sha256(address) FROM unnest(?1::bytea[]) AS address))";
    const ADDRESS_HASH: &'static str = "hash";
    const INSERT_BINDING: &'static str =
        "INSERT INTO tofu_binding (role, digest, email, hash, fingerprint, user_id, time, policy)
        VALUES ({role}, sha256(?1), ?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (digest, fingerprint, role)";
    const ENCRYPTION_ROW: &'static str = "ctid";
    const FORMERS_AT_ONCE: usize = 16;
    const SET_USER_ID_ORIGIN: &'static str =
        "INSERT INTO user_id_origin (cert, digest, value, kind, updated, url)
        VALUES (?1, sha256(?2), ?2, ?3, ?4, ?5)
        ON CONFLICT (cert, digest) DO UPDATE SET kind = ?3, updated = ?4, url = ?5";
    const REMEMBER_MIGRATION: &'static str = "INSERT INTO migration (digest, path, modified, size, time)
        VALUES (sha256(?1), ?1, ?2, ?3, ?4)
        ON CONFLICT (digest) DO UPDATE SET modified = ?2, size = ?3, time = ?4";

    fn path(&self) -> &Path {
        self.store.server.path()
    }

    fn each_row(
        &self,
        sql: &str,
        parameters: engine::Parameters<'_>,
        doing: &'static str,
        mut each: impl FnMut(engine::Row<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        for row in &self.connection().rows(sql, &typed(parameters), doing)? {
            if each(engine::Row::postgres(row, self.path()))?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn each_of_many_rows(
        &self,
        sql: &str,
        doing: &'static str,
        mut each: impl FnMut(engine::Row<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let cursor = format!("rows_{}", self.cursors.replace(self.cursors.get() + 1));
        self.connection().batch(&format!("DECLARE {cursor} NO SCROLL CURSOR FOR {sql}"), doing)?;
        let mut more = true;
        while more {
            let rows = self.connection().rows_once(&format!("FETCH 500 FROM {cursor}"), doing)?;
            more = !rows.is_empty();
            for row in &rows {
                if each(engine::Row::postgres(row, self.path()))?.is_break() {
                    more = false;
                    break;
                }
            }
        }
        self.connection().batch(&format!("CLOSE {cursor}"), doing)
    }

    fn stream(
        &self,
        sql: &str,
        parameters: engine::Parameters<'_>,
        doing: &'static str,
        mut each: impl FnMut(engine::Row<'_>) -> Result<()>,
    ) -> Result<()> {
        self.connection()
            .each_row(sql, &typed(parameters), doing, |row| each(engine::Row::postgres(row, self.path())))
    }

    fn execute(&self, sql: &str, parameters: engine::Parameters<'_>, doing: &'static str) -> Result<u64> {
        self.connection().execute(sql, &typed(parameters), doing)
    }

    fn primary(&self, fingerprint: &Fingerprint) -> Result<Option<CertId>> {
        const SQL: &str = "SELECT cert FROM primary_key WHERE fingerprint = ?1";
        let stored = stored_fingerprint(fingerprint);
        self.first(SQL, &[&stored], "looking up a fingerprint", |row| row.get(0).map(CertId))
    }

    fn find_text(&self, query: &Query, part: &[u8]) -> Result<Vec<CertId>> {
        search::find(self, self.store.shape.search_index, query, part)
    }

    fn inputs(&self, digests: &[InputDigest]) -> Result<Vec<Option<CertId>>> {
        const SQL: &str = "SELECT digest, cert FROM input WHERE digest = ANY ($1)";
        let asked: Vec<&[u8]> = digests.iter().map(|digest| digest.0.as_slice()).collect();
        self.lookup(SQL, &asked, "looking up earlier imports")
    }
}

fn typed<'a>(parameters: engine::Parameters<'a>) -> Vec<&'a (dyn ToSql + Sync)> {
    parameters.iter().map(|&parameter| parameter as &(dyn ToSql + Sync)).collect()
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
