//! Keeping the verdicts on signatures: written when nobody else writes them, or not at all.

use super::rows_out::{Encoded, Value};
use super::store::PostgresStore;
use super::view::View;
use crate::engine::Engine;
use crate::{CertId, Error, KeptVerdict, Result, packed};

const DOING: &str = "keeping verdicts";

/// Adds verdicts to those that are kept, if that can be done at once; says whether it was.
pub(super) fn keep(store: &PostgresStore, found: &[(CertId, Vec<KeptVerdict>)]) -> Result<bool> {
    // Nothing of value is lost if the server loses it.
    const BEGIN: &str = "BEGIN; SET LOCAL lock_timeout = '20ms'; SET LOCAL synchronous_commit = off";
    let begun = store.server.try_begin(BEGIN);
    match begun.and_then(|connection| write(View::within(store, connection), found)) {
        Ok(()) => Ok(true),
        // Somebody else has the rows, this user may only read, or the server went away.
        Err(Error::Server { .. } | Error::Locked { .. } | Error::Unwritable { .. } | Error::Full { .. }) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

fn write(view: View<'_>, found: &[(CertId, Vec<KeptVerdict>)]) -> Result<()> {
    // Only of certificates that are there; and one that a writer is about to change is left to him.
    const THERE: &str = "SELECT id FROM cert WHERE id = ANY ($1) ORDER BY id FOR SHARE SKIP LOCKED";
    const KEPT: &str = "SELECT cert, verdicts FROM verdicts WHERE cert = ANY ($1) ORDER BY cert FOR UPDATE";
    let ids: Vec<i64> =
        found.iter().filter(|(_, verdicts)| !verdicts.is_empty()).map(|(id, _)| id.0).collect();
    let there = view.connection().rows(THERE, &[&ids], DOING)?;
    let there: Vec<i64> = there.iter().map(|row| view.column(row, 0)).collect::<Result<_>>()?;
    if there.len() < ids.len() {
        const COUNT: &str = "SELECT count(*) FROM cert WHERE id = ANY ($1)";
        let count = view.connection().row(COUNT, &[&ids], DOING)?;
        let count: i64 = count.map_or(Ok(0), |row| view.column(&row, 0))?;
        if count as usize > there.len() {
            return Err(Error::Unwritable { path: view.path().to_owned() });
        }
    }
    let mut kept = view.blobs(KEPT, &there)?;
    let (mut rows, mut changed) = (Encoded::default(), Vec::new());
    for (CertId(id), verdicts) in found.iter().filter(|(id, _)| there.binary_search(&id.0).is_ok()) {
        let before = kept.remove(id).unwrap_or_default();
        // What cannot be read is of no use to anybody.
        let mut all = packed::unpack_verdicts(&before).unwrap_or_default();
        all.extend_from_slice(verdicts);
        let all = packed::pack_verdicts(&all);
        if all != before && !changed.contains(id) {
            changed.push(*id);
            rows.push(&[Value::Long(*id), Value::Bytes(&all)]);
        }
    }
    view.connection().execute("DELETE FROM verdicts WHERE cert = ANY ($1)", &[&changed], DOING)?;
    view.connection().copy("verdicts (cert, verdicts)", rows, DOING)?;
    view.commit()
}
