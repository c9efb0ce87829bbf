//! The journal's entries: what each command did, and what is needed to undo it.

use std::collections::HashMap;
use std::ops::ControlFlow;

use cert::{Fingerprint, Timestamp};

use super::change_row::{self, Counts};
use crate::engine::{Engine, Row, joined, stored_time};
use crate::{
    CertId, Change, Error, FormerCertificate, InputDigest, JournalEntry, JournalId, Migration, ReadJournal,
    RemovedCertificate, Result, packed, provenance,
};

const READING: &str = "reading the journal";
pub(crate) const WRITING: &str = "writing the journal";

/// Changes that are read at once.
const PART: i64 = 1000;

/// An entry that is written batch by batch.
pub(crate) struct Entry {
    pub(crate) id: JournalId,
    /// The number of the entry's next change.
    pub(crate) next: i64,
    /// Since it was opened.
    pub(crate) counts: Counts,
}

impl Entry {
    /// Opens a new entry, or goes on with one of an earlier batch.
    pub(crate) fn open(
        engine: &impl Engine,
        command: &str,
        continued: Option<JournalId>,
        now: Timestamp,
    ) -> Result<Self> {
        const NEW: &str = "INSERT INTO journal (time, command) VALUES (?1, ?2) RETURNING id";
        const LAST: &str = "SELECT max(number) FROM change WHERE journal = ?1";
        let (id, last) = match continued {
            Some(id) => {
                (id, engine.first(LAST, &[&id.0], WRITING, |row| row.get::<Option<i64>>(0))?.flatten())
            }
            None => {
                let command = command.replace('\0', "\u{fffd}");
                let id = engine.first(NEW, &[&stored_time(now), &command], WRITING, |row| row.get(0))?;
                (JournalId(id.expect("an insertion returns its row")), None)
            }
        };
        Ok(Self { id, next: last.map_or(0, |last| last + 1), counts: Counts::default() })
    }

    /// Takes what a certificate was out of every entry; returns how many times it was there.
    pub(crate) fn purge(engine: &impl Engine, fingerprint: &[u8]) -> Result<u64> {
        const FORMER: &str = "DELETE FROM former WHERE (journal, number) IN
            (SELECT journal, number FROM change WHERE fingerprint = ?1)";
        const SAID: &str =
            "UPDATE change SET added = NULL WHERE fingerprint = ?1 AND kind >= ?2 AND added IS NOT NULL";
        let formers = engine.execute(FORMER, &[&fingerprint], WRITING)?;
        Ok(formers + engine.execute(SAID, &[&fingerprint, &i16::from(change_row::OWNER_TRUST)], WRITING)?)
    }

    /// Marks an earlier entry as undone by this one.
    pub(crate) fn mark_undone(&self, engine: &impl Engine, JournalId(other): JournalId) -> Result<()> {
        const AGAIN: &str = "UPDATE journal SET undone_by = NULL WHERE undone_by = ?1";
        let own = self.id.0;
        engine.execute("UPDATE journal SET undone_by = ?1 WHERE id = ?2", &[&own, &other], WRITING)?;
        engine.execute("UPDATE journal SET undoes = ?2 WHERE id = ?1", &[&own, &other], WRITING)?;
        engine.execute(AGAIN, &[&other], WRITING).map(drop)
    }

    /// Marks the entry complete.
    pub(crate) fn finish(&self, engine: &impl Engine) -> Result<()> {
        const SQL: &str = "UPDATE journal SET complete = true WHERE id = ?1";
        engine.execute(SQL, &[&self.id.0], WRITING).map(drop)
    }

    /// Takes the entry away if there are no changes under it; says whether it did.
    pub(crate) fn remove_if_unchanged(&self, engine: &impl Engine) -> Result<bool> {
        if self.next == 0 {
            engine.execute("DELETE FROM journal WHERE id = ?1", &[&self.id.0], WRITING)?;
        }
        Ok(self.next == 0)
    }
}

/// Forgets which inputs led to these certificates, in one pass over them all: there is no index by certificate, since
/// removals are rare and imports are not.
pub(crate) fn forget_inputs<E: Engine>(engine: &E, ids: &[CertId]) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let sql = format!("DELETE FROM input WHERE cert {}", E::IN_LIST);
    engine.execute(&sql, &[&joined(ids.iter().map(|id| id.0))], WRITING).map(drop)
}

impl<E: Engine> ReadJournal for E {
    fn journal(&self, limit: usize) -> Result<Vec<JournalEntry>> {
        let sql = format!("{ENTRIES} ORDER BY id DESC LIMIT ?1");
        self.list(&sql, &[&i64::try_from(limit).unwrap_or(i64::MAX)], READING, entry)
    }

    fn journal_entry(&self, id: JournalId) -> Result<Option<JournalEntry>> {
        self.first(&format!("{ENTRIES} WHERE id = ?1"), &[&id.0], READING, entry)
    }

    fn removals(&self, visit: &mut dyn FnMut(RemovedCertificate<'_>) -> ControlFlow<()>) -> Result<()> {
        let kinds = [change_row::SHRUNK, change_row::REMOVED].map(i16::from);
        self.each_row(REMOVALS, &[&kinds[0], &kinds[1]], READING, |row| {
            let entry = row.get(0)?;
            let corrupt = || Error::CorruptEntry { path: self.path().to_owned(), entry };
            let primary = row.fingerprint(1)?.ok_or_else(corrupt)?;
            Ok(visit(RemovedCertificate { entry: JournalId(entry), primary, bytes: row.bytes(2)? }))
        })
    }

    fn journal_changes(
        &self,
        id: JournalId,
        from: u64,
        visit: &mut dyn FnMut(Change) -> ControlFlow<()>,
    ) -> Result<()> {
        const SQL: &str = "SELECT number, kind, fingerprint, added FROM change
            WHERE journal = ?1 AND number >= ?2 ORDER BY number LIMIT ?3";
        let corrupt = || Error::CorruptEntry { path: self.path().to_owned(), entry: id.0 };
        let mut from = i64::try_from(from).unwrap_or(i64::MAX);
        loop {
            let changes = self.list(SQL, &[&id.0, &from, &PART], READING, |row| {
                Ok(ChangeRow {
                    number: row.get(0)?,
                    kind: row.small(1)?,
                    fingerprint: row.fingerprint(2)?,
                    added: row.get(3)?,
                })
            })?;
            let Some(last) = changes.last() else { return Ok(()) };
            from = last.number + 1;
            for changes in changes.chunks(E::FORMERS_AT_ONCE) {
                let mut formers = formers(self, id, changes)?;
                for ChangeRow { number, kind, fingerprint, added } in changes {
                    let kind = change_row::read(*kind, added.as_deref(), formers.remove(number));
                    let (kind, fingerprint) = kind.zip(*fingerprint).ok_or_else(corrupt)?;
                    if visit(Change { fingerprint, kind }).is_break() {
                        return Ok(());
                    }
                }
            }
        }
    }

    fn known_inputs(&self, digests: &[InputDigest]) -> Result<Vec<Option<CertId>>> {
        self.inputs(digests)
    }

    fn brought_again(&self, entry: JournalId) -> Result<Vec<(Fingerprint, JournalId)>> {
        const SQL: &str = "WITH later AS MATERIALIZED (
                SELECT id FROM journal WHERE id > ?1 AND undone_by IS NULL AND undoes IS NULL),
            brought AS (
                SELECT fingerprint, journal FROM change WHERE journal > ?1 AND kind <= ?2
                UNION ALL
                SELECT fingerprint, last FROM input JOIN cert ON cert.id = input.cert
                    WHERE last > ?1 AND first >= ?1)
            SELECT fingerprint, max(journal) FROM brought WHERE journal IN (SELECT id FROM later)
            GROUP BY fingerprint ORDER BY fingerprint";
        self.list(SQL, &[&entry.0, &i16::from(change_row::MERGED)], READING, |row| {
            let entry = row.get(1)?;
            let corrupt = || Error::CorruptEntry { path: self.path().to_owned(), entry };
            Ok((row.fingerprint(0)?.ok_or_else(corrupt)?, JournalId(entry)))
        })
    }

    fn last_to_meet_inputs(&self) -> Result<Vec<JournalId>> {
        self.list("SELECT DISTINCT last FROM input", &[], READING, |row| row.get(0).map(JournalId))
    }

    fn migrations(&self) -> Result<Vec<Migration>> {
        provenance::migrations(self)
    }
}

/// Selects entries, to which a condition or an order is added.
pub(crate) const ENTRIES: &str =
    "SELECT id, time, command, added, merged, removed, undone_by, undoes, complete,
    EXISTS (SELECT 1 FROM change WHERE change.journal = journal.id) FROM journal";

/// Selects what certificates were before they were removed or shrunk, the last ones first. Few changes are removals: SQLite
/// joins the tables in this order, and finds the other two rows by their keys.
pub(crate) const REMOVALS: &str = "SELECT former.journal, fingerprint, bytes
    FROM former CROSS JOIN change CROSS JOIN journal
    WHERE change.journal = former.journal AND change.number = former.number AND kind IN (?1, ?2)
        AND journal.id = former.journal AND undone_by IS NULL
    ORDER BY former.journal DESC, former.number DESC";

/// Reads a row of [`ENTRIES`].
fn entry(row: Row<'_>) -> Result<JournalEntry> {
    Ok(JournalEntry {
        id: JournalId(row.get(0)?),
        time: row.time(1)?,
        command: row.get(2)?,
        counts: [row.count(3)?, row.count(4)?, row.count(5)?],
        undone_by: row.get::<Option<i64>>(6)?.map(JournalId),
        undoes: row.get::<Option<i64>>(7)?.map(JournalId),
        complete: row.get(8)?,
        changed: row.get(9)?,
    })
}

/// A row of the table `change`.
struct ChangeRow {
    number: i64,
    kind: u8,
    fingerprint: Option<Fingerprint>,
    added: Option<Vec<u8>>,
}

/// Returns what certificates were before some changes that follow each other, by the numbers of these.
fn formers(
    engine: &impl Engine,
    entry: JournalId,
    changes: &[ChangeRow],
) -> Result<HashMap<i64, FormerCertificate>> {
    const SQL: &str =
        "SELECT number, cert, first_seen, superseded, origin_kind, origin_updated, origin_url, bytes
        FROM former WHERE journal = ?1 AND number BETWEEN ?2 AND ?3";
    let mut keeping = changes.iter().filter(|change| change.kind >= change_row::MERGED);
    let Some(first) = keeping.next() else { return Ok(HashMap::new()) };
    let last = keeping.next_back().unwrap_or(first);
    let formers = engine.list(SQL, &[&entry.0, &first.number, &last.number], READING, |row| {
        let id = row.get(1)?;
        let superseded = packed::unpack_positions(row.bytes(3)?);
        let former = FormerCertificate {
            id: CertId(id),
            first_seen: row.time(2)?,
            superseded: superseded.map_err(|source| engine.corrupt(id, source))?,
            origin: row.origin(4)?,
            bytes: row.get(7)?,
        };
        Ok((row.get(0)?, former))
    })?;
    Ok(formers.into_iter().collect())
}
