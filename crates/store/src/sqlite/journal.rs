//! The journal: what each command did, and what it takes to undo it.

use std::ops::ControlFlow;

use cert::{Fingerprint, Timestamp};
use rusqlite::{OptionalExtension, Row, params};

use super::error::Context;
use super::provenance;
use super::view::View;
use crate::journal::change_row::{self, Counts, NewChange};
use crate::rows::{parse_fingerprint, stored_fingerprint};
use crate::{
    CertId, Change, Error, FormerCertificate, InputDigest, JournalEntry, JournalId, Migration, Origin,
    ReadJournal, Result, packed,
};

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
                view.execute(SQL, params![now.0, command], WRITING)?;
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
        view.execute(SQL, row, WRITING)?;
        if let Some(id) = change.former() {
            const SQL: &str =
                "INSERT INTO former (journal, number, cert, first_seen, superseded, origin_kind,
                    origin_updated, origin_url, bytes)
                SELECT ?1, ?2, id, first_seen, superseded, origin_kind, origin_updated, origin_url, bytes
                FROM cert JOIN packets ON cert = id WHERE id = ?3";
            view.execute(SQL, params![self.id.0, self.next, id.0], WRITING)?;
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
        let formers = view.execute(FORMER, [&stored], WRITING)?;
        Ok(formers + view.execute(SAID, params![stored, change_row::OWNER_TRUST], WRITING)?)
    }

    /// Marks the entry incomplete until what it purged is overwritten.
    pub(super) fn begin_overwriting(&self, view: &View<'_>) -> Result<()> {
        view.execute("UPDATE journal SET complete = 0 WHERE id = ?1", [self.id.0], WRITING).map(drop)
    }

    /// Marks an earlier entry as undone by this one.
    pub(super) fn mark_undone(&self, view: &View<'_>, entry: JournalId) -> Result<()> {
        let both = [self.id.0, entry.0];
        view.execute("UPDATE journal SET undone_by = ?1 WHERE id = ?2", both, WRITING)?;
        view.execute("UPDATE journal SET undoes = ?2 WHERE id = ?1", both, WRITING)?;
        view.execute("UPDATE journal SET undone_by = NULL WHERE undone_by = ?1", [entry.0], WRITING).map(drop)
    }

    /// Marks the entry complete.
    pub(super) fn finish(&self, view: &View<'_>) -> Result<()> {
        view.execute("UPDATE journal SET complete = 1 WHERE id = ?1", [self.id.0], WRITING).map(drop)
    }

    /// Marks the entry complete, or takes it and its number away if there are no changes under it.
    pub(super) fn finish_if_changed(&self, view: &View<'_>) -> Result<()> {
        if self.next > 0 {
            return self.finish(view);
        }
        view.execute("DELETE FROM journal WHERE id = ?1", [self.id.0], WRITING)?;
        const NUMBER: &str = "UPDATE sqlite_sequence SET seq = ?1 - 1 WHERE name = 'journal' AND seq = ?1";
        view.execute(NUMBER, [self.id.0], WRITING).map(drop)
    }

    /// Writes the sums.
    pub(super) fn close(&self, view: &View<'_>) -> Result<()> {
        const SQL: &str = "UPDATE journal SET added = added + ?1, merged = merged + ?2, removed = removed + ?3 WHERE id = ?4";
        let Counts([added, merged, removed]) = self.counts;
        view.execute(SQL, [added, merged, removed, self.id.0], WRITING).map(drop)
    }
}

/// Marks the entries of all purges complete: what they purged is overwritten.
pub(super) fn finish_overwriting(view: &View<'_>) -> Result<()> {
    const SQL: &str = "UPDATE journal SET complete = 1 WHERE NOT complete AND undoes IS NULL
        AND id IN (SELECT journal FROM change WHERE kind = ?1)";
    view.execute(SQL, [change_row::REMOVED], WRITING).map(drop)
}

/// Says whether a purge of this key was not [finished](finish_overwriting).
pub(super) fn is_overwriting(view: &View<'_>, fingerprint: &[u8]) -> Result<bool> {
    const SQL: &str = "SELECT 1 FROM change JOIN journal ON journal.id = change.journal
        WHERE fingerprint = ?1 AND kind = ?2 AND NOT complete AND undoes IS NULL";
    view.exists(SQL, params![fingerprint, change_row::REMOVED])
}

impl ReadJournal for View<'_> {
    fn journal(&self, limit: usize) -> Result<Vec<JournalEntry>> {
        const SQL: &str = "SELECT id, time, command, added, merged, removed, undone_by, undoes, complete,
            EXISTS (SELECT 1 FROM change WHERE change.journal = journal.id)
            FROM journal ORDER BY id DESC LIMIT ?1";
        self.list(SQL, [i64::try_from(limit).unwrap_or(i64::MAX)], READING, |row| {
            let count = |index| self.column::<i64>(row, index).map(i64::unsigned_abs);
            Ok(JournalEntry {
                id: JournalId(self.column(row, 0)?),
                time: Timestamp(self.column(row, 1)?),
                command: self.column(row, 2)?,
                counts: [count(3)?, count(4)?, count(5)?],
                undone_by: self.column::<Option<i64>>(row, 6)?.map(JournalId),
                undoes: self.column::<Option<i64>>(row, 7)?.map(JournalId),
                complete: self.column(row, 8)?,
                changed: self.column(row, 9)?,
            })
        })
    }

    fn journal_changes(
        &self,
        id: JournalId,
        from: u64,
        visit: &mut dyn FnMut(Change) -> ControlFlow<()>,
    ) -> Result<()> {
        const SQL: &str = "SELECT kind, fingerprint, added, cert, first_seen, superseded, origin_kind,
                origin_updated, origin_url, bytes
            FROM change LEFT JOIN former USING (journal, number)
            WHERE journal = ?1 AND number >= ?2 ORDER BY number";
        self.rows(SQL, params![id.0, i64::try_from(from).unwrap_or(i64::MAX)], READING, |row| {
            let added: Option<Vec<u8>> = self.column(row, 2)?;
            let kind = self.column(row, 0)?;
            let kind = change_row::read(kind, added.as_deref(), || former(self, row), || corrupt(self, id))?;
            Ok(visit(Change { fingerprint: fingerprint(self, row, 1, id)?, kind }))
        })
    }

    fn known_inputs(&self, digests: &[InputDigest]) -> Result<Vec<Option<CertId>>> {
        const DOING: &str = "looking up earlier imports";
        let mut statement = self
            .connection()
            .prepare_cached("SELECT cert FROM input WHERE digest = ?1")
            .context(self.path(), DOING)?;
        let mut known = |digest: &InputDigest| {
            statement
                .query_row([digest.0], |row| row.get(0).map(CertId))
                .optional()
                .context(self.path(), DOING)
        };
        digests.iter().map(&mut known).collect()
    }

    fn brought_again(&self, entry: JournalId) -> Result<Vec<(Fingerprint, JournalId)>> {
        const SQL: &str = "WITH later AS MATERIALIZED (
                SELECT id FROM journal WHERE id > ?1 AND undone_by IS NULL AND undoes IS NULL),
            brought AS (
                SELECT fingerprint, journal FROM change WHERE journal > ?1 AND kind <= ?2
                UNION ALL
                SELECT fingerprint, last FROM input JOIN cert ON cert.id = input.cert
                    WHERE last > ?1 AND first >= ?1)
            SELECT fingerprint, max(journal) FROM brought WHERE journal IN later
            GROUP BY fingerprint ORDER BY fingerprint";
        self.list(SQL, params![entry.0, change_row::MERGED], READING, |row| {
            let entry = JournalId(self.column(row, 1)?);
            Ok((fingerprint(self, row, 0, entry)?, entry))
        })
    }

    fn last_to_meet_inputs(&self) -> Result<Vec<JournalId>> {
        let sql = "SELECT DISTINCT last FROM input";
        self.list(sql, [], READING, |row| self.column(row, 0).map(JournalId))
    }

    fn migrations(&self) -> Result<Vec<Migration>> {
        provenance::migrations(self)
    }
}

/// Reads what a certificate was before a change, if that is kept.
fn former(view: &View<'_>, row: &Row<'_>) -> Result<Option<FormerCertificate>> {
    let Some(id) = view.column::<Option<i64>>(row, 3)? else { return Ok(None) };
    let superseded = view.column::<Option<Vec<u8>>>(row, 5)?.unwrap_or_default();
    Ok(Some(FormerCertificate {
        id: CertId(id),
        first_seen: Timestamp(view.column(row, 4)?),
        superseded: packed::unpack_positions(&superseded).map_err(|source| view.corrupt(id, source))?,
        origin: Origin {
            kind: view.column(row, 6)?,
            updated: view.column::<Option<u32>>(row, 7)?.map(Timestamp),
            url: view.column(row, 8)?,
        },
        bytes: view.column(row, 9)?,
    }))
}

/// Reads the fingerprint of a certificate that an entry is about.
fn fingerprint(view: &View<'_>, row: &Row<'_>, column: usize, entry: JournalId) -> Result<Fingerprint> {
    parse_fingerprint(view.blob(row, column)?).ok_or_else(|| corrupt(view, entry))
}

fn corrupt(view: &View<'_>, entry: JournalId) -> Error {
    Error::CorruptEntry { path: view.path().to_owned(), entry: entry.0 }
}
