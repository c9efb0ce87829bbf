//! Comparing rows with the packets that they are derived from, and deriving them again.

mod trigrams;

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use trigrams::Trigrams;

use super::derived::Derived;
use super::error::Context;
use super::store::SqliteStore;
use super::view::View;
use super::{certifications, schema, wal, write_lock};
use crate::doctor::derived::{self, DerivedTables, SEARCHED};
use crate::doctor::{Derive, Finding, Rebuilt};
use crate::engine::{Engine, Parameters};
use crate::packed::Packed;
use crate::rows::Rows;
use crate::{CertId, Result};

const CHECKING: &str = "checking";
const REBUILDING: &str = "deriving the rows again";

/// Checks everything: SQLite's structures, then each row against the bytes it was derived from.
pub(super) fn check(
    store: &SqliteStore,
    derive: &mut Derive<'_>,
    found: &mut dyn FnMut(Finding),
) -> Result<()> {
    let view = View::begin(store)?;
    let mut sound = true;
    view.each_row("PRAGMA integrity_check", &[], CHECKING, |row| {
        let words: String = row.get(0)?;
        if words != "ok" {
            sound = false;
            found(Finding::Structure(words));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    // Rows cannot be looked up in a broken index.
    if sound { derived::check(&view, &mut Tables::new(&view), derive, found) } else { Ok(()) }
}

/// Derives all rows from the bytes again, in one transaction, and removes rows that belong to nothing.
pub(super) fn rebuild(store: &SqliteStore, derive: &mut Derive<'_>) -> Result<Rebuilt> {
    let connection = store.take()?;
    let needs_wal = wal::begin_writing(&connection, &store.path, &store.access, store.is_read())?;
    let view = View::within(store, connection);
    view.check_version()?;
    let rebuilt = derived::rebuild(&view, &mut Tables::new(&view), derive)?;
    write_lock::commit(view.connection(), &store.path)?;
    if needs_wal {
        wal::enable_wal(view.connection());
    }
    Ok(rebuilt)
}

struct Tables<'v, 's> {
    view: &'v View<'s>,
    trigrams: Trigrams,
    derived: Derived,
}

impl<'v, 's> Tables<'v, 's> {
    fn new(view: &'v View<'s>) -> Self {
        Self { view, trigrams: Trigrams::new(), derived: Derived::default() }
    }

    /// Says whether the rows of those who certified a certificate hold exactly what the kept verdicts prove.
    fn is_proven(&self, id: CertId, issuers: &[i64]) -> Result<bool> {
        const SQL: &str = "SELECT proven FROM certification WHERE issuer = ?1 AND cert = ?2";
        // What cannot be read was found already.
        let proven = certifications::proven_rows(self.view.connection(), id);
        let Ok(proven) = proven.context(self.view.path(), CHECKING)? else { return Ok(true) };
        let proven: HashMap<i64, Option<Vec<u8>>> =
            proven.into_iter().map(|(issuer, _, proven)| (issuer, proven)).collect();
        let mut is_right = true;
        for issuer in issuers {
            let there =
                self.view.first(SQL, &[issuer, &id.0], CHECKING, |row| row.get::<Option<Vec<u8>>>(0))?;
            is_right &= there.is_none_or(|there| there == *proven.get(issuer).unwrap_or(&None));
        }
        Ok(is_right)
    }
}

impl DerivedTables for Tables<'_, '_> {
    const HAS_SEARCHED: bool = true;

    fn differing(&mut self, certificates: &[(CertId, Rows)]) -> Result<HashSet<(&'static str, CertId)>> {
        const KEY_ID: &str = "SELECT 1 FROM key_id WHERE key_id = ?1 AND cert = ?2 AND component = ?3";
        const KEYGRIP: &str = "SELECT 1 FROM keygrip WHERE hash = ?1 AND cert = ?2";
        const MAIL: &str = "SELECT 1 FROM mail WHERE hash = ?1 AND cert = ?2";
        const CERTIFICATION: &str = "SELECT 1 FROM certification WHERE issuer = ?1 AND cert = ?2";
        let mut differing = HashSet::new();
        for (cert, rows) in certificates {
            let id = cert.0;
            self.trigrams.expect(id, &rows.user_ids);
            let mut expect = |table, is_right: bool| {
                if !is_right {
                    differing.insert((table, *cert));
                }
            };
            expect("user_id", self.view.user_ids(id)? == rows.user_ids);
            let mut look = |table, sql: &str, row: Parameters<'_>| -> Result<()> {
                expect(table, self.view.exists(sql, row)?);
                Ok(())
            };
            for (key_id, component) in &rows.key_ids {
                look("key_id", KEY_ID, &[key_id, &id, component])?;
            }
            for (table, sql, values) in [
                ("keygrip", KEYGRIP, &rows.keygrips),
                ("mail", MAIL, &rows.mails),
                ("certification", CERTIFICATION, &rows.issuers),
            ] {
                values.iter().try_for_each(|value| look(table, sql, &[value, &id]))?;
            }
            expect("certification", self.is_proven(*cert, &rows.issuers)?);
        }
        Ok(differing)
    }

    fn check_search(&mut self, damaged: &HashSet<i64>, found: &mut dyn FnMut(Finding)) -> Result<()> {
        let differing = self.trigrams.differing(self.view, damaged)?;
        differing.into_iter().for_each(|cert| found(Finding::Rows { cert: CertId(cert), table: SEARCHED }));
        Ok(())
    }

    fn clear(&mut self) -> Result<()> {
        [schema::DROP_DERIVED, schema::CREATE_DERIVED]
            .iter()
            .try_for_each(|sql| self.view.connection().execute_batch(sql))
            .context(self.view.path(), REBUILDING)
    }

    fn insert(&mut self, id: CertId, packed: &Packed, rows: &Rows) -> Result<()> {
        self.derived.insert(self.view, id, packed, rows)?;
        self.derived.prove(self.view, id)
    }

    fn flush(&mut self) -> Result<()> {
        std::mem::take(&mut self.derived).flush(self.view)
    }
}
