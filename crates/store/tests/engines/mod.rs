//! An empty database of each engine, for tests that hold for all of them, word for word.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use keyhoard_store::postgres::{Address, PostgresStore};
use keyhoard_store::sqlite::SqliteStore;
use keyhoard_store::{CertId, Store};
use scratch_postgres::{Listen, Server};
use tempfile::TempDir;

use crate::made;

/// A new database, which is gone with this value.
pub(crate) struct Database {
    pub(crate) store: Box<dyn Store>,
    _directory: Option<TempDir>,
}

pub(crate) fn sqlite() -> Database {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let store = SqliteStore::create(&directory.path().join("keyhoard.db")).expect("a new database");
    Database { store: Box::new(store), _directory: Some(directory) }
}

pub(crate) fn postgres() -> Database {
    Database { store: Box::new(new_schema(0)), _directory: None }
}

pub(crate) fn partitioned_postgres() -> Database {
    Database { store: Box::new(new_schema(3)), _directory: None }
}

/// Makes a database in a schema of its own.
pub(crate) fn new_schema(partitions: u32) -> PostgresStore {
    PostgresStore::create(new_address(), partitions).expect("a new schema")
}

/// Returns a place where no database is yet.
pub(crate) fn new_address() -> Address {
    static SCHEMAS: AtomicU32 = AtomicU32::new(0);
    let number = SCHEMAS.fetch_add(1, Ordering::Relaxed);
    Address::parse(&server().url(&format!("schema=test_{number}"))).expect("a URL")
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

/// Runs each of the named tests on an empty database of each engine.
macro_rules! on_every_engine {
    ($($test:ident)*) => {
        mod sqlite {
            $(#[test] fn $test() { super::$test(&*crate::engines::sqlite().store) })*
        }
        mod postgres {
            $(#[test] fn $test() { super::$test(&*crate::engines::postgres().store) })*
        }
        mod partitioned_postgres {
            $(#[test] fn $test() { super::$test(&*crate::engines::partitioned_postgres().store) })*
        }
    };
}
pub(crate) use on_every_engine;
