//! When a database has a write-ahead log.
//!
//! A local database has one, so that readers never wait. But through a log everything is written twice, and the first
//! import into an empty database, when there is nothing to read yet, is often the largest: it goes without, into the
//! file itself, with SQLite's rollback journal, and the log comes after it.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use super::access::Access;
use super::error::Context;
use super::{schema, write_lock};
use crate::{Error, Result};

/// The size to which the log's file is truncated after a checkpoint (`journal_size_limit`).
const LOG_SIZE_LIMIT: i64 = 8 << 20;

/// Pages in the log at which a checkpoint begins (`wal_autocheckpoint`): 256 MiB. A large import's batches change the same
/// pages of the indexes again and again; so each page is copied once for several batches.
const AUTOCHECKPOINT_PAGES: i64 = (256 << 20) / schema::PAGE_SIZE;

const DOING: &str = "waiting to write";

/// Says whether the database has its log, so that readers and the writer need not wait for each other.
pub(super) fn is_there(connection: &Connection, path: &Path, access: &Access) -> Result<bool> {
    match access {
        Access::Local => {
            mode(connection, "PRAGMA journal_mode").context(path, "opening").map(|mode| mode == "wal")
        }
        Access::Network | Access::Memory | Access::Immutable(..) | Access::Empty => Ok(false),
    }
}

/// Prepares for reading: turns the log on where it is still missing, if no other connection uses the database.
///
/// That happens when the first import was killed at its very end, or a reader was there then. The reader does not become a
/// writer: it waits for no lock, and changes the file's header but no row. If this were left to the next writer, a slow
/// reader (a listing in a pager) would delay it: without a log a commit waits for all readers, and the log cannot be
/// started while there are any.
pub(super) fn before_reading(connection: &Connection, path: &Path, access: &Access) -> Result<()> {
    if let Access::Local = access
        && !is_there(connection, path, access)?
        && !is_empty(connection, path)?
    {
        enable_wal(connection);
    }
    Ok(())
}

/// Waits for the write lock and begins. Returns whether [`enable_wal`] is to be called when it is done.
///
/// `reading`: this process has snapshots open; a writer without a log would wait for them forever.
pub(super) fn begin_writing(
    connection: &Connection,
    path: &Path,
    access: &Access,
    reading: bool,
) -> Result<bool> {
    sync_fully(connection, path)?;
    let begin = || write_lock::begin_immediate(connection, path, write_lock::LOCK_TIMEOUT);
    match access {
        Access::Local | Access::Network | Access::Memory => {}
        Access::Immutable(_, obstacle) => return Err(obstacle.error(path, "writing")),
        Access::Empty => return Err(Error::Missing { path: path.to_owned() }),
    }
    connection.pragma_update(None, "journal_size_limit", LOG_SIZE_LIMIT).context(path, DOING)?;
    connection.pragma_update(None, "wal_autocheckpoint", AUTOCHECKPOINT_PAGES).context(path, DOING)?;
    let logged = is_there(connection, path, access)?;
    if !logged && reading {
        return Err(Error::SnapshotHeld { path: path.to_owned() });
    }
    begin()?;
    if logged || matches!(access, Access::Network | Access::Memory) {
        return Ok(false);
    }
    let empty = roll_back_unless_empty(connection, path)?;
    if !empty {
        enable_wal(connection);
        begin()?;
    }
    Ok(empty)
}

/// Begins to write, without waiting, if the database is empty and has no log. [`enable_wal`] is to be called when it is done.
pub(super) fn begin_bulk_load(
    connection: &Connection,
    path: &Path,
    access: &Access,
    reading: bool,
) -> Result<bool> {
    let local = matches!(access, Access::Local);
    if reading || !local || is_there(connection, path, access)? {
        return Ok(false);
    }
    sync_fully(connection, path)?;
    if !write_lock::try_immediate(connection, path)? {
        return Ok(false);
    }
    roll_back_unless_empty(connection, path)
}

/// Ends the transaction again unless the database is empty; says whether it goes on.
fn roll_back_unless_empty(connection: &Connection, path: &Path) -> Result<bool> {
    let empty = is_empty(connection, path)?;
    if !empty {
        connection.execute_batch("ROLLBACK").context(path, DOING)?;
    }
    Ok(empty)
}

/// Makes every commit durable: with a log as SQLite's FULL does, without one the journal's end too.
pub(super) fn sync_fully(connection: &Connection, path: &Path) -> Result<()> {
    connection.pragma_update(None, "synchronous", "EXTRA").context(path, DOING)
}

/// Lets a log commit without waiting for the disk: a power cut may take the commit away, never part of it.
pub(super) fn sync_lazily(connection: &Connection, path: &Path) -> Result<()> {
    const DOING: &str = "writing";
    match mode(connection, "PRAGMA journal_mode").context(path, DOING)?.as_str() {
        "wal" => connection.pragma_update(None, "synchronous", "NORMAL").context(path, DOING),
        _ => sync_fully(connection, path),
    }
}

fn is_empty(connection: &Connection, path: &Path) -> Result<bool> {
    let any = connection.prepare("SELECT 1 FROM cert").and_then(|mut any| any.exists([]));
    any.map(|any| !any).context(path, "reading")
}

/// Gives the database its log, if nobody uses it at the moment; else the next writer will.
pub(super) fn enable_wal(connection: &Connection) {
    let quick = connection.busy_timeout(Duration::ZERO);
    // Both modes work; only speed is at stake.
    let _ = quick.and_then(|()| mode(connection, "PRAGMA journal_mode = WAL"));
    let _ = connection.busy_timeout(write_lock::LOCK_TIMEOUT);
}

/// Writes the whole database anew, since pages keep what was removed from them, and leaves nothing in the log, where the
/// new pages are until then.
///
/// A reader that needs the log's old pages keeps them there until the last connection closes.
pub(super) fn overwrite(connection: &Connection, path: &Path) -> Result<()> {
    const DOING: &str = "overwriting what was purged";
    connection.execute_batch("VACUUM").context(path, DOING)?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).context(path, DOING)
}

/// Takes the log away from a database that has come to a place where memory cannot be shared.
pub(super) fn disable_wal(connection: &Connection, path: &Path) -> Result<()> {
    if mode(connection, "PRAGMA journal_mode").context(path, "opening")? == "wal" {
        let left = mode(connection, "PRAGMA journal_mode = DELETE");
        left.map_err(|_| Error::Network { path: path.to_owned() })?;
    }
    Ok(())
}

fn mode(connection: &Connection, sql: &str) -> rusqlite::Result<String> {
    connection.query_row(sql, [], |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::SqliteStore;
    use crate::{Store, Timestamp};

    fn journal_mode(path: &Path) -> String {
        let connection = Connection::open(path).expect("open");
        mode(&connection, "PRAGMA journal_mode").expect("mode")
    }

    fn write(store: &SqliteStore) -> Result<()> {
        store.begin("test", None, Timestamp(1))?.commit()
    }

    #[test]
    fn a_local_database_gets_its_log_after_the_first_transaction() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("keyhoard.db");
        let store = SqliteStore::create(&path).expect("create");
        assert_eq!(journal_mode(&path), "delete");
        write(&store).expect("write");
        assert_eq!(journal_mode(&path), "wal");
    }

    #[test]
    fn a_database_on_a_network_file_system_has_no_log_and_loses_the_one_it_came_with() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("keyhoard.db");
        let mut store = SqliteStore::create(&path).expect("create");
        store.access = Access::Network;
        write(&store).expect("write");
        assert_eq!(journal_mode(&path), "delete");
        store.access = Access::Local;
        write(&store).expect("write");
        assert_eq!(journal_mode(&path), "wal");
        drop(store);
        let connection = Connection::open(&path).expect("open");
        disable_wal(&connection, &path).expect("nobody uses it");
        assert_eq!(journal_mode(&path), "delete");
    }

    #[test]
    fn a_database_in_use_does_not_lose_its_log() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("keyhoard.db");
        let store = SqliteStore::create(&path).expect("create");
        write(&store).expect("write");
        let _snapshot = store.snapshot().expect("snapshot");
        let connection = Connection::open(&path).expect("open");
        connection.busy_timeout(Duration::ZERO).expect("timeout");
        assert!(matches!(disable_wal(&connection, &path), Err(Error::Network { .. })));
    }

    #[test]
    fn without_a_log_nobody_writes_over_a_snapshot_of_the_same_program() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let store = SqliteStore::create(&directory.path().join("keyhoard.db")).expect("create");
        let snapshot = store.snapshot().expect("snapshot");
        assert!(matches!(write(&store), Err(Error::SnapshotHeld { .. })));
        drop(snapshot);
        write(&store).expect("write");
    }
}
