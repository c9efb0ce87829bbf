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
