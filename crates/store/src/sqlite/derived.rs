//! Writing what is derived from a certificate's bytes: its facts, and its rows in every index.
//!
//! What is kept by certificate is written at once. Index rows are deferred over a whole batch and written in the order
//! of each index: a million certificates in no order would touch a page for every row.

use super::certifications::{self, ProvenRow};
use super::error::Context;
use super::search;
use super::view::View;
use crate::engine::Engine;
use crate::packed::{self, Packed};
use crate::rows::{IndexRows, Rows};
use crate::{CertId, Result};

const DOING: &str = "writing";

/// Index rows that are to be taken away and put in.
#[derive(Default)]
pub(super) struct Derived {
    deleted: IndexRows,
    inserted: IndexRows,
    proven: Vec<ProvenRow>,
}

impl Derived {
    /// Writes what is derived from a certificate that has nothing yet.
    pub(super) fn insert(&mut self, view: &View<'_>, id: CertId, packed: &Packed, rows: &Rows) -> Result<()> {
        let Packed { own, third_party } = packed;
        view.execute("INSERT INTO self_facts (cert, facts) VALUES (?1, ?2)", &[&id.0, own], DOING)?;
        if !third_party.is_empty() {
            const SQL: &str = "INSERT INTO third_party (cert, facts) VALUES (?1, ?2)";
            view.execute(SQL, &[&id.0, third_party], DOING)?;
        }
        self.inserted.extend(id, rows);
        insert_user_ids(view, id, &rows.user_ids)?;
        const SEARCH: &str = "INSERT INTO user_id_search (rowid, octets) VALUES (?1, ?2)";
        view.execute(SEARCH, &[&id.0, &search::text(&rows.user_ids)], DOING).map(drop)
    }

    /// Writes what is derived from a certificate instead of what is there; only rows that differ are touched.
    pub(super) fn replace(&mut self, view: &View<'_>, id: CertId, packed: &Packed, new: &Rows) -> Result<()> {
        let old = rows_there(view, id)?;
        if old.user_ids != new.user_ids {
            view.execute("DELETE FROM user_id WHERE cert = ?1", &[&id.0], DOING)?;
            insert_user_ids(view, id, &new.user_ids)?;
            const SEARCH: &str = "REPLACE INTO user_id_search (rowid, octets) VALUES (?1, ?2)";
            view.execute(SEARCH, &[&id.0, &search::text(&new.user_ids)], DOING)?;
        }
        self.deleted.extend(id, &old);
        self.inserted.extend(id, new);

        let Packed { own, third_party } = packed;
        let differs = view.third_party(id.0)?.unwrap_or_default() != *third_party;
        view.execute("REPLACE INTO self_facts (cert, facts) VALUES (?1, ?2)", &[&id.0, own], DOING)?;
        if third_party.is_empty() {
            view.execute("DELETE FROM third_party WHERE cert = ?1", &[&id.0], DOING)?;
        } else {
            const SQL: &str = "REPLACE INTO third_party (cert, facts) VALUES (?1, ?2)";
            view.execute(SQL, &[&id.0, third_party], DOING)?;
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
        view.execute("DELETE FROM user_id WHERE cert = ?1", &[&id.0], DOING)?;
        view.execute("DELETE FROM user_id_search WHERE rowid = ?1", &[&id.0], DOING)?;
        view.execute("DELETE FROM self_facts WHERE cert = ?1", &[&id.0], DOING)?;
        view.execute("DELETE FROM third_party WHERE cert = ?1", &[&id.0], DOING).map(drop)
    }

    /// Writes the index rows.
    pub(super) fn flush(self, view: &View<'_>) -> Result<()> {
        let Self { mut deleted, mut inserted, proven } = self;
        // Else it would come when the transaction ends, after the tables below have driven its pages out of the cache
        // and into the log: SQLite reads the log from there on once more if a page in it changes again.
        view.execute("INSERT INTO user_id_search (user_id_search) VALUES ('flush')", &[], DOING)?;
        deleted.remove_common(&mut inserted);
        delete(deleted, view)?;
        insert(inserted, view)?;
        certifications::write_proven(view.connection(), proven).context(view.path(), DOING)
    }
}

fn delete(rows: IndexRows, view: &View<'_>) -> Result<()> {
    const KEY_ID: &str = "DELETE FROM key_id WHERE key_id = ?1 AND cert = ?2 AND component = ?3";
    execute_all(view, KEY_ID, rows.key_ids)?;
    execute_all(view, "DELETE FROM keygrip WHERE hash = ?1 AND cert = ?2", rows.keygrips)?;
    execute_all(view, "DELETE FROM mail WHERE hash = ?1 AND cert = ?2", rows.mails)?;
    execute_all(view, "DELETE FROM certification WHERE issuer = ?1 AND cert = ?2", rows.issuers)
}

fn insert(rows: IndexRows, view: &View<'_>) -> Result<()> {
    const KEY_ID: &str = "INSERT INTO key_id (key_id, cert, component) VALUES (?1, ?2, ?3)";
    execute_all(view, KEY_ID, rows.key_ids)?;
    execute_all(view, "INSERT INTO keygrip (hash, cert) VALUES (?1, ?2)", rows.keygrips)?;
    execute_all(view, "INSERT INTO mail (hash, cert) VALUES (?1, ?2)", rows.mails)?;
    execute_all(view, "INSERT INTO certification (issuer, cert) VALUES (?1, ?2)", rows.issuers)
}

fn insert_user_ids(view: &View<'_>, id: CertId, user_ids: &[(i64, Vec<u8>)]) -> Result<()> {
    const SQL: &str = "INSERT INTO user_id (cert, component, value) VALUES (?1, ?2, ?3)";
    user_ids
        .iter()
        .try_for_each(|(component, value)| view.execute(SQL, &[&id.0, component, value], DOING).map(drop))
}

/// Takes out of the substring index what it only marked as removed.
pub(super) fn compact_search(view: &View<'_>) -> Result<()> {
    view.execute("INSERT INTO user_id_search (user_id_search) VALUES ('optimize')", &[], DOING).map(drop)
}

/// Returns the index rows that are there for a certificate.
fn rows_there(view: &View<'_>, id: CertId) -> Result<Rows> {
    let Some(own) = view.own(id.0)? else { return Ok(Rows::default()) };
    let facts = packed::unpack(&own, view.third_party(id.0)?.as_deref());
    Ok(Rows::new(&facts.map_err(|source| view.corrupt(id.0, source))?))
}

/// Runs a statement for each row; they are in the order of the index.
fn execute_all<const N: usize>(view: &View<'_>, sql: &str, rows: Vec<[i64; N]>) -> Result<()> {
    let mut statement = view.connection().prepare_cached(sql).context(view.path(), DOING)?;
    for row in rows {
        statement.execute(rusqlite::params_from_iter(row.iter())).context(view.path(), DOING)?;
    }
    Ok(())
}
