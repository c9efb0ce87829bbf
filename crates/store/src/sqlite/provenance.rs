//! Where certificates came from: origins of user IDs, and other stores that were taken over.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use cert::Timestamp;
use rusqlite::params;

use super::view::View;
use crate::{CertId, Migration, Origin, Origins, Result};

const READING: &str = "reading where certificates came from";
const WRITING: &str = "writing where certificates came from";

/// Returns the origins of a certificate's user IDs.
pub(super) fn user_id_origins(view: &View<'_>, id: CertId) -> Result<Vec<(Vec<u8>, Origin)>> {
    const SQL: &str = "SELECT value, kind, updated, url FROM user_id_origin WHERE cert = ?1";
    view.list(SQL, [id.0], READING, |row| {
        let updated = view.column::<Option<u32>>(row, 2)?.map(Timestamp);
        let origin = Origin { kind: view.column(row, 1)?, updated, url: view.column(row, 3)? };
        Ok((view.column(row, 0)?, origin))
    })
}

/// Notes where a certificate and its user IDs came from.
pub(super) fn set_origins(view: &View<'_>, id: CertId, origins: &Origins) -> Result<()> {
    if let Some(Origin { kind, updated, url }) = &origins.certificate {
        const SQL: &str =
            "UPDATE cert SET origin_kind = ?1, origin_updated = ?2, origin_url = ?3 WHERE id = ?4";
        view.execute(SQL, params![kind, updated.map(|updated| updated.0), url, id.0], WRITING)?;
    }
    for (value, Origin { kind, updated, url }) in &origins.user_ids {
        const SQL: &str =
            "REPLACE INTO user_id_origin (cert, value, kind, updated, url) VALUES (?1, ?2, ?3, ?4, ?5)";
        view.execute(SQL, params![id.0, value, kind, updated.map(|updated| updated.0), url], WRITING)?;
    }
    Ok(())
}

/// Forgets where the user IDs of a certificate came from, also of what it was before, which the journal still tells.
/// Returns how many origins it were.
///
/// A removal that can be undone keeps them: the certificate would come back under the same number. One that was removed
/// has no number now.
pub(super) fn forget(view: &View<'_>, id: Option<CertId>, fingerprint: &[u8]) -> Result<usize> {
    const SQL: &str = "DELETE FROM user_id_origin WHERE cert = ?1 OR cert IN
        (SELECT cert FROM former JOIN change USING (journal, number) WHERE fingerprint = ?2)";
    view.execute(SQL, params![id.map(|id| id.0), fingerprint], WRITING)
}

/// Lists the stores that were taken over, or about which the user was told.
pub(super) fn migrations(view: &View<'_>) -> Result<Vec<Migration>> {
    const SQL: &str = "SELECT path, modified, size, time FROM migration ORDER BY path";
    view.list(SQL, [], READING, |row| {
        Ok(Migration {
            path: PathBuf::from(OsString::from_vec(view.column(row, 0)?)),
            modified: view.column(row, 1)?,
            size: view.column::<i64>(row, 2)?.unsigned_abs(),
            done: view.column::<Option<u32>>(row, 3)?.map(Timestamp),
        })
    })
}

/// Notes that a store was taken over, or that the user was told about it.
pub(super) fn remember(view: &View<'_>, migration: &Migration) -> Result<()> {
    const SQL: &str = "REPLACE INTO migration (path, modified, size, time) VALUES (?1, ?2, ?3, ?4)";
    let path = migration.path.as_os_str().as_bytes();
    let size = i64::try_from(migration.size).unwrap_or(i64::MAX);
    view.execute(SQL, params![path, migration.modified, size, migration.done.map(|done| done.0)], WRITING)
        .map(drop)
}
