//! The two forms of GnuPG's TOFU database: a database file for each binding, and one for all.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use rusqlite::{Connection, TransactionBehavior, params};

/// How long a process waits for the lock of another one.
const BUSY_TIMEOUT: Duration = Duration::from_secs(600);

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS bindings (
    oid INTEGER PRIMARY KEY, fingerprint TEXT, email TEXT, user_id TEXT, time INTEGER, policy INTEGER,
    UNIQUE (fingerprint, email)
);
CREATE INDEX IF NOT EXISTS bindings_email ON bindings (email);
CREATE TABLE IF NOT EXISTS signatures (binding INTEGER, sig_digest TEXT, origin TEXT, sig_time INTEGER, time INTEGER);
";

/// Writes bindings below a directory, each in a transaction of its own. Several processes may run at once.
///
/// # Errors
///
/// Those of the file system and of SQLite.
pub(crate) fn write(bindings: u64, split: bool, directory: &Path) -> Result<()> {
    if !split {
        let mut database = open(&directory.join("tofu.db"))?;
        return (0..bindings).try_for_each(|binding| insert(&mut database, binding));
    }
    let keys = directory.join("tofu.d");
    for binding in 0..bindings {
        let directory = keys.join(format!("{:02x}", binding % 256));
        fs::create_dir_all(&directory).with_context(|| directory.display().to_string())?;
        insert(&mut open(&directory.join(format!("{binding:040X}.db")))?, binding)?;
    }
    Ok(())
}

fn open(file: &Path) -> Result<Connection> {
    let mut database = Connection::open(file).with_context(|| file.display().to_string())?;
    database.busy_timeout(BUSY_TIMEOUT)?;
    // A read transaction that is upgraded to a write transaction could deadlock with another one.
    let transaction = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(TABLES)?;
    transaction.commit()?;
    Ok(database)
}

fn insert(database: &mut Connection, binding: u64) -> Result<()> {
    let transaction = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mail = format!("person-{binding}@example.org");
    transaction.execute(
        "INSERT OR IGNORE INTO bindings (fingerprint, email, user_id, time, policy) VALUES (?1, ?2, ?3, 0, 1)",
        params![format!("{binding:040X}"), mail, format!("Person <{mail}>")],
    )?;
    transaction.commit()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn count(file: &Path) -> i64 {
        let database = Connection::open(file).unwrap();
        database.query_row("SELECT count(*) FROM bindings", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn several_at_once_write_every_binding_once() {
        for split in [false, true] {
            let directory = tempfile::tempdir().unwrap();
            thread::scope(|scope| {
                let writers: Vec<_> =
                    (0..4).map(|_| scope.spawn(|| write(10, split, directory.path()))).collect();
                for writer in writers {
                    writer.join().unwrap().unwrap();
                }
            });
            let files: Vec<_> = match split {
                false => vec![directory.path().join("tofu.db")],
                true => (0..10)
                    .map(|binding| directory.path().join(format!("tofu.d/{binding:02x}/{binding:040X}.db")))
                    .collect(),
            };
            assert_eq!(files.iter().map(|file| count(file)).sum::<i64>(), 10);
        }
    }
}
