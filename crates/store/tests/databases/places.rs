//! Where a database can be, and what may be found there instead.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::made::{Made, NOW};
use keyhoard_store as store;
use rusqlite::Connection;
use store::sqlite::SqliteStore;
use store::{CertId, Error, Fingerprint, KeptVerdict, Query, SignatureDigest, Store};
use tempfile::TempDir;

fn directory() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

/// Returns the text of an error and of its sources.
fn message(error: &dyn std::error::Error) -> String {
    std::iter::successors(error.source(), |source| source.source())
        .fold(error.to_string(), |message, source| format!("{message}: {source}"))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("chmod");
}

/// A database with one certificate, closed.
fn database(directory: &Path) -> PathBuf {
    let path = directory.join("keyhoard.db");
    let store = SqliteStore::create(&path).expect("create");
    write(&store, 1).expect("write");
    path
}

fn write(store: &SqliteStore, number: u32) -> store::Result<()> {
    let made = Made::named(number, "Ann Example <ann@example.org>");
    let mut transaction = store.begin("import", None, NOW)?;
    transaction.put(&[made.put()])?;
    transaction.commit()
}

fn count(store: &SqliteStore) -> u64 {
    let snapshot = store.snapshot().expect("snapshot");
    let found = snapshot.find(&Query::Mail(b"ann@example.org".to_vec())).expect("find");
    assert_eq!(found.len() as u64, snapshot.count().expect("count"));
    found.len() as u64
}

/// Runs the part of a test for which this process must not be root, as somebody to whom nothing belongs.
///
/// Returns whether this process is the one to do it.
fn without_rights(test: &str, database: &Path) -> bool {
    const PART: &str = "KEYHOARD_TEST_DATABASE";
    if fs::metadata("/proc/self").expect("proc").uid() != 0 {
        return true;
    }
    // Nobody may search the directories above this program, so it is copied.
    let program = database.with_file_name("program");
    set_mode(database.parent().expect("a directory"), 0o755);
    fs::copy(std::env::current_exe().expect("this program"), &program).expect("copy");
    set_mode(database.parent().expect("a directory"), 0o555);
    let status = Command::new(&program)
        .args(["--exact", &format!("places::{test}"), "--nocapture"])
        .env(PART, database)
        .current_dir("/")
        .uid(65534)
        .gid(65534)
        .status()
        .expect("another process");
    assert!(status.success(), "the same without rights");
    false
}

/// The database that [`without_rights`] passes on.
fn passed_on() -> Option<PathBuf> {
    std::env::var_os("KEYHOARD_TEST_DATABASE").map(PathBuf::from)
}

#[test]
fn files_and_directories_are_for_their_owner_only() {
    let directory = directory();
    let path = directory.path().join("new/deeper/keyhoard.db");
    let store = SqliteStore::create(&path).expect("create");
    write(&store, 1).expect("write");
    let _snapshot = store.snapshot().expect("snapshot");
    assert_eq!(mode(&directory.path().join("new")), 0o700);
    assert_eq!(mode(&directory.path().join("new/deeper")), 0o700);
    let mut files: Vec<String> = fs::read_dir(path.parent().expect("a directory"))
        .expect("list")
        .map(|entry| entry.expect("entry").file_name().into_string().expect("text"))
        .collect();
    files.sort();
    assert_eq!(files, ["keyhoard.db", "keyhoard.db-shm", "keyhoard.db-wal"]);
    assert!(files.iter().all(|file| mode(&path.with_file_name(file)) == 0o600));
}

#[test]
fn a_database_that_is_not_there_is_missing_and_reading_does_not_make_it() {
    let directory = directory();
    let path = directory.path().join("nowhere/keyhoard.db");
    assert!(matches!(SqliteStore::open(&path), Err(Error::Missing { path: named }) if named == path));
    assert!(!path.parent().expect("a directory").exists());
    let empty = directory.path().join("empty.db");
    fs::write(&empty, b"").expect("write");
    assert!(matches!(SqliteStore::open(&empty), Err(Error::Missing { .. })), "somebody is about to fill it");
    assert_eq!(count(&SqliteStore::create(&empty).expect("create")), 0);
}

#[test]
fn a_name_like_that_of_a_uri_is_a_name() {
    const TEST: &str = "a_name_like_that_of_a_uri_is_a_name";
    if passed_on().is_some() {
        let path = Path::new("file:k.db?mode=memory");
        write(&SqliteStore::create(path).expect("create"), 1).expect("write");
        assert_eq!(count(&SqliteStore::open(path).expect("open")), 1);
        return;
    }
    let directory = directory();
    let status = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", &format!("places::{TEST}"), "--nocapture"])
        .env("KEYHOARD_TEST_DATABASE", directory.path())
        .current_dir(directory.path())
        .status()
        .expect("another process");
    assert!(status.success(), "the same in another directory");
}

#[test]
fn other_files_are_neither_read_nor_written() {
    let directory = directory();
    let text = directory.path().join("text");
    fs::write(&text, "no database at all, but long enough for one ".repeat(100)).expect("write");
    let other = directory.path().join("other.db");
    let connection = Connection::open(&other).expect("open");
    connection.execute_batch("CREATE TABLE tofu (x)").expect("create");
    drop(connection);
    for path in [text, other] {
        let before = fs::read(&path).expect("read");
        assert!(matches!(SqliteStore::open(&path), Err(Error::Foreign { .. })), "{}", path.display());
        assert!(matches!(SqliteStore::create(&path), Err(Error::Foreign { .. })), "{}", path.display());
        assert_eq!(fs::read(&path).expect("read"), before);
    }
}

#[test]
fn a_newer_schema_is_refused_by_name_and_stays_as_it_is() {
    let directory = directory();
    let path = database(directory.path());
    let connection = Connection::open(&path).expect("open");
    connection.execute_batch("PRAGMA user_version = 7").expect("pragma");
    let before = fs::read(&path).expect("read");
    let error = SqliteStore::open(&path).err().expect("refused");
    let expected =
        format!("{}: written by a newer Keyhoard (schema 7, this program knows 2)", path.display());
    assert_eq!(error.to_string(), expected);
    assert!(SqliteStore::create(&path).is_err());
    assert_eq!(fs::read(&path).expect("read"), before);
}

#[test]
fn a_schema_that_becomes_newer_is_noticed_by_who_has_it_open() {
    let directory = directory();
    let path = database(directory.path());
    let store = SqliteStore::open(&path).expect("open");
    let connection = Connection::open(&path).expect("open");
    connection.execute_batch("PRAGMA user_version = 3").expect("pragma");
    assert!(matches!(store.snapshot().err(), Some(Error::Newer { found: 3, .. })));
    assert!(matches!(write(&store, 2), Err(Error::Newer { found: 3, .. })));
}

#[test]
fn a_database_in_a_read_only_directory_can_be_read_and_nothing_is_made_beside_it() {
    const TEST: &str = "a_database_in_a_read_only_directory_can_be_read_and_nothing_is_made_beside_it";
    let directory = directory();
    let path = passed_on().unwrap_or_else(|| {
        let path = database(directory.path());
        set_mode(&path, 0o444);
        set_mode(directory.path(), 0o555);
        path
    });
    if passed_on().is_some() || without_rights(TEST, &path) {
        let store = SqliteStore::open(&path).expect("it can be read");
        assert_eq!(count(&store), 1);
        assert!(matches!(write(&store, 2), Err(Error::Unwritable { path: named }) if named == path));
        let verdict =
            KeptVerdict { content: SignatureDigest([1; 16]), issuer: Fingerprint::V4([1; 20]), good: true };
        assert!(!store.keep_verdicts(&[(CertId(1), vec![verdict])]).expect("it only is not done"));
        assert_eq!(count(&SqliteStore::create(&path).expect("it is there")), 1);
    }
    let files = fs::read_dir(path.parent().expect("a directory")).expect("list");
    let beside = files.filter(|file| file.as_ref().expect("entry").path() != path.with_file_name("program"));
    assert_eq!(beside.count(), 1);
    set_mode(directory.path(), 0o700);
}

#[test]
fn a_read_only_file_in_a_directory_of_ones_own_can_be_read() {
    let directory = directory();
    let path = database(directory.path());
    set_mode(&path, 0o400);
    assert_eq!(count(&SqliteStore::open(&path).expect("open")), 1);
}

#[test]
fn what_cannot_be_read_or_made_is_named() {
    const TEST: &str = "what_cannot_be_read_or_made_is_named";
    let directory = directory();
    let path = passed_on().unwrap_or_else(|| {
        let path = database(directory.path());
        set_mode(&path, 0o000);
        set_mode(directory.path(), 0o555);
        path
    });
    if passed_on().is_some() || without_rights(TEST, &path) {
        let denied = message(&SqliteStore::open(&path).err().expect("it cannot be read"));
        assert_eq!(denied, format!("{}: Permission denied (os error 13)", path.display()));
        let new = path.with_file_name("new").join("keyhoard.db");
        let denied = message(&SqliteStore::create(&new).err().expect("it cannot be made"));
        assert!(denied.starts_with(&format!("{}: Permission denied", new.parent().expect("one").display())));
    }
    set_mode(directory.path(), 0o700);
}

#[test]
fn changes_that_only_the_log_has_are_not_passed_over_in_a_read_only_directory() {
    const TEST: &str = "changes_that_only_the_log_has_are_not_passed_over_in_a_read_only_directory";
    let directory = directory();
    let path = passed_on().unwrap_or_else(|| {
        let original = database(directory.path());
        let store = SqliteStore::open(&original).expect("open");
        write(&store, 2).expect("write");
        // As a copy of a directory in use has it.
        let copy = directory.path().join("copy");
        fs::create_dir(&copy).expect("mkdir");
        for suffix in ["", "-wal"] {
            let name = format!("keyhoard.db{suffix}");
            fs::copy(directory.path().join(&name), copy.join(&name)).expect("copy");
            set_mode(&copy.join(&name), 0o444);
        }
        set_mode(directory.path(), 0o755);
        set_mode(&copy, 0o555);
        copy.join("keyhoard.db")
    });
    if passed_on().is_some() || without_rights(TEST, &path) {
        let error = SqliteStore::open(&path).err().expect("the log cannot be read");
        assert!(
            matches!(&error, Error::Unfinished { log, .. } if log.ends_with("keyhoard.db-wal")),
            "{error}"
        );
    }
    if passed_on().is_none() {
        set_mode(path.parent().expect("a directory"), 0o700);
    }
}
