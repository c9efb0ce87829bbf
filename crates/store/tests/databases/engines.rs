//! An empty database of each engine, for tests that hold for all of them, word for word.

use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use keyhoard_store::postgres::{Address, PostgresStore};
use keyhoard_store::sqlite::SqliteStore;
use keyhoard_store::{CertId, Store};
use rusqlite::types::ValueRef;
use scratch_postgres::{Listen, Server};
use tempfile::TempDir;

use crate::made;

/// A new database.
pub(crate) struct Database {
    pub(crate) store: Box<dyn Store>,
    place: DatabaseLocation,
}

enum DatabaseLocation {
    /// A file in a directory that is gone with this value.
    File(TempDir),
    /// A schema of the shared server.
    Schema(String),
}

impl Database {
    /// Runs a statement behind the store's back, and returns its rows as text, sorted.
    pub(crate) fn sql(&self, sql: &str) -> Vec<String> {
        let mut rows = match &self.place {
            DatabaseLocation::File(directory) => sqlite_rows(&directory.path().join(FILE), sql),
            DatabaseLocation::Schema(schema) => {
                let text = server().psql(&format!("SET search_path = {schema}; {sql}"));
                text.expect("a statement that works").lines().map(str::to_owned).collect()
            }
        };
        rows.sort_unstable();
        rows
    }

    /// Returns the number that a statement is answered with.
    pub(crate) fn number(&self, sql: &str) -> u64 {
        self.sql(sql)[0].parse().expect("a number")
    }

    pub(crate) fn is_sqlite(&self) -> bool {
        matches!(self.place, DatabaseLocation::File(_))
    }

    /// Writes bytes as the engine's SQL does.
    pub(crate) fn bytes(&self, bytes: &[u8]) -> String {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        if self.is_sqlite() { format!("x'{hex}'") } else { format!("'\\x{hex}'::bytea") }
    }
}

const FILE: &str = "keyhoard.db";

fn sqlite_rows(path: &Path, sql: &str) -> Vec<String> {
    let connection = rusqlite::Connection::open(path).expect("open");
    let mut statement = connection.prepare(sql).expect("a statement that works");
    let columns = statement.column_count();
    if columns == 0 {
        statement.execute([]).expect("a statement that works");
        return Vec::new();
    }
    let row = |row: &rusqlite::Row<'_>| -> rusqlite::Result<String> {
        let values: Result<Vec<_>, _> = (0..columns).map(|index| row.get_ref(index).map(text)).collect();
        Ok(values?.join("|"))
    };
    let rows = statement.query_map([], row).expect("a statement that works");
    rows.map(|row| row.expect("a row")).collect()
}

fn text(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Integer(number) => number.to_string(),
        value => format!("{value:?}"),
    }
}

pub(crate) fn sqlite() -> Database {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let store = SqliteStore::create(&directory.path().join(FILE)).expect("a new database");
    Database { store: Box::new(store), place: DatabaseLocation::File(directory) }
}

pub(crate) fn postgres() -> Database {
    in_schema(0)
}

pub(crate) fn partitioned_postgres() -> Database {
    in_schema(3)
}

fn in_schema(partitions: u32) -> Database {
    let schema = new_name();
    let store = PostgresStore::create(address(&schema), partitions).expect("a new schema");
    Database { store: Box::new(store), place: DatabaseLocation::Schema(schema) }
}

/// Returns a place where no database is yet.
pub(crate) fn new_address() -> Address {
    address(&new_name())
}

fn new_name() -> String {
    static SCHEMAS: AtomicU32 = AtomicU32::new(0);
    format!("test_{}", SCHEMAS.fetch_add(1, Ordering::Relaxed))
}

fn address(schema: &str) -> Address {
    Address::parse(&server().url(&format!("schema={schema}"))).expect("a URL")
}

/// Returns the server that all tests of a program share; it ends with the program.
pub(crate) fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| Server::start(Listen::Socket, &["fsync=off"]).expect("a PostgreSQL server"))
}

/// Returns the number in a database of a certificate that was made with `number`.
pub(crate) fn id(store: &dyn Store, number: u32) -> CertId {
    let wanted = [made::fingerprint(number, 0)];
    let found = store.snapshot().expect("snapshot").by_fingerprint(&wanted).expect("answers");
    found[0].expect("it is there")
}

/// Runs each of the named tests on an empty database of each engine: with its store, or with what is said of it.
macro_rules! on_every_engine {
    (|$database:ident| $argument:expr; $($test:ident)*) => {
        mod sqlite {
            $(#[test] fn $test() { let $database = crate::engines::sqlite(); super::$test($argument) })*
        }
        mod postgres {
            $(#[test] fn $test() { let $database = crate::engines::postgres(); super::$test($argument) })*
        }
        mod partitioned_postgres {
            $(#[test] fn $test() {
                let $database = crate::engines::partitioned_postgres();
                super::$test($argument)
            })*
        }
    };
    ($($test:ident)*) => {
        crate::engines::on_every_engine! { |database| &*database.store; $($test)* }
    };
}
pub(crate) use on_every_engine;
