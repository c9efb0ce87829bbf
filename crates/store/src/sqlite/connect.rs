//! Opening and creating the file.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::access::{Access, Obstacle, Stamp, metadata};
use super::error::Context;
use super::schema::check_version;
use super::{file_access, functions, schema, wal, write_lock};
use crate::{Error, Result};

/// Opens a database that is there, and finds out how.
pub(super) fn open(path: &Path) -> Result<(Access, Connection)> {
    check_readable(path)?;
    if file_access::is_on_network(path) {
        let connection = connect(path)?;
        check_identity(&connection, path)?;
        wal::disable_wal(&connection, path)?;
        return Ok((Access::Network, connection));
    }
    if file_access::is_mounted_read_only(path) {
        return open_immutable(path, Obstacle::ReadOnly);
    }
    let connection = connect(path)?;
    match check_identity(&connection, path) {
        Ok(()) => Ok((Access::Local, connection)),
        // No files can be made beside it, or they cannot grow.
        Err(Error::Unwritable { .. }) => open_immutable(path, Obstacle::ReadOnly),
        Err(Error::Full { .. } | Error::Refused { .. }) => open_immutable(path, Obstacle::Full),
        Err(error) => Err(error),
    }
}

/// Opens another connection.
pub(super) fn reopen(path: &Path, access: &Access) -> Result<Connection> {
    match access {
        Access::Local | Access::Network => connect(path),
        Access::Immutable(..) => connect_immutable(path),
        Access::Memory => connect_memory(path),
        Access::Empty => connect_empty(path),
    }
}

/// Opens a database, creating it first if it is not there.
pub(super) fn create(path: &Path) -> Result<(Access, Connection)> {
    create_file(path)?;
    match open(path) {
        Err(Error::Missing { .. }) => {
            create_tables(&connect(path)?, path)?;
            open(path)
        }
        opened => opened,
    }
}

fn connect(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // SQLite takes a name that begins with `file:` for a URI.
    let file = std::path::absolute(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
    let connection = Connection::open_with_flags(file, flags).context(path, "opening")?;
    prepare(connection, path)
}

/// Opens a new database in memory, with all tables; another connection finds it by its name.
pub(super) fn create_in_memory(name: &Path) -> Result<Connection> {
    let connection = connect_memory(name)?;
    create_tables(&connection, name)?;
    Ok(connection)
}

/// Opens a connection to the database in memory with this name, which only this process knows (SQLite's VFS memdb).
fn connect_memory(name: &Path) -> Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let uri = format!("file:/{}?vfs=memdb", name.display());
    let connection = Connection::open_with_flags(uri, flags).context(name, "opening")?;
    prepare(connection, name)
}

/// Opens a database in memory, with all tables and nothing in them.
fn connect_empty(path: &Path) -> Result<Connection> {
    let connection = prepare(Connection::open_in_memory().context(path, "opening")?, path)?;
    create_tables(&connection, path)?;
    Ok(connection)
}

/// Opens a file as if it could not change, without locks and without files beside it.
fn open_immutable(path: &Path, obstacle: Obstacle) -> Result<(Access, Connection)> {
    let stamp = Stamp::of(path)?;
    for log in [beside(path, "-wal"), beside(path, "-journal")] {
        if std::fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
            return Err(Error::Unfinished { path: path.to_owned(), log });
        }
    }
    let connection = connect_immutable(path)?;
    check_identity(&connection, path)?;
    Ok((Access::Immutable(stamp, obstacle), connection))
}

fn connect_immutable(path: &Path) -> Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let mut uri = String::from("file:");
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => uri.push(char::from(byte)),
            _ => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    uri.push_str("?immutable=1");
    let connection = Connection::open_with_flags(uri, flags).context(path, "opening")?;
    prepare(connection, path)
}

fn prepare(connection: Connection, path: &Path) -> Result<Connection> {
    connection.busy_timeout(write_lock::LOCK_TIMEOUT).context(path, "opening")?;
    connection.set_prepared_statement_cache_capacity(64);
    // Else SQLite plans some queries anew whenever a parameter is bound, which takes longer than the queries.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).context(path, "opening")?;
    functions::add(&connection).context(path, "opening")?;
    Ok(connection)
}

/// Makes the directories and the empty file with the modes they are to have; SQLite gives its other files the same.
fn create_file(path: &Path) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    let failed = |path: &Path, source| Error::File { path: path.to_owned(), source };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent {
        create_directory(parent).map_err(|source| failed(parent, source))?;
    }
    match file_access::new_file().open(path) {
        // It is closed again, but nobody can have had a lock on a file that was not there.
        Ok(_) => file_access::sync_directory(parent.unwrap_or(Path::new(".")))
            .map_err(|source| failed(path, source)),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(source) => Err(failed(path, source)),
    }
}

/// Makes a directory and those above it, so that a power cut cannot take their names away again.
fn create_directory(path: &Path) -> std::io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        create_directory(parent)?;
        file_access::new_directory().create(path)?;
        return file_access::sync_directory(parent);
    }
    file_access::new_directory().create(path)
}

fn create_tables(connection: &Connection, path: &Path) -> Result<()> {
    const DOING: &str = "creating the tables";
    connection.pragma_update(None, "page_size", schema::PAGE_SIZE).context(path, DOING)?;
    wal::sync_fully(connection, path)?;
    write_lock::begin_immediate(connection, path, write_lock::LOCK_TIMEOUT)?;
    // Another process may have been quicker.
    if matches!(check_identity(connection, path), Err(Error::Missing { .. })) {
        for create in [schema::CREATE_KEPT, schema::CREATE_DERIVED, schema::CREATE_VIEWS] {
            connection.execute_batch(create).context(path, DOING)?;
        }
        connection.pragma_update(None, "application_id", schema::APPLICATION_ID).context(path, DOING)?;
        connection.pragma_update(None, "user_version", schema::VERSION).context(path, DOING)?;
    }
    connection.execute_batch("COMMIT").context(path, DOING)
}

/// Says whether this is a database of ours, of a version that is known.
fn check_identity(connection: &Connection, path: &Path) -> Result<()> {
    let read = |sql| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).context(path, "opening");
    let is_ours = || Ok(read("PRAGMA application_id")? == schema::APPLICATION_ID);
    // One that another process is about to fill has nothing in it yet, and may have all at the second look.
    if is_ours()? {
        check_version(connection, path).map(drop)
    } else if read("SELECT count(*) FROM sqlite_schema")? == 0 {
        Err(Error::Missing { path: path.to_owned() })
    } else if is_ours()? {
        check_version(connection, path).map(drop)
    } else {
        Err(Error::Foreign { path: path.to_owned() })
    }
}

fn check_readable(path: &Path) -> Result<()> {
    let kind = metadata(path)?.file_type();
    if kind.is_dir() {
        return Err(Error::File { path: path.to_owned(), source: ErrorKind::IsADirectory.into() });
    }
    if !kind.is_file() {
        return Err(Error::Foreign { path: path.to_owned() });
    }
    file_access::check_readable(path).map_err(|source| Error::File { path: path.to_owned(), source })
}

/// Returns the name of a file beside the database.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::SqliteStore;
    use crate::{Detail, Selection, Store, Timestamp};
    use std::ops::ControlFlow;

    fn visit(store: &SqliteStore) -> Result<()> {
        let mut each = |_| ControlFlow::Continue(());
        store.snapshot()?.visit(Selection::All, Detail::Name, &mut each)
    }

    /// Takes rows and looks at nothing.
    struct Unseen;

    impl crate::sqlite::Rows for Unseen {
        fn columns(&mut self, _: &[&str]) -> ControlFlow<()> {
            ControlFlow::Continue(())
        }

        fn row(&mut self, _: &[crate::sqlite::Value<'_>]) -> ControlFlow<()> {
            ControlFlow::Continue(())
        }
    }

    #[test]
    fn a_file_that_is_written_to_while_it_counts_as_immutable_is_noticed() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("50% keyhoard?.db");
        drop(SqliteStore::create(&path).expect("create"));
        let immutable = SqliteStore::with(&path, open_immutable(&path, Obstacle::ReadOnly).expect("open"));
        visit(&immutable).expect("nobody writes");
        let write = SqliteStore::open(&path).expect("open");
        write.begin("test", None, Timestamp(1)).expect("begin").commit().expect("commit");
        drop(write);
        assert!(matches!(visit(&immutable), Err(Error::ChangedMeanwhile { .. })));
        let count = immutable.snapshot().and_then(|snapshot| snapshot.count());
        assert!(matches!(count, Err(Error::ChangedMeanwhile { .. })), "{count:?}");
        let any = immutable.snapshot().and_then(|snapshot| snapshot.has_user_id_origins());
        assert!(matches!(any, Err(Error::ChangedMeanwhile { .. })), "{any:?}");
        assert!(matches!(immutable.query("SELECT 1", &mut Unseen), Err(Error::ChangedMeanwhile { .. })));
        assert!(matches!(immutable.begin("test", None, Timestamp(1)).err(), Some(Error::Unwritable { .. })));
    }
}
