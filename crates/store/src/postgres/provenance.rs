//! Where certificates came from: origins of user IDs, and other stores that were taken over.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use super::view::View;
use crate::{CertId, Migration, Origin, Origins, Result};

const READING: &str = "reading where certificates came from";
const WRITING: &str = "writing where certificates came from";

/// Returns the origins of a certificate's user IDs.
pub(super) fn user_id_origins(view: &View<'_>, id: CertId) -> Result<Vec<(Vec<u8>, Origin)>> {
    const SQL: &str = "SELECT value, kind, updated, url FROM user_id_origin WHERE cert = $1 ORDER BY value";
    let rows = view.rows(SQL, &[&id.0], READING)?;
    rows.iter().map(|row| Ok((view.column(row, 0)?, view.origin(row, 1)?))).collect()
}

/// Notes where a certificate and its user IDs came from.
pub(super) fn set_origins(view: &View<'_>, id: CertId, origins: &Origins) -> Result<()> {
    const USER_ID: &str = "INSERT INTO user_id_origin (cert, digest, value, kind, updated, url)
        VALUES ($1, sha256($2), $2, $3, $4, $5)
        ON CONFLICT (cert, digest) DO UPDATE SET kind = $3, updated = $4, url = $5";
    if let Some(origin) = &origins.certificate {
        set_origin(view, id, origin)?;
    }
    for (value, Origin { kind, updated, url }) in &origins.user_ids {
        let updated = updated.map(|updated| i64::from(updated.0));
        let url = url.as_ref().map(String::as_bytes);
        view.execute(USER_ID, &[&id.0, value, &i16::from(*kind), &updated, &url], WRITING)?;
    }
    Ok(())
}

/// Notes where a certificate came from.
pub(super) fn set_origin(view: &View<'_>, id: CertId, origin: &Origin) -> Result<()> {
    const SQL: &str = "UPDATE cert SET origin_kind = $1, origin_updated = $2, origin_url = $3 WHERE id = $4";
    let updated = origin.updated.map(|updated| i64::from(updated.0));
    let url = origin.url.as_ref().map(String::as_bytes);
    view.execute(SQL, &[&i16::from(origin.kind), &updated, &url, &id.0], WRITING).map(drop)
}

/// Forgets where the user IDs of a certificate came from, also of what it was before, which the journal still tells.
/// Returns how many origins it were.
pub(super) fn forget(view: &View<'_>, id: Option<CertId>, fingerprint: &[u8]) -> Result<u64> {
    const SQL: &str = "DELETE FROM user_id_origin WHERE cert = $1 OR cert IN
        (SELECT cert FROM former JOIN change USING (journal, number) WHERE fingerprint = $2)";
    view.execute(SQL, &[&id.map(|id| id.0), &fingerprint], WRITING)
}

/// Lists the stores that were taken over, or about which the user was told.
pub(super) fn migrations(view: &View<'_>) -> Result<Vec<Migration>> {
    const SQL: &str = "SELECT path, modified, size, time FROM migration ORDER BY path";
    let mut migrations = Vec::new();
    for row in view.rows(SQL, &[], READING)? {
        let done = view.column::<Option<i64>>(&row, 3)?.map(|_| view.time(&row, 3)).transpose()?;
        migrations.push(Migration {
            path: PathBuf::from(OsString::from_vec(view.column(&row, 0)?)),
            modified: view.column(&row, 1)?,
            size: view.column::<i64>(&row, 2)?.unsigned_abs(),
            done,
        });
    }
    Ok(migrations)
}

/// Notes that a store was taken over, or that the user was told about it.
pub(super) fn remember(view: &View<'_>, migration: &Migration) -> Result<()> {
    const SQL: &str = "INSERT INTO migration (digest, path, modified, size, time)
        VALUES (sha256($1), $1, $2, $3, $4) ON CONFLICT (digest) DO UPDATE SET modified = $2, size = $3, time = $4";
    let path = migration.path.as_os_str().as_bytes();
    let size = i64::try_from(migration.size).unwrap_or(i64::MAX);
    let done = migration.done.map(|done| i64::from(done.0));
    view.execute(SQL, &[&path, &migration.modified, &size, &done], WRITING).map(drop)
}
