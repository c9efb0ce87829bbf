//! Writing the journal.

use cert::Fingerprint;

use super::rows_out::{Encoded, Value};
use super::view::View;
use crate::engine::{Engine, Parameters};
use crate::journal::change_row::{Counts, NewChange};
use crate::journal::entry::{Entry, WRITING};
use crate::rows::stored_fingerprint;
use crate::{CertId, JournalId, Result};

/// Writes what happens to certificates, before it happens.
pub(super) fn write<'c>(
    entry: &mut Entry,
    view: &View<'_>,
    changes: impl Iterator<Item = (Fingerprint, NewChange<'c>)>,
) -> Result<()> {
    const FORMER: &str = "INSERT INTO former (journal, number, cert, first_seen, superseded, origin_kind,
            origin_updated, origin_url, bytes)
        SELECT $1, number, id, first_seen, CASE WHEN with_packets THEN superseded END, origin_kind, origin_updated,
            origin_url, CASE WHEN with_packets THEN bytes ELSE ''::bytea END
        FROM unnest($2::bigint[], $3::bigint[], $4::boolean[]) AS kept (number, cert, with_packets)
        JOIN cert ON id = kept.cert
        JOIN packets ON packets.cert = id";
    let mut rows = Encoded::default();
    let (mut numbers, mut certs, mut with_packets) = (Vec::new(), Vec::new(), Vec::new());
    for (fingerprint, change) in changes {
        rows.push(&[
            Value::Long(entry.id.0),
            Value::Long(entry.next),
            Value::Small(change.kind().into()),
            Value::Bytes(&stored_fingerprint(&fingerprint)),
            change.added().map_or(Value::Null, Value::Bytes),
        ]);
        if let Some((CertId(id), is_whole)) = change.former() {
            numbers.push(entry.next);
            certs.push(id);
            with_packets.push(is_whole);
        }
        entry.next += 1;
        entry.counts.count(&change);
    }
    view.connection().copy("change (journal, number, kind, fingerprint, added)", rows, WRITING)?;
    if !numbers.is_empty() {
        view.connection().execute(FORMER, &[&entry.id.0, &numbers, &certs, &with_packets], WRITING)?;
    }
    Ok(())
}

/// Writes the sums.
pub(super) fn close(entry: &Entry, view: &View<'_>) -> Result<CommitMarker> {
    const OWN: &str = "SELECT pg_current_xact_id()::text";
    const SQL: &str = "UPDATE journal SET added = added + ?1, merged = merged + ?2, removed = removed + ?3,
        batches = batches + 1 WHERE id = ?4 RETURNING batches";
    let Counts([added, merged, removed]) = entry.counts;
    let sums: Parameters<'_> = &[&added, &merged, &removed, &entry.id.0];
    if let Some(batch) = view.first(SQL, sums, WRITING, |row| row.get(0))? {
        return Ok(CommitMarker::Batch(entry.id, batch));
    }
    let number = view.first(OWN, &[], WRITING, |row| row.get(0))?;
    Ok(CommitMarker::Transaction(number.expect("a function returns a row")))
}

/// By what it is known later whether a transaction was committed.
pub(super) enum CommitMarker {
    /// A batch of an entry, by its number.
    Batch(JournalId, i64),
    /// A transaction that leaves no entry, by its own number.
    Transaction(String),
}

impl CommitMarker {
    /// Returns whether it was committed; `None` while its transaction is still running. For a batch, this waits for the
    /// transaction to end.
    pub(super) fn is_committed(&self, view: &View<'_>) -> Result<Option<bool>> {
        match self {
            Self::Batch(entry, batch) => {
                const SQL: &str = "SELECT batches FROM journal WHERE id = ?1 FOR UPDATE";
                let last = view.first(SQL, &[&entry.0], WRITING, |row| row.get::<i64>(0))?;
                Ok(Some(last.is_some_and(|last| last >= *batch)))
            }
            Self::Transaction(number) => {
                // A crash takes back numbers that had not reached the disk, and to ask about one that was never given
                // out would be an error.
                const SQL: &str = "SELECT CASE WHEN ?1::text::xid8 < pg_current_xact_id()
                    THEN pg_xact_status(?1::text::xid8) ELSE 'aborted' END";
                let status =
                    view.first(SQL, &[number], WRITING, |row| row.get::<Option<String>>(0))?.flatten();
                Ok(status.filter(|status| status != "in progress").map(|status| status == "committed"))
            }
        }
    }
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
