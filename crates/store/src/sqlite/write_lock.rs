//! Waiting for the write lock.
//!
//! SQLite reports only that the lock is taken. Trying again at short, uneven intervals gives every writer the same
//! chance. A writer waits as long as the others make progress.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::error::{Context, is_busy};
use super::lock_holder;
use crate::retry::Backoff;
use crate::{Error, Result};

/// How long the others may make no progress before a writer gives up.
pub(super) const LOCK_TIMEOUT: Duration = Duration::from_secs(60);

/// Takes the write lock: waits for the writers before it, as long as they make progress.
pub(super) fn begin_immediate(connection: &Connection, path: &Path, patience: Duration) -> Result<()> {
    // SQLite would sleep up to 100 ms at a time, while the turn passes.
    connection.busy_timeout(Duration::ZERO).context(path, "waiting to write")?;
    let begun = wait(connection, path, patience, || connection.execute_batch("BEGIN IMMEDIATE"));
    connection.busy_timeout(patience).context(path, "waiting to write")?;
    begun
}

/// Takes the write lock if nobody has it; says whether it did.
pub(super) fn try_immediate(connection: &Connection, path: &Path) -> Result<bool> {
    connection.busy_timeout(Duration::ZERO).context(path, "beginning to write")?;
    let begun = connection.execute_batch("BEGIN IMMEDIATE");
    connection.busy_timeout(LOCK_TIMEOUT).context(path, "beginning to write")?;
    match begun {
        Err(error) if error.sqlite_error_code().is_some_and(is_busy) => Ok(false),
        begun => begun.map(|()| true).context(path, "beginning to write"),
    }
}

/// Makes everything durable and visible; without a write-ahead log that waits for the readers.
pub(super) fn commit(connection: &Connection, path: &Path) -> Result<()> {
    connection.execute_batch("COMMIT").context(path, "committing")
}

/// Repeats what another process's lock prevents, until that has been so for too long without any progress.
pub(super) fn wait<T>(
    connection: &Connection,
    path: &Path,
    patience: Duration,
    mut attempt: impl FnMut() -> rusqlite::Result<T>,
) -> Result<T> {
    let mut pause = Backoff::of_a_machine();
    let mut progress = None;
    let mut since = Instant::now();
    loop {
        match attempt() {
            Err(error) if error.sqlite_error_code().is_some_and(is_busy) => {}
            done => return done.context(path, "waiting to write"),
        }
        // Changes whenever another connection has committed; what cannot be read is no progress.
        let now: Option<i64> = connection.query_row("PRAGMA data_version", [], |row| row.get(0)).ok();
        if now != progress {
            (progress, since) = (now, Instant::now());
        }
        if since.elapsed() >= patience {
            return Err(Error::Locked { path: path.to_owned(), holder: lock_holder::describe(path) });
        }
        pause.sleep();
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    /// Two connections to a database with a log.
    fn database(directory: &Path) -> (PathBuf, Connection, Connection) {
        let path = directory.join("keyhoard.db");
        let connect = || Connection::open(&path).expect("open");
        let (one, other) = (connect(), connect());
        one.execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE t (x)").expect("create");
        (path.clone(), one, other)
    }

    #[test]
    fn waiting_ends_with_the_holder_named_if_nobody_gets_anything_done() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (path, holder, waiting) = database(directory.path());
        holder.execute_batch("BEGIN IMMEDIATE").expect("begin");
        let began = Instant::now();
        let error = begin_immediate(&waiting, &path, Duration::from_millis(150)).expect_err("it is held");
        assert!(began.elapsed() >= Duration::from_millis(150));
        let process = std::process::id();
        let Error::Locked { holder, .. } = &error else { panic!("{error}") };
        assert!(holder.starts_with(&format!(" (process {process}, keyhoard_store")), "{holder}");
        assert!(!error.to_string().contains("database is locked"));
    }

    #[test]
    fn waiting_goes_on_as_long_as_another_writer_makes_progress() {
        const LOCK_TIMEOUT: Duration = Duration::from_millis(400);
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (path, busy, waiting) = database(directory.path());
        busy.execute_batch("BEGIN IMMEDIATE; INSERT INTO t VALUES (1)").expect("begin");
        let began = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let busy = busy;
                // Commits often, and mostly has the lock again before the other one asks; if not, that one has its turn.
                while began.elapsed() < LOCK_TIMEOUT * 3 {
                    std::thread::sleep(LOCK_TIMEOUT / 4);
                    busy.execute_batch("COMMIT").expect("commit");
                    if busy.execute_batch("BEGIN IMMEDIATE; INSERT INTO t VALUES (1)").is_err() {
                        return;
                    }
                }
                busy.execute_batch("COMMIT").expect("commit");
            });
            begin_immediate(&waiting, &path, LOCK_TIMEOUT).expect("its turn comes");
        });
    }
}
