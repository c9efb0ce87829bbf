//! Writing what is derived from a certificate's bytes: its facts, and its rows in every index.
//!
//! What is kept by certificate is written at once. Index rows are gathered over a whole batch and written in the order
//! of each index: a million certificates in no order would touch a page for every row.

use rusqlite::{Params, params};

use super::certifications::{self, ProvenRow};
use super::error::Context;
use super::search;
use super::view::View;
use crate::packed::{self, Packed};
use crate::rows::{Rows, remove_common};
use crate::{CertId, Result};

const DOING: &str = "writing";

/// Index rows that are to be taken away and put in.
#[derive(Default)]
pub(super) struct Derived {
    deleted: Table,
    inserted: Table,
    proven: Vec<ProvenRow>,
}

/// Rows of the narrow tables, each with the certificate's number.
#[derive(Default)]
struct Table {
    key_ids: Vec<[i64; 3]>,
    keygrips: Vec<[i64; 2]>,
    mails: Vec<[i64; 2]>,
    issuers: Vec<[i64; 2]>,
}

impl Derived {
    /// Writes what is derived from a certificate that has nothing yet.
    pub(super) fn insert(&mut self, view: &View<'_>, id: CertId, packed: &Packed, rows: &Rows) -> Result<()> {
        let Packed { own, third_party } = packed;
        execute(view, "INSERT INTO self_facts (cert, facts) VALUES (?1, ?2)", params![id.0, own])?;
        if !third_party.is_empty() {
            const SQL: &str = "INSERT INTO third_party (cert, facts) VALUES (?1, ?2)";
            execute(view, SQL, params![id.0, third_party])?;
        }
        self.inserted.extend(id, rows);
        insert_user_ids(view, id, &rows.user_ids)?;
        const SEARCH: &str = "INSERT INTO user_id_search (rowid, octets) VALUES (?1, ?2)";
        execute(view, SEARCH, params![id.0, search::text(&rows.user_ids)])
    }

    /// Writes what is derived from a certificate instead of what is there; only rows that differ are touched.
    pub(super) fn replace(&mut self, view: &View<'_>, id: CertId, packed: &Packed, new: &Rows) -> Result<()> {
        let old = rows_there(view, id)?;
        if old.user_ids != new.user_ids {
            execute(view, "DELETE FROM user_id WHERE cert = ?1", [id.0])?;
            insert_user_ids(view, id, &new.user_ids)?;
            const SEARCH: &str = "REPLACE INTO user_id_search (rowid, octets) VALUES (?1, ?2)";
            execute(view, SEARCH, params![id.0, search::text(&new.user_ids)])?;
        }
        self.deleted.extend(id, &old);
        self.inserted.extend(id, new);

        let Packed { own, third_party } = packed;
        let differs = view.third_party(id.0)?.unwrap_or_default() != *third_party;
        execute(view, "REPLACE INTO self_facts (cert, facts) VALUES (?1, ?2)", params![id.0, own])?;
        if third_party.is_empty() {
            execute(view, "DELETE FROM third_party WHERE cert = ?1", [id.0])?;
        } else {
            const SQL: &str = "REPLACE INTO third_party (cert, facts) VALUES (?1, ?2)";
            execute(view, SQL, params![id.0, third_party])?;
        }
        if differs { self.prove(view, id) } else { Ok(()) }
    }

    /// Works out what the kept verdicts prove about a certificate whose facts are there.
    pub(super) fn prove(&mut self, view: &View<'_>, id: CertId) -> Result<()> {
        let rows = certifications::proven_rows(view.connection(), id).context(view.path(), DOING)?;
        self.proven.extend(rows.map_err(|source| view.corrupt(id.0, source))?);
        Ok(())
    }

    /// Takes away everything that was derived from a certificate.
    pub(super) fn remove(&mut self, view: &View<'_>, id: CertId) -> Result<()> {
        self.deleted.extend(id, &rows_there(view, id)?);
        execute(view, "DELETE FROM user_id WHERE cert = ?1", [id.0])?;
        execute(view, "DELETE FROM user_id_search WHERE rowid = ?1", [id.0])?;
        execute(view, "DELETE FROM self_facts WHERE cert = ?1", [id.0])?;
        execute(view, "DELETE FROM third_party WHERE cert = ?1", [id.0])
    }

    /// Writes the index rows.
    pub(super) fn flush(self, view: &View<'_>) -> Result<()> {
        let Self { mut deleted, mut inserted, proven } = self;
        // Else it would come when the transaction ends, after the tables below have driven its pages out of the cache
        // and into the log: SQLite reads the log from there on once more if a page in it changes again.
        execute(view, "INSERT INTO user_id_search (user_id_search) VALUES ('flush')", [])?;
        remove_common(&mut deleted.key_ids, &mut inserted.key_ids);
        remove_common(&mut deleted.keygrips, &mut inserted.keygrips);
        remove_common(&mut deleted.mails, &mut inserted.mails);
        remove_common(&mut deleted.issuers, &mut inserted.issuers);
        deleted.delete(view)?;
        inserted.insert(view)?;
        certifications::write_proven(view.connection(), proven).context(view.path(), DOING)
    }
}

impl Table {
    fn extend(&mut self, CertId(id): CertId, rows: &Rows) {
        self.key_ids.extend(rows.key_ids.iter().map(|&(key_id, component)| [key_id, id, component]));
        self.keygrips.extend(rows.keygrips.iter().map(|&hash| [hash, id]));
        self.mails.extend(rows.mails.iter().map(|&hash| [hash, id]));
        self.issuers.extend(rows.issuers.iter().map(|&issuer| [issuer, id]));
    }

    fn delete(self, view: &View<'_>) -> Result<()> {
        const KEY_ID: &str = "DELETE FROM key_id WHERE key_id = ?1 AND cert = ?2 AND component = ?3";
        execute_all(view, KEY_ID, self.key_ids)?;
        execute_all(view, "DELETE FROM keygrip WHERE hash = ?1 AND cert = ?2", self.keygrips)?;
        execute_all(view, "DELETE FROM mail WHERE hash = ?1 AND cert = ?2", self.mails)?;
        execute_all(view, "DELETE FROM certification WHERE issuer = ?1 AND cert = ?2", self.issuers)
    }

    fn insert(self, view: &View<'_>) -> Result<()> {
        const KEY_ID: &str = "INSERT INTO key_id (key_id, cert, component) VALUES (?1, ?2, ?3)";
        execute_all(view, KEY_ID, self.key_ids)?;
        execute_all(view, "INSERT INTO keygrip (hash, cert) VALUES (?1, ?2)", self.keygrips)?;
        execute_all(view, "INSERT INTO mail (hash, cert) VALUES (?1, ?2)", self.mails)?;
        execute_all(view, "INSERT INTO certification (issuer, cert) VALUES (?1, ?2)", self.issuers)
    }
}

fn insert_user_ids(view: &View<'_>, id: CertId, user_ids: &[(i64, Vec<u8>)]) -> Result<()> {
    const SQL: &str = "INSERT INTO user_id (cert, component, value) VALUES (?1, ?2, ?3)";
    user_ids.iter().try_for_each(|(component, value)| execute(view, SQL, params![id.0, component, value]))
}

/// Takes out of the substring index what it only marked as removed.
pub(super) fn compact_search(view: &View<'_>) -> Result<()> {
    execute(view, "INSERT INTO user_id_search (user_id_search) VALUES ('optimize')", [])
}

/// Returns the index rows that are there for a certificate.
fn rows_there(view: &View<'_>, id: CertId) -> Result<Rows> {
    let Some(own) = view.own(id.0)? else { return Ok(Rows::default()) };
    let facts = packed::unpack(&own, view.third_party(id.0)?.as_deref());
    Ok(Rows::new(&facts.map_err(|source| view.corrupt(id.0, source))?))
}

fn execute(view: &View<'_>, sql: &str, parameters: impl Params) -> Result<()> {
    let mut statement = view.connection().prepare_cached(sql).context(view.path(), DOING)?;
    statement.execute(parameters).map(drop).context(view.path(), DOING)
}

/// Runs a statement for each row; they are in the order of the index.
fn execute_all<const N: usize>(view: &View<'_>, sql: &str, rows: Vec<[i64; N]>) -> Result<()> {
    let mut statement = view.connection().prepare_cached(sql).context(view.path(), DOING)?;
    for row in rows {
        statement.execute(rusqlite::params_from_iter(row.iter())).context(view.path(), DOING)?;
    }
    Ok(())
}
