//! Where certificates came from: origins of user IDs, and other stores that were taken over.

use std::path::PathBuf;

use crate::engine::{Engine, Parameters, Text, stored_time};
use crate::{CertId, Migration, Origin, Origins, Result};

const READING: &str = "reading where certificates came from";
const WRITING: &str = "writing where certificates came from";

/// Returns the origins of a certificate's user IDs.
pub(crate) fn user_id_origins(engine: &impl Engine, id: CertId) -> Result<Vec<(Vec<u8>, Origin)>> {
    const SQL: &str = "SELECT value, kind, updated, url FROM user_id_origin WHERE cert = ?1 ORDER BY value";
    engine.list(SQL, &[&id.0], READING, |row| Ok((row.get(0)?, row.origin(1)?)))
}

/// Notes where a certificate and its user IDs came from.
pub(crate) fn set_origins<E: Engine>(engine: &E, id: CertId, origins: &Origins) -> Result<()> {
    if let Some(origin) = &origins.certificate {
        set_origin(engine, id, origin)?;
    }
    for (value, Origin { kind, updated, url }) in &origins.user_ids {
        let (updated, url) = (updated.map(stored_time), url.as_deref().map(Text));
        let row: Parameters<'_> = &[&id.0, value, &i16::from(*kind), &updated, &url];
        engine.execute(E::SET_USER_ID_ORIGIN, row, WRITING)?;
    }
    Ok(())
}

/// Notes where a certificate came from.
pub(crate) fn set_origin(engine: &impl Engine, id: CertId, origin: &Origin) -> Result<()> {
    const SQL: &str = "UPDATE cert SET origin_kind = ?1, origin_updated = ?2, origin_url = ?3 WHERE id = ?4";
    let (updated, url) = (origin.updated.map(stored_time), origin.url.as_deref().map(Text));
    engine.execute(SQL, &[&i16::from(origin.kind), &updated, &url, &id.0], WRITING).map(drop)
}

/// Forgets where the user IDs of a certificate came from, also of what it was before, which the journal still tells.
/// Returns how many origins it were.
///
/// A removal that can be undone keeps them: the certificate would come back under the same number. One that was removed
/// has no number now.
pub(crate) fn forget(engine: &impl Engine, id: Option<CertId>, fingerprint: &[u8]) -> Result<u64> {
    const SQL: &str = "DELETE FROM user_id_origin WHERE cert = ?1 OR cert IN
        (SELECT cert FROM former JOIN change USING (journal, number) WHERE fingerprint = ?2)";
    engine.execute(SQL, &[&id.map(|id| id.0), &fingerprint], WRITING)
}

/// Lists the stores that were migrated, or that the user was told about.
pub(crate) fn migrations(engine: &impl Engine) -> Result<Vec<Migration>> {
    const SQL: &str = "SELECT path, modified, size, time FROM migration ORDER BY path";
    engine.list(SQL, &[], READING, |row| {
        Ok(Migration {
            path: path_of(row.get(0)?),
            modified: row.get(1)?,
            size: row.count(2)?,
            done: row.optional_time(3)?,
        })
    })
}

#[cfg(unix)]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(not(unix))]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// Notes that a store was migrated, or that the user was told about it.
pub(crate) fn remember<E: Engine>(engine: &E, migration: &Migration) -> Result<()> {
    let path = migration.path.as_os_str().as_encoded_bytes();
    let size = i64::try_from(migration.size).unwrap_or(i64::MAX);
    let row: Parameters<'_> = &[&path, &migration.modified, &size, &migration.done.map(stored_time)];
    engine.execute(E::REMEMBER_MIGRATION, row, WRITING).map(drop)
}
