//! The journal: what each command did, and what it takes to undo it.

use std::ops::ControlFlow;

use cert::{Fingerprint, Timestamp};
use rusqlite::{Row, params};

use super::error::Context;
use super::view::View;
use crate::journal::change_row::{self, Counts, NewChange};
use crate::rows::{parse_fingerprint, stored_fingerprint};
use crate::{CertId, Change, Error, FormerCertificate, JournalEntry, JournalId, Origin, Result, packed};

const READING: &str = "reading the journal";
const WRITING: &str = "writing the journal";

/// Writes one entry, batch by batch.
pub(super) struct Journal {
    pub(super) id: JournalId,
    /// The number of the entry's next change.
    next: i64,
    /// Since it was opened.
    counts: Counts,
}

impl Journal {
    /// Opens a new entry, or goes on with one of an earlier batch.
    pub(super) fn open(
        view: &View<'_>,
        command: &str,
        continued: Option<JournalId>,
        now: Timestamp,
    ) -> Result<Self> {
        let id = match continued {
            Some(id) => id,
            None => {
                const SQL: &str = "INSERT INTO journal (time, command) VALUES (?1, ?2)";
                execute(view, SQL, params![now.0, command])?;
                JournalId(view.connection().last_insert_rowid())
            }
        };
        const LAST: &str = "SELECT max(number) FROM change WHERE journal = ?1";
        let last: Option<i64> =
            view.connection().query_row(LAST, [id.0], |row| row.get(0)).context(view.path(), WRITING)?;
        Ok(Self { id, next: last.map_or(0, |last| last + 1), counts: Counts::default() })
    }

    /// Writes what happens to a certificate, before it happens.
    pub(super) fn write(
        &mut self,
        view: &View<'_>,
        fingerprint: &Fingerprint,
        change: &NewChange<'_>,
    ) -> Result<()> {
        const SQL: &str =
            "INSERT INTO change (journal, number, kind, fingerprint, added) VALUES (?1, ?2, ?3, ?4, ?5)";
        let row =
            params![self.id.0, self.next, change.kind(), stored_fingerprint(fingerprint), change.added()];
        execute(view, SQL, row)?;
        if let Some(id) = change.former() {
            const SQL: &str =
                "INSERT INTO former (journal, number, cert, first_seen, superseded, origin_kind,
                    origin_updated, origin_url, bytes)
                SELECT ?1, ?2, id, first_seen, superseded, origin_kind, origin_updated, origin_url, bytes
                FROM cert JOIN packets ON cert = id WHERE id = ?3";
            execute(view, SQL, params![self.id.0, self.next, id.0])?;
        }
        self.next += 1;
        self.counts.count(change);
        Ok(())
    }

    /// Takes what a certificate was out of every entry; returns how many times it was there.
    pub(super) fn purge(&self, view: &View<'_>, fingerprint: &Fingerprint) -> Result<usize> {
        const FORMER: &str = "DELETE FROM former WHERE (journal, number) IN
            (SELECT journal, number FROM change WHERE fingerprint = ?1)";
        const SAID: &str =
            "UPDATE change SET added = NULL WHERE fingerprint = ?1 AND kind >= ?2 AND added IS NOT NULL";
        let stored = stored_fingerprint(fingerprint);
        let formers = execute(view, FORMER, [&stored])?;
        Ok(formers + execute(view, SAID, params![stored, change_row::OWNER_TRUST])?)
    }

    /// Marks an earlier entry as undone by this one.
    pub(super) fn mark_undone(&self, view: &View<'_>, entry: JournalId) -> Result<()> {
        let both = [self.id.0, entry.0];
        execute(view, "UPDATE journal SET undone_by = ?1 WHERE id = ?2", both)?;
        execute(view, "UPDATE journal SET undoes = ?2 WHERE id = ?1", both)?;
        execute(view, "UPDATE journal SET undone_by = NULL WHERE undone_by = ?1", [entry.0]).map(drop)
    }

    /// Marks the entry complete.
    pub(super) fn finish(&self, view: &View<'_>) -> Result<()> {
        execute(view, "UPDATE journal SET complete = 1 WHERE id = ?1", [self.id.0]).map(drop)
    }

    /// Marks the entry complete, or takes it and its number away if there are no changes under it.
    pub(super) fn finish_if_changed(&self, view: &View<'_>) -> Result<()> {
        if self.next > 0 {
            return self.finish(view);
        }
        execute(view, "DELETE FROM journal WHERE id = ?1", [self.id.0])?;
        const NUMBER: &str = "UPDATE sqlite_sequence SET seq = ?1 - 1 WHERE name = 'journal' AND seq = ?1";
        execute(view, NUMBER, [self.id.0]).map(drop)
    }

    /// Writes the sums.
    pub(super) fn close(&self, view: &View<'_>) -> Result<()> {
        const SQL: &str = "UPDATE journal SET added = added + ?1, merged = merged + ?2, removed = removed + ?3 WHERE id = ?4";
        let Counts([added, merged, removed]) = self.counts;
        execute(view, SQL, [added, merged, removed, self.id.0]).map(drop)
    }
}

/// Lists entries, newest first.
pub(super) fn entries(view: &View<'_>, limit: usize) -> Result<Vec<JournalEntry>> {
    const SQL: &str = "SELECT id, time, command, added, merged, removed, undone_by, undoes, complete,
        EXISTS (SELECT 1 FROM change WHERE change.journal = journal.id)
        FROM journal ORDER BY id DESC LIMIT ?1";
    let mut entries = Vec::new();
    view.rows(SQL, [i64::try_from(limit).unwrap_or(i64::MAX)], READING, |row| {
        let count = |index| view.column::<i64>(row, index).map(i64::unsigned_abs);
        entries.push(JournalEntry {
            id: JournalId(view.column(row, 0)?),
            time: Timestamp(view.column(row, 1)?),
            command: view.column(row, 2)?,
            counts: [count(3)?, count(4)?, count(5)?],
            undone_by: view.column::<Option<i64>>(row, 6)?.map(JournalId),
            undoes: view.column::<Option<i64>>(row, 7)?.map(JournalId),
            complete: view.column(row, 8)?,
            changed: view.column(row, 9)?,
        });
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(entries)
}

/// Hands out what an entry did.
pub(super) fn changes(
    view: &View<'_>,
    id: JournalId,
    from: u64,
    visit: &mut dyn FnMut(Change) -> ControlFlow<()>,
) -> Result<()> {
    const SQL: &str = "SELECT number, kind, fingerprint, added FROM change
        WHERE journal = ?1 AND number >= ?2 ORDER BY number";
    view.rows(SQL, params![id.0, i64::try_from(from).unwrap_or(i64::MAX)], READING, |row| {
        let former = || former(view, id, view.column(row, 0)?);
        let added: Option<Vec<u8>> = view.column(row, 3)?;
        let kind = change_row::read(view.column(row, 1)?, added.as_deref(), former, || corrupt(view, id))?;
        Ok(visit(Change { fingerprint: fingerprint(view, row, 2, id)?, kind }))
    })?;
    Ok(())
}

/// Lists the entries that were the last ones to meet an input.
pub(super) fn last_to_meet_inputs(view: &View<'_>) -> Result<Vec<JournalId>> {
    let mut entries = Vec::new();
    view.rows("SELECT DISTINCT last FROM input", [], READING, |row| {
        entries.push(JournalId(view.column(row, 0)?));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(entries)
}

/// Finds what imports after `entry` brought again: what they changed, and the unchanged certificates whose inputs
/// they met and were not known before `entry`.
pub(super) fn brought_again(view: &View<'_>, entry: JournalId) -> Result<Vec<(Fingerprint, JournalId)>> {
    const SQL: &str = "WITH later AS MATERIALIZED (
            SELECT id FROM journal WHERE id > ?1 AND undone_by IS NULL AND undoes IS NULL),
        brought AS (
            SELECT fingerprint, journal FROM change WHERE journal > ?1 AND kind <= ?2
            UNION ALL
            SELECT fingerprint, last FROM input JOIN cert ON cert.id = input.cert WHERE last > ?1 AND first >= ?1)
        SELECT fingerprint, max(journal) FROM brought WHERE journal IN later
        GROUP BY fingerprint ORDER BY fingerprint";
    let mut brought = Vec::new();
    view.rows(SQL, params![entry.0, change_row::MERGED], READING, |row| {
        let entry = JournalId(view.column(row, 1)?);
        brought.push((fingerprint(view, row, 0, entry)?, entry));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(brought)
}

fn former(view: &View<'_>, journal: JournalId, number: i64) -> Result<Option<FormerCertificate>> {
    const SQL: &str = "SELECT cert, first_seen, superseded, origin_kind, origin_updated, origin_url, bytes
        FROM former WHERE journal = ?1 AND number = ?2";
    let mut former = None;
    view.rows(SQL, params![journal.0, number], READING, |row| {
        let id = view.column(row, 0)?;
        let superseded = view.column::<Option<Vec<u8>>>(row, 2)?.unwrap_or_default();
        former = Some(FormerCertificate {
            id: CertId(id),
            first_seen: Timestamp(view.column(row, 1)?),
            superseded: packed::unpack_positions(&superseded).map_err(|source| view.corrupt(id, source))?,
            origin: Origin {
                kind: view.column(row, 3)?,
                updated: view.column::<Option<u32>>(row, 4)?.map(Timestamp),
                url: view.column(row, 5)?,
            },
            bytes: view.column(row, 6)?,
        });
        Ok(ControlFlow::Break(()))
    })?;
    Ok(former)
}

/// Reads the fingerprint of a certificate that an entry is about.
fn fingerprint(view: &View<'_>, row: &Row<'_>, column: usize, entry: JournalId) -> Result<Fingerprint> {
    parse_fingerprint(view.blob(row, column)?).ok_or_else(|| corrupt(view, entry))
}

fn corrupt(view: &View<'_>, entry: JournalId) -> Error {
    Error::CorruptEntry { path: view.path().to_owned(), entry: entry.0 }
}

fn execute(view: &View<'_>, sql: &str, parameters: impl rusqlite::Params) -> Result<usize> {
    let mut statement = view.connection().prepare_cached(sql).context(view.path(), WRITING)?;
    statement.execute(parameters).context(view.path(), WRITING)
}
