//! The write-ahead log: when there is one.
//!
//! A local database has one, so that readers never wait. But through a log everything is written twice, and the first
//! import into an empty database, when there is nothing to read yet, is often the largest: it goes without, into the
//! file itself, with SQLite's rollback journal, and the log comes after it.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use super::connect::Access;
use super::turn;
use crate::error::Context;
use crate::{Error, Result};

/// Octets that the log's file keeps for reuse; what it grew beyond that is given back.
const KEPT: i64 = 8 << 20;

/// Prepares for reading: a database that has missed getting its log gets it now, if nobody else uses it.
pub(super) fn before_reading(connection: &Connection, path: &Path, access: &Access) -> Result<()> {
    if let Access::Local = access
        && mode(connection, "PRAGMA journal_mode").context(path, "opening")? != "wal"
        && !is_empty(connection, path)?
    {
        enter(connection);
    }
    Ok(())
}

/// Waits for the turn to write and begins. Returns whether [`enter`] is to be called when it is done.
///
/// `reading` says that this process has snapshots, whose end a writer without a log would wait for in vain.
pub(super) fn begin_writing(
    connection: &Connection,
    path: &Path,
    access: &Access,
    reading: bool,
) -> Result<bool> {
    const DOING: &str = "waiting to write";
    let begin = || turn::begin_immediate(connection, path, turn::PATIENCE);
    let logged = match access {
        Access::Fixed(_) => return Err(Error::Unwritable { path: path.to_owned() }),
        Access::Network => false,
        Access::Local => {
            connection.pragma_update(None, "journal_size_limit", KEPT).context(path, DOING)?;
            mode(connection, "PRAGMA journal_mode").context(path, DOING)? == "wal"
        }
    };
    if !logged && reading {
        return Err(Error::SnapshotHeld { path: path.to_owned() });
    }
    begin()?;
    if logged || matches!(access, Access::Network) {
        return Ok(false);
    }
    let empty = is_empty(connection, path)?;
    if !empty {
        connection.execute_batch("ROLLBACK").context(path, DOING)?;
        enter(connection);
        begin()?;
    }
    Ok(empty)
}

fn is_empty(connection: &Connection, path: &Path) -> Result<bool> {
    let any = connection.prepare("SELECT 1 FROM cert").and_then(|mut any| any.exists([]));
    any.map(|any| !any).context(path, "reading")
}

/// Gives the database its log, if nobody uses it at the moment; else the next writer will.
pub(super) fn enter(connection: &Connection) {
    let quick = connection.busy_timeout(Duration::ZERO);
    // Both modes work; only speed is at stake.
    let _ = quick.and_then(|()| mode(connection, "PRAGMA journal_mode = WAL"));
    let _ = connection.busy_timeout(turn::PATIENCE);
}

/// Takes the log away from a database that has come to a place where memory cannot be shared.
pub(super) fn leave(connection: &Connection, path: &Path) -> Result<()> {
    if mode(connection, "PRAGMA journal_mode").context(path, "opening")? == "wal" {
        let left = mode(connection, "PRAGMA journal_mode = DELETE");
        left.map_err(|_| Error::Network { path: path.to_owned() })?;
    }
    Ok(())
}

fn mode(connection: &Connection, sql: &str) -> rusqlite::Result<String> {
    connection.query_row(sql, [], |row| row.get(0))
}
