//! Waiting for the turn to write.
//!
//! SQLite tells one who has to wait only that it is not his turn. Asking again at short and uneven intervals gives
//! everybody the same chance; and whoever waits goes on waiting as long as the others get something done.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode};

use crate::error::Context;
use crate::retry::Backoff;
use crate::{Error, Result};

/// How long nobody else may get anything done before waiting is given up.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

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
    connection.busy_timeout(PATIENCE).context(path, "beginning to write")?;
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
            return Err(Error::Locked { path: path.to_owned(), holder: holder(path) });
        }
        pause.sleep();
    }
}

/// Says whether it is only somebody else's lock that stands in the way.
pub(crate) fn is_busy(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed)
}

/// Names the process that holds the write lock, " (process 123, keyhoard import)", or nothing where it cannot be seen.
pub(crate) fn holder(path: &Path) -> String {
    let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    let process =
        lock_files(path).into_iter().find_map(|(file, first)| writer_of(&locks, inode(&file)?, first));
    process.map_or_else(String::new, |process| match command(process) {
        Some(command) => format!(" (process {process}, {command})"),
        None => format!(" (process {process})"),
    })
}

/// Where SQLite's write locks are: in the shared memory's file, or in the database where there is no such file.
fn lock_files(path: &Path) -> [(PathBuf, u64); 2] {
    const WAL_WRITE_LOCK: u64 = 120;
    const RESERVED_BYTE: u64 = 0x4000_0001;
    let mut shared = path.as_os_str().to_owned();
    shared.push("-shm");
    [(PathBuf::from(shared), WAL_WRITE_LOCK), (path.to_owned(), RESERVED_BYTE)]
}

/// Only looks: the file must not be opened, since closing it would take away the locks of this process.
fn inode(file: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(file).ok().map(|metadata| metadata.ino())
}

/// Finds the process with a write lock over the byte `at`, in the lines of proc_locks(5):
/// `1: POSIX  ADVISORY  WRITE 1234 08:01:5678 120 120`.
fn writer_of(locks: &str, inode: u64, at: u64) -> Option<u32> {
    locks.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, _, _, "WRITE", process, file, first, last] = fields[..] else { return None };
        let holds = file.rsplit(':').next()?.parse() == Ok(inode)
            && first.parse::<u64>().ok()? <= at
            && last.parse().unwrap_or(u64::MAX) >= at;
        process.parse().ok().filter(|&process| holds && process != 0)
    })
}

fn command(process: u32) -> Option<String> {
    let line = std::fs::read(format!("/proc/{process}/cmdline")).ok()?;
    let mut words = line.split(|&byte| byte == 0).filter(|word| !word.is_empty());
    let program = words.next()?.rsplit(|&byte| byte == b'/').next()?;
    let mut command = String::from_utf8_lossy(program).into_owned();
    if let Some(word) = words.next() {
        command.push(' ');
        command.push_str(&String::from_utf8_lossy(word));
    }
    Some(command.chars().filter(|character| !character.is_control()).take(60).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_is_who_has_the_write_lock_on_the_right_byte() {
        let locks = "1: POSIX  ADVISORY  READ  11 fe:00:77 120 120\n\
                     2: POSIX  ADVISORY  WRITE 22 fe:00:78 120 120\n\
                     2: -> POSIX  ADVISORY  WRITE 23 fe:00:77 120 120\n\
                     3: POSIX  ADVISORY  WRITE 33 fe:00:77 123 123\n\
                     4: POSIX  ADVISORY  WRITE 44 fe:00:77 120 EOF\n";
        assert_eq!(writer_of(locks, 77, 120), Some(44));
        assert_eq!(writer_of(locks, 79, 120), None);
    }

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
        const PATIENCE: Duration = Duration::from_millis(400);
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (path, busy, waiting) = database(directory.path());
        busy.execute_batch("BEGIN IMMEDIATE; INSERT INTO t VALUES (1)").expect("begin");
        let began = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let busy = busy;
                // Commits often, and mostly has the lock again before the other one asks; if not, that one has its turn.
                while began.elapsed() < PATIENCE * 3 {
                    std::thread::sleep(PATIENCE / 4);
                    busy.execute_batch("COMMIT").expect("commit");
                    if busy.execute_batch("BEGIN IMMEDIATE; INSERT INTO t VALUES (1)").is_err() {
                        return;
                    }
                }
                busy.execute_batch("COMMIT").expect("commit");
            });
            begin_immediate(&waiting, &path, PATIENCE).expect("its turn comes");
        });
    }

    #[test]
    fn a_process_is_named_by_its_program_and_first_argument() {
        let own = command(std::process::id()).expect("this process has a command");
        assert!(own.starts_with("keyhoard_store"), "{own}");
        assert_eq!(command(u32::MAX), None);
    }
}
