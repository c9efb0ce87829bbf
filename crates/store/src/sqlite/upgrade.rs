//! From version 1 of the tables to version 2, when something has to be stored that version 1 has no place for: only then are
//! earlier programs shut out, and only then is a copy worth its space.

use std::fs::{File, remove_file, rename};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use cert::Timestamp;
use rusqlite::Connection;
use rusqlite::types::{ToSqlOutput, ValueRef};

use super::connect::{beside, reopen};
use super::error::Context;
use super::file_access::{new_file, sync_directory};
use super::schema;
use super::store::SqliteStore;
use crate::engine::stored_time;
use crate::{Error, Result};

const DOING: &str = "bringing the tables to version 2";

/// Adds what version 2 has more, in the transaction of `connection`, after a copy of the database as it was before that.
/// The journal says so.
pub(super) fn upgrade(store: &SqliteStore, connection: &Connection, now: Timestamp) -> Result<()> {
    const JOURNAL: &str = "INSERT INTO journal (time, command, complete) VALUES (?1, ?2, 1)";
    let path = &store.path;
    back_up(store)?;
    connection.execute_batch(schema::UPGRADE).context(path, DOING)?;
    let name = backup(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let command = format!("tables brought to version 2; as they were: {name}");
    connection.execute(JOURNAL, (stored_time(now), command)).context(path, DOING).map(drop)
}

/// Deletes the copy, which has what is purged, and one that was not completed.
pub(super) fn delete_backup(path: &Path) -> Result<()> {
    for copy in [backup(path), incomplete(path)] {
        match remove_file(&copy) {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                return Err(Error::File { path: copy, source });
            }
            _ => {}
        }
    }
    Ok(())
}

/// Copies what is committed. Nobody else writes meanwhile.
fn back_up(store: &SqliteStore) -> Result<()> {
    let (path, new) = (backup(&store.path), incomplete(&store.path));
    let failed = |source: io::Error| Error::File { path: new.clone(), source };
    match remove_file(&new) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
        _ => drop(new_file().open(&new).map_err(failed)?),
    }
    let name = std::path::absolute(&new).map_err(failed)?;
    let name = ToSqlOutput::Borrowed(ValueRef::Text(name.as_os_str().as_encoded_bytes()));
    let copied = reopen(&store.path, &store.access)
        .and_then(|reader| reader.execute("VACUUM INTO ?1", [name]).context(&new, DOING))
        .and_then(|_| File::open(&new).and_then(|copy| copy.sync_all()).map_err(failed))
        .and_then(|()| rename(&new, &path).map_err(failed));
    if copied.is_err() {
        // What cannot be deleted either is replaced by the next attempt.
        let _ = remove_file(&new);
    }
    copied?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    sync_directory(parent.unwrap_or(Path::new("."))).map_err(failed)
}

fn backup(path: &Path) -> PathBuf {
    beside(path, ".version-1")
}

fn incomplete(path: &Path) -> PathBuf {
    beside(path, ".version-1.new")
}
