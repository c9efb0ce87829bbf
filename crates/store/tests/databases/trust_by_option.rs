//! Owner trust that an option gave: how it is stored, and how databases of earlier versions come to have a place for it.

use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::engines;
use crate::engines::server;
use crate::made::{Made, NOW};
use keyhoard_store as store;
use rusqlite::Connection;
use store::postgres::{Address, PostgresStore};
use store::sqlite::SqliteStore;
use store::{AssignedTrust, ChangeKind, Error, Fingerprint, JournalId, Query, Store};

engines::on_every_engine! {
    rows_and_journal_tell_it_from_the_users
}

const KEY: Fingerprint = Fingerprint::V4([7; 20]);

fn given() -> Option<AssignedTrust> {
    Some(AssignedTrust::ultimate_by_option(false))
}

fn set(store: &dyn Store, trust: Option<AssignedTrust>) -> store::Result<JournalId> {
    let mut transaction = store.begin("trust", None, NOW)?;
    transaction.set_owner_trust(&KEY, trust)?;
    transaction.finish_journal()?;
    let entry = transaction.journal();
    transaction.commit().map(|()| entry)
}

fn read(store: &dyn Store) -> Option<AssignedTrust> {
    store.snapshot().and_then(|snapshot| snapshot.owner_trust(&KEY)).expect("read")
}

fn rows_and_journal_tell_it_from_the_users(store: &dyn Store) {
    let users = Some(AssignedTrust::new(6, false));
    let steps = [given(), users, given(), Some(AssignedTrust::ultimate_by_option(true)), None];
    let mut before = None;
    for after in steps {
        let entry = set(store, after).expect("set");
        let snapshot = store.snapshot().expect("snapshot");
        assert_eq!(snapshot.owner_trust(&KEY).expect("read"), after);
        let all: Vec<_> = after.into_iter().map(|after| (KEY, after)).collect();
        assert_eq!(snapshot.owner_trusts().expect("read"), all);
        let decided: Vec<_> = all.iter().copied().filter(|_| after == users).collect();
        assert_eq!(snapshot.decided_owner_trusts().expect("read"), decided);
        let mut changes = Vec::new();
        let mut each = |change: store::Change| {
            changes.push(change.kind);
            ControlFlow::Continue(())
        };
        snapshot.journal_changes(entry, 0, &mut each).expect("changes");
        assert_eq!(changes, [ChangeKind::OwnerTrust { before, after }]);
        before = after;
    }
}

/// A file as earlier programs made it.
fn of_version_1(directory: &Path) -> PathBuf {
    let path = directory.join("keyhoard.db");
    drop(SqliteStore::create(&path).expect("create"));
    let earlier = "ALTER TABLE owner_trust DROP COLUMN by_option; PRAGMA user_version = 1";
    Connection::open(&path).and_then(|file| file.execute_batch(earlier)).expect("version 1");
    path
}

fn version(path: &Path) -> i64 {
    let file = Connection::open(path).expect("open");
    file.pragma_query_value(None, "user_version", |row| row.get(0)).expect("a version")
}

fn copy_of(path: &Path) -> PathBuf {
    path.with_file_name("keyhoard.db.version-1")
}

#[test]
fn a_file_of_version_1_is_used_as_it_is_until_it_has_to_hold_it_and_is_copied_before() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = of_version_1(directory.path());
    let store = SqliteStore::open(&path).expect("open");
    let full = Some(AssignedTrust::new(5, false));
    set(&store, full).expect("set");
    assert_eq!((version(&path), copy_of(&path).exists(), read(&store)), (1, false, full));

    // What is not committed takes nothing along.
    let mut dropped = store.begin("trust", None, NOW).expect("begin");
    dropped.set_owner_trust(&KEY, given()).expect("set");
    drop(dropped);
    assert_eq!((version(&path), read(&store)), (1, full));

    let other = SqliteStore::open(&path).expect("open");
    let held = other.snapshot().expect("snapshot");
    set(&store, given()).expect("set");
    assert_eq!((version(&path), read(&store)), (2, given()));
    assert_eq!(held.owner_trust(&KEY).expect("read"), full, "a reader has its snapshot");
    drop(held);
    assert_eq!(read(&other), given());
    let journal = store.snapshot().and_then(|snapshot| snapshot.journal(9)).expect("journal");
    let told = journal.iter().filter(|entry| entry.command.ends_with("as they were: keyhoard.db.version-1"));
    assert_eq!(told.count(), 1);

    let copy = copy_of(&path);
    assert_eq!(fs::metadata(&copy).expect("it is there").mode() & 0o777, 0o600);
    assert_eq!(version(&copy), 1);
    assert_eq!(read(&SqliteStore::open(&copy).expect("open")), full);
    assert!(!directory.path().join("keyhoard.db.version-1.new").exists());
}

#[test]
fn without_a_copy_a_file_stays_as_it_is() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = of_version_1(directory.path());
    let obstacle = directory.path().join("keyhoard.db.version-1.new");
    fs::create_dir(&obstacle).expect("a new directory");
    let store = SqliteStore::open(&path).expect("open");
    let error = set(&store, given()).expect_err("it cannot be copied");
    assert!(matches!(&error, Error::File { path, .. } if *path == obstacle), "{error}");
    assert_eq!((version(&path), read(&store)), (1, None));
}

#[test]
fn a_purge_deletes_the_copies() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = of_version_1(directory.path());
    let store = SqliteStore::open(&path).expect("open");
    let made = Made::named(1, "Ann <ann@example.org>");
    let mut transaction = store.begin("import", None, NOW).expect("begin");
    transaction.put(&[made.put()]).expect("put");
    transaction.commit().expect("commit");
    set(&store, given()).expect("set");
    assert!(copy_of(&path).exists());
    // A program that was killed while it made the copy has left this.
    let incomplete = directory.path().join("keyhoard.db.version-1.new");
    fs::write(&incomplete, "a part of the database").expect("write");
    let mut transaction = store.begin("delete", None, NOW).expect("begin");
    transaction.remove(&[store::CertId(1)], store::Removal::Purge).expect("remove");
    transaction.finish_journal().expect("finish");
    transaction.commit().expect("commit");
    assert!(!copy_of(&path).exists() && !incomplete.exists());
}

#[test]
fn tables_of_version_2_on_a_server_get_their_column_when_their_owner_opens_them() {
    let psql = |sql: &str| server().psql(sql).expect("statements that work");
    let address = |user: &str| {
        let url = server().url("schema=second_version");
        Address::parse(&url.replacen("keyhoard@", &format!("{user}@"), 1)).expect("a URL")
    };
    psql("CREATE ROLE second_owner LOGIN; GRANT CREATE ON DATABASE keyhoard TO second_owner");
    let store = PostgresStore::create(address("second_owner"), 0).expect("create");
    let full = Some(AssignedTrust::new(5, false));
    set(&store, full).expect("set");
    drop(store);
    psql(
        "ALTER TABLE second_version.owner_trust DROP COLUMN by_option;
        UPDATE second_version.meta SET value = 2 WHERE name = 'version';
        ALTER TABLE second_version.owner_trust DISABLE ROW LEVEL SECURITY;
        INSERT INTO second_version.owner_trust VALUES ('\\x0400', 4, 'somebody');
        ALTER TABLE second_version.owner_trust ENABLE ROW LEVEL SECURITY;
        CREATE ROLE second_reader LOGIN; GRANT USAGE ON SCHEMA second_version TO second_reader;
        GRANT SELECT ON ALL TABLES IN SCHEMA second_version TO second_reader",
    );
    let refused = PostgresStore::open(address("second_reader")).err().expect("it is not the owner");
    assert!(matches!(refused, Error::Older { found: 2, .. }), "{refused}");
    let store = PostgresStore::open(address("second_owner")).expect("open");
    assert_eq!(read(&store), full);
    set(&store, given()).expect("set");
    assert_eq!(read(&store), given());
    let reader = PostgresStore::open(address("second_reader")).expect("the owner has opened it");
    assert_eq!(psql("SELECT value FROM second_version.meta WHERE name = 'version'").trim(), "3");

    // The table as it was, with the rows of all roles, is there for its owner alone.
    let journal = reader.snapshot().and_then(|snapshot| snapshot.journal(9)).expect("journal");
    let told = journal.iter().filter(|entry| entry.command.ends_with("as they were: owner_trust_version_2"));
    assert_eq!(told.count(), 1);
    let copied = "SELECT count(*), sum(value) FROM second_version.owner_trust_version_2";
    assert_eq!(psql(copied).trim(), "2|9");
    psql("GRANT SELECT ON ALL TABLES IN SCHEMA second_version TO second_reader");
    assert_eq!(psql(&format!("SET ROLE second_reader; {copied}")).trim(), "0|");
}

#[test]
fn a_purge_by_the_owner_of_tables_on_a_server_deletes_the_copies() {
    let psql = |sql: &str| server().psql(sql).expect("statements that work");
    let url = server().url("schema=purged_copies");
    let store = PostgresStore::create(Address::parse(&url).expect("a URL"), 0).expect("create");
    psql("CREATE TABLE purged_copies.owner_trust_version_2 AS TABLE purged_copies.owner_trust");
    let made = Made::named(1, "Ann <ann@example.org>");
    let mut transaction = store.begin("import", None, NOW).expect("begin");
    transaction.put(&[made.put()]).expect("put");
    transaction.commit().expect("commit");
    let found = store.snapshot().and_then(|snapshot| snapshot.find(&Query::All)).expect("find");
    let mut transaction = store.begin("delete", None, NOW).expect("begin");
    transaction.remove(&found, store::Removal::Purge).expect("remove");
    transaction.finish_journal().expect("finish");
    transaction.commit().expect("commit");
    assert_eq!(psql("SELECT to_regclass('purged_copies.owner_trust_version_2')").trim(), "");
}
