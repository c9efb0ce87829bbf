//! The journal: what each command did, and what it takes to undo it.

use std::collections::HashMap;
use std::ops::ControlFlow;

use cert::{Fingerprint, Timestamp};
use tokio_postgres::Row;

use super::provenance;
use super::rows_out::{Encoded, Value};
use super::view::View;
use crate::journal::change_row::{self, Counts, NewChange};
use crate::rows::{parse_fingerprint, stored_fingerprint};
use crate::{
    CertId, Change, Error, FormerCertificate, InputDigest, JournalEntry, JournalId, Migration, ReadJournal,
    Result, packed,
};

const READING: &str = "reading the journal";
const WRITING: &str = "writing the journal";

/// Changes that are read at once: those that took something away come with all that was there.
const PART: i64 = 1000;
const FORMERS: usize = 16;

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
        const NEW: &str = "INSERT INTO journal (time, command) VALUES ($1, $2) RETURNING id";
        const LAST: &str = "SELECT max(number) FROM change WHERE journal = $1";
        let (id, last) = match continued {
            Some(id) => (Some(id.0), view.connection().row(LAST, &[&id.0], WRITING)?),
            None => {
                let command = command.replace('\0', "\u{fffd}");
                let row = view.connection().row(NEW, &[&i64::from(now.0), &command], WRITING)?;
                (row.map(|row| view.column(&row, 0)).transpose()?, None)
            }
        };
        let last = last.map(|row| view.column::<Option<i64>>(&row, 0)).transpose()?.flatten();
        let id = JournalId(id.expect("an insertion returns its row"));
        Ok(Self { id, next: last.map_or(0, |last| last + 1), counts: Counts::default() })
    }

    /// Writes what happens to certificates, before it happens.
    pub(super) fn write<'c>(
        &mut self,
        view: &View<'_>,
        changes: impl Iterator<Item = (Fingerprint, NewChange<'c>)>,
    ) -> Result<()> {
        const FORMER: &str = "INSERT INTO former (journal, number, cert, first_seen, superseded, origin_kind,
                origin_updated, origin_url, bytes)
            SELECT $1, number, id, first_seen, superseded, origin_kind, origin_updated, origin_url, bytes
            FROM unnest($2::bigint[], $3::bigint[]) AS gone (number, cert) JOIN cert ON id = gone.cert
            JOIN packets ON packets.cert = id";
        let mut rows = Encoded::default();
        let (mut numbers, mut certs) = (Vec::new(), Vec::new());
        for (fingerprint, change) in changes {
            rows.push(&[
                Value::Long(self.id.0),
                Value::Long(self.next),
                Value::Small(change.kind().into()),
                Value::Bytes(&stored_fingerprint(&fingerprint)),
                change.added().map_or(Value::Null, Value::Bytes),
            ]);
            if let Some(CertId(id)) = change.former() {
                numbers.push(self.next);
                certs.push(id);
            }
            self.next += 1;
            self.counts.count(&change);
        }
        view.connection().copy("change (journal, number, kind, fingerprint, added)", rows, WRITING)?;
        if !numbers.is_empty() {
            view.execute(FORMER, &[&self.id.0, &numbers, &certs], WRITING)?;
        }
        Ok(())
    }

    /// Takes what a certificate was out of every entry; returns how many times it was there.
    pub(super) fn purge(&self, view: &View<'_>, fingerprint: &[u8]) -> Result<u64> {
        const FORMER: &str = "DELETE FROM former WHERE (journal, number) IN
            (SELECT journal, number FROM change WHERE fingerprint = $1)";
        const SAID: &str =
            "UPDATE change SET added = NULL WHERE fingerprint = $1 AND kind >= $2 AND added IS NOT NULL";
        let formers = view.execute(FORMER, &[&fingerprint], WRITING)?;
        Ok(formers + view.execute(SAID, &[&fingerprint, &i16::from(change_row::OWNER_TRUST)], WRITING)?)
    }

    /// Marks an earlier entry as undone by this one.
    pub(super) fn mark_undone(&self, view: &View<'_>, entry: JournalId) -> Result<()> {
        let (own, other) = (self.id.0, entry.0);
        view.execute("UPDATE journal SET undone_by = $1 WHERE id = $2", &[&own, &other], WRITING)?;
        view.execute("UPDATE journal SET undoes = $2 WHERE id = $1", &[&own, &other], WRITING)?;
        const AGAIN: &str = "UPDATE journal SET undone_by = NULL WHERE undone_by = $1";
        view.execute(AGAIN, &[&other], WRITING).map(drop)
    }

    /// Marks the entry complete.
    pub(super) fn finish(&self, view: &View<'_>) -> Result<()> {
        view.execute("UPDATE journal SET complete = true WHERE id = $1", &[&self.id.0], WRITING).map(drop)
    }

    /// Takes the entry away if there are no changes under it; says whether it did.
    pub(super) fn remove_if_unchanged(&self, view: &View<'_>) -> Result<bool> {
        if self.next == 0 {
            view.execute("DELETE FROM journal WHERE id = $1", &[&self.id.0], WRITING)?;
        }
        Ok(self.next == 0)
    }

    /// Writes the sums.
    pub(super) fn close(&self, view: &View<'_>) -> Result<CommitMarker> {
        const OWN: &str = "SELECT pg_current_xact_id()::text";
        const SQL: &str =
            "UPDATE journal SET added = added + $1, merged = merged + $2, removed = removed + $3,
            batches = batches + 1 WHERE id = $4 RETURNING batches";
        let Counts([added, merged, removed]) = self.counts;
        if let Some(row) = view.connection().row(SQL, &[&added, &merged, &removed, &self.id.0], WRITING)? {
            return Ok(CommitMarker::Batch(self.id, view.column(&row, 0)?));
        }
        let row = view.connection().row(OWN, &[], WRITING)?;
        Ok(CommitMarker::Transaction(view.column(&row.expect("a function returns a row"), 0)?))
    }
}

/// By what it is known later whether a transaction was committed.
pub(super) enum CommitMarker {
    /// A batch of an entry, by its number.
    Batch(JournalId, i64),
    /// A transaction that leaves no entry, by its own number.
    Transaction(String),
}

impl CommitMarker {
    /// Says whether it was committed, once whoever wrote it has come to an end; `None` before.
    pub(super) fn is_committed(&self, view: &View<'_>) -> Result<Option<bool>> {
        match self {
            Self::Batch(entry, batch) => is_committed(view, *entry, *batch).map(Some),
            Self::Transaction(number) => {
                // A crash takes back numbers that had not reached the disk, and to ask about one that was never given
                // out would be an error.
                const SQL: &str = "SELECT CASE WHEN $1::text::xid8 < pg_current_xact_id()
                    THEN pg_xact_status($1::text::xid8) ELSE 'aborted' END";
                let row = view.connection().row(SQL, &[number], WRITING)?;
                let status: Option<String> = row.map_or(Ok(None), |row| view.column(&row, 0))?;
                Ok(status.filter(|status| status != "in progress").map(|status| status == "committed"))
            }
        }
    }
}

/// Says whether a batch of an entry was committed; waits until whoever wrote it has come to an end.
fn is_committed(view: &View<'_>, entry: JournalId, batch: i64) -> Result<bool> {
    const SQL: &str = "SELECT batches FROM journal WHERE id = $1 FOR UPDATE";
    let row = view.connection().row(SQL, &[&entry.0], WRITING)?;
    row.map_or(Ok(false), |row| Ok(view.column::<i64>(&row, 0)? >= batch))
}

impl ReadJournal for View<'_> {
    fn journal(&self, limit: usize) -> Result<Vec<JournalEntry>> {
        const SQL: &str = "SELECT id, time, command, added, merged, removed, undone_by, undoes, complete,
            EXISTS (SELECT 1 FROM change WHERE change.journal = journal.id)
            FROM journal ORDER BY id DESC LIMIT $1";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let entry = |row: &Row| {
            let count = |index| self.column::<i64>(row, index).map(i64::unsigned_abs);
            Ok(JournalEntry {
                id: JournalId(self.column(row, 0)?),
                time: self.time(row, 1)?,
                command: self.column(row, 2)?,
                counts: [count(3)?, count(4)?, count(5)?],
                undone_by: self.column::<Option<i64>>(row, 6)?.map(JournalId),
                undoes: self.column::<Option<i64>>(row, 7)?.map(JournalId),
                complete: self.column(row, 8)?,
                changed: self.column(row, 9)?,
            })
        };
        self.rows(SQL, &[&limit], READING)?.iter().map(entry).collect()
    }

    fn journal_changes(
        &self,
        id: JournalId,
        from: u64,
        visit: &mut dyn FnMut(Change) -> ControlFlow<()>,
    ) -> Result<()> {
        const SQL: &str = "SELECT number, kind, fingerprint, added FROM change
            WHERE journal = $1 AND number >= $2 ORDER BY number LIMIT $3";
        let mut from = i64::try_from(from).unwrap_or(i64::MAX);
        loop {
            let rows = self.rows(SQL, &[&id.0, &from, &PART], READING)?;
            let Some(last) = rows.last() else { return Ok(()) };
            from = self.column::<i64>(last, 0)? + 1;
            for rows in rows.chunks(FORMERS) {
                if hand_out(self, id, rows, visit)?.is_break() {
                    return Ok(());
                }
            }
        }
    }

    fn known_inputs(&self, digests: &[InputDigest]) -> Result<Vec<Option<CertId>>> {
        const SQL: &str = "SELECT digest, cert FROM input WHERE digest = ANY ($1)";
        let asked: Vec<&[u8]> = digests.iter().map(|digest| digest.0.as_slice()).collect();
        let rows = self.rows(SQL, &[&asked], "looking up earlier imports")?;
        let mut found: HashMap<&[u8], i64> = HashMap::with_capacity(rows.len());
        for row in &rows {
            found.insert(self.column(row, 0)?, self.column(row, 1)?);
        }
        Ok(asked.iter().map(|digest| found.get(digest).copied().map(CertId)).collect())
    }

    fn brought_again(&self, entry: JournalId) -> Result<Vec<(Fingerprint, JournalId)>> {
        const SQL: &str = "WITH later AS MATERIALIZED (
                SELECT id FROM journal WHERE id > $1 AND undone_by IS NULL AND undoes IS NULL),
            brought AS (
                SELECT fingerprint, journal FROM change WHERE journal > $1 AND kind <= $2
                UNION ALL
                SELECT fingerprint, last FROM input JOIN cert ON cert.id = input.cert
                    WHERE last > $1 AND first >= $1)
            SELECT fingerprint, max(journal) FROM brought WHERE journal IN (SELECT id FROM later)
            GROUP BY fingerprint ORDER BY fingerprint";
        let rows = self.rows(SQL, &[&entry.0, &i16::from(change_row::MERGED)], READING)?;
        let brought = |row| {
            let entry = JournalId(self.column(row, 1)?);
            Ok((fingerprint(self, row, 0, entry)?, entry))
        };
        rows.iter().map(brought).collect()
    }

    fn last_to_meet_inputs(&self) -> Result<Vec<JournalId>> {
        let rows = self.rows("SELECT DISTINCT last FROM input", &[], READING)?;
        rows.iter().map(|row| self.column(row, 0).map(JournalId)).collect()
    }

    fn migrations(&self) -> Result<Vec<Migration>> {
        provenance::migrations(self)
    }
}

fn hand_out(
    view: &View<'_>,
    id: JournalId,
    rows: &[Row],
    visit: &mut dyn FnMut(Change) -> ControlFlow<()>,
) -> Result<ControlFlow<()>> {
    let mut numbers = Vec::new();
    for row in rows {
        if view.column::<i16>(row, 1)? >= i16::from(change_row::SHRUNK) {
            numbers.push(view.column::<i64>(row, 0)?);
        }
    }
    let mut formers = if numbers.is_empty() { Vec::new() } else { formers(view, id, &numbers)? };
    for row in rows {
        let number: i64 = view.column(row, 0)?;
        let former = || {
            let place = formers.iter().position(|(of, _)| *of == number);
            Ok(place.map(|place| formers.swap_remove(place).1))
        };
        let kind = change_row::read(view.column::<i16>(row, 1)? as u8, view.column(row, 3)?, former, || {
            corrupt(view, id)
        })?;
        if visit(Change { fingerprint: fingerprint(view, row, 2, id)?, kind }).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Returns what certificates were before the numbered changes.
fn formers(view: &View<'_>, journal: JournalId, numbers: &[i64]) -> Result<Vec<(i64, FormerCertificate)>> {
    const SQL: &str =
        "SELECT number, cert, first_seen, superseded, origin_kind, origin_updated, origin_url, bytes
        FROM former WHERE journal = $1 AND number = ANY ($2)";
    let former = |row: &Row| {
        let id = view.column(row, 1)?;
        let superseded = view.column::<Option<&[u8]>>(row, 3)?.unwrap_or_default();
        let former = FormerCertificate {
            id: CertId(id),
            first_seen: view.time(row, 2)?,
            superseded: packed::unpack_positions(superseded).map_err(|source| view.corrupt(id, source))?,
            origin: view.origin(row, 4)?,
            bytes: view.column(row, 7)?,
        };
        Ok((view.column(row, 0)?, former))
    };
    view.rows(SQL, &[&journal.0, &numbers], READING)?.iter().map(former).collect()
}

/// Reads the fingerprint of a certificate that an entry is about.
fn fingerprint(view: &View<'_>, row: &Row, column: usize, entry: JournalId) -> Result<Fingerprint> {
    parse_fingerprint(view.column(row, column)?).ok_or_else(|| corrupt(view, entry))
}

fn corrupt(view: &View<'_>, entry: JournalId) -> Error {
    Error::CorruptEntry { path: view.path(), entry: entry.0 }
}

#[cfg(test)]
mod tests {
    use scratch_postgres::{Listen, Server};

    use super::*;
    use crate::postgres::{Address, PostgresStore};

    #[test]
    fn a_transaction_was_committed_if_its_number_was_given_out_and_it_came_to_its_end() {
        let server = Server::start(Listen::Socket, &["fsync=off"]).expect("a server of its own");
        let address = Address::parse(&server.url("schema=traces")).expect("a URL");
        let store = PostgresStore::create(address, 0).expect("create");
        let view = || View::within(&store, store.server.begin("BEGIN").expect("begin"));
        let own = |view: &View<'_>| -> String {
            let row = view.connection().row("SELECT pg_current_xact_id()::text", &[], WRITING).expect("ask");
            view.column(&row.expect("a function returns a row"), 0).expect("a number")
        };
        let [committed, dropped, lasting] = [view(), view(), view()];
        let numbers = [&committed, &dropped, &lasting].map(own);
        committed.commit().expect("commit");
        drop(dropped);
        let is_committed = |number: &str| CommitMarker::Transaction(number.to_owned()).is_committed(&view());
        let answers = numbers.each_ref().map(|number| is_committed(number).expect("an answer"));
        assert_eq!(answers, [Some(true), Some(false), None]);
        assert_eq!(is_committed("999999999").expect("an answer"), Some(false), "a crash took it back");
    }
}
