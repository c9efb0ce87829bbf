//! Writing the journal.

use cert::Fingerprint;

use super::view::View;
use crate::engine::Engine;
use crate::journal::change_row::{self, Counts, NewChange};
use crate::journal::entry::{Entry, WRITING};
use crate::rows::stored_fingerprint;
use crate::{CertId, Result};

/// Writes what happens to a certificate, before it happens.
pub(super) fn write(
    entry: &mut Entry,
    view: &View<'_>,
    fingerprint: &Fingerprint,
    change: &NewChange<'_>,
) -> Result<()> {
    const SQL: &str =
        "INSERT INTO change (journal, number, kind, fingerprint, added) VALUES (?1, ?2, ?3, ?4, ?5)";
    const FORMER: &str = "INSERT INTO former (journal, number, cert, first_seen, superseded, origin_kind,
            origin_updated, origin_url, bytes)
        SELECT ?1, ?2, id, first_seen, CASE WHEN ?4 THEN superseded END, origin_kind, origin_updated, origin_url,
            CASE WHEN ?4 THEN bytes ELSE x'' END
        FROM cert JOIN packets ON cert = id WHERE id = ?3";
    let (id, number) = (entry.id.0, entry.next);
    let (kind, stored) = (i16::from(change.kind()), stored_fingerprint(fingerprint));
    view.execute(SQL, &[&id, &number, &kind, &stored, &change.added()], WRITING)?;
    if let Some((CertId(cert), with_packets)) = change.former() {
        view.execute(FORMER, &[&id, &number, &cert, &with_packets], WRITING)?;
    }
    entry.next += 1;
    entry.counts.count(change);
    Ok(())
}

/// Marks an entry complete, or takes it and its number away if there are no changes under it.
pub(super) fn finish_if_changed(entry: &Entry, view: &View<'_>) -> Result<()> {
    const NUMBER: &str = "UPDATE sqlite_sequence SET seq = ?1 - 1 WHERE name = 'journal' AND seq = ?1";
    if !entry.remove_if_unchanged(view)? {
        return entry.finish(view);
    }
    view.execute(NUMBER, &[&entry.id.0], WRITING).map(drop)
}

/// Writes the sums.
pub(super) fn close(entry: &Entry, view: &View<'_>) -> Result<()> {
    const SQL: &str = "UPDATE journal SET added = added + ?1, merged = merged + ?2, removed = removed + ?3
        WHERE id = ?4";
    let Counts([added, merged, removed]) = entry.counts;
    view.execute(SQL, &[&added, &merged, &removed, &entry.id.0], WRITING).map(drop)
}

/// Marks an entry incomplete until what it purged is overwritten.
pub(super) fn begin_overwriting(entry: &Entry, view: &View<'_>) -> Result<()> {
    view.execute("UPDATE journal SET complete = 0 WHERE id = ?1", &[&entry.id.0], WRITING).map(drop)
}

/// Marks the entries of all purges complete: what they purged is overwritten.
pub(super) fn finish_overwriting(view: &View<'_>) -> Result<()> {
    const SQL: &str = "UPDATE journal SET complete = 1 WHERE NOT complete AND undoes IS NULL
        AND id IN (SELECT journal FROM change WHERE kind = ?1)";
    view.execute(SQL, &[&i16::from(change_row::REMOVED)], WRITING).map(drop)
}

/// Says whether a purge of this key was not [finished](finish_overwriting).
pub(super) fn is_overwriting(view: &View<'_>, fingerprint: &[u8]) -> Result<bool> {
    const SQL: &str = "SELECT 1 FROM change JOIN journal ON journal.id = change.journal
        WHERE fingerprint = ?1 AND kind = ?2 AND NOT complete AND undoes IS NULL";
    view.exists(SQL, &[&fingerprint, &i16::from(change_row::REMOVED)])
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use crate::journal::entry::{ENTRIES, REMOVALS};
    use crate::sqlite::SqliteStore;

    /// Returns the steps in which SQLite answers a query.
    fn plan(connection: &Connection, sql: &str) -> Vec<String> {
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).expect("a query");
        let values = vec![1; statement.parameter_count()];
        let rows = statement.query_map(rusqlite::params_from_iter(values), |row| row.get(3)).expect("a plan");
        rows.map(|step| step.expect("a step")).collect()
    }

    #[test]
    fn of_a_journal_one_entry_is_read_by_its_number_and_removals_without_all_other_changes() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("keyhoard.db");
        drop(SqliteStore::create(&path).expect("create"));
        let connection = Connection::open(&path).expect("open");
        // A journal as it may have become, so that the plan is that of a large one.
        let fill =
            "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 100000)
            INSERT INTO journal (id, time, command) SELECT n, n, 'keyhoard import' FROM number;
            INSERT INTO change (journal, number, kind, fingerprint) SELECT id, 0, 0, x'0401' FROM journal;
            ANALYZE;";
        connection.execute_batch(fill).expect("filled");
        let entry = plan(&connection, &format!("{ENTRIES} WHERE id = ?1"));
        assert!(entry[0].starts_with("SEARCH journal USING INTEGER PRIMARY KEY"), "{entry:?}");
        let removals = plan(&connection, REMOVALS);
        assert!(removals[0].starts_with("SCAN former USING INDEX"), "{removals:?}");
        assert!(removals[1].starts_with("SEARCH change USING PRIMARY KEY"), "{removals:?}");
        assert!(removals[2].starts_with("SEARCH journal USING INTEGER PRIMARY KEY"), "{removals:?}");
        assert_eq!(removals.len(), 3, "nothing is sorted: {removals:?}");
    }
}
