//! Opening and creating the file.

use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::schema;
use crate::error::Context;
use crate::{Error, Result};

/// Opens a database that is there.
pub(super) fn open(path: &Path) -> Result<Connection> {
    if !path.exists() {
        return Err(Error::Missing { path: path.to_owned() });
    }
    let connection = connect(path)?;
    check_version(&connection, path)?;
    Ok(connection)
}

/// Opens a database, creating it first if it is not there.
pub(super) fn create(path: &Path) -> Result<Connection> {
    create_file(path)?;
    let mut connection = connect(path)?;
    if version(&connection, path)? == 0 {
        create_tables(&mut connection, path)?;
    }
    check_version(&connection, path)?;
    Ok(connection)
}

fn connect(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).context(path, "opening")?;
    connection.busy_timeout(Duration::from_secs(60)).context(path, "opening")?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// Makes the directories and the empty file with the modes they are to have, which SQLite gives its other files too.
fn create_file(path: &Path) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    let failed = |source| Error::File { path: path.to_owned(), source };
    if let Some(parent) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(failed)?;
    }
    let created = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    match created {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(failed(error)),
        // Nobody can have a lock on a file that was not there.
        _ => Ok(()),
    }
}

fn create_tables(connection: &mut Connection, path: &Path) -> Result<()> {
    const DOING: &str = "creating the tables";
    connection.pragma_update(None, "journal_mode", "WAL").context(path, DOING)?;
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).context(path, DOING)?;
    // Another process may have been quicker.
    if version(&transaction, path)? == 0 {
        transaction.execute_batch(schema::CREATE).context(path, DOING)?;
        transaction.pragma_update(None, "application_id", schema::APPLICATION_ID).context(path, DOING)?;
        transaction.pragma_update(None, "user_version", schema::VERSION).context(path, DOING)?;
    }
    transaction.commit().context(path, DOING)
}

fn version(connection: &Connection, path: &Path) -> Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0)).context(path, "reading the version")
}

pub(super) fn check_version(connection: &Connection, path: &Path) -> Result<()> {
    let application: i64 = connection
        .query_row("PRAGMA application_id", [], |row| row.get(0))
        .context(path, "reading the version")?;
    let found = version(connection, path)?;
    match found {
        _ if application != schema::APPLICATION_ID => Err(Error::Foreign { path: path.to_owned() }),
        schema::VERSION => Ok(()),
        _ => Err(Error::Newer { path: path.to_owned(), found, known: schema::VERSION }),
    }
}
