//! What holds for databases in files only: nothing is left in them of what was purged, and users may ask in SQL.

use std::ops::ControlFlow;
use std::time::Duration;

use crate::made::{Made, NOW};
use keyhoard_store as store;
use rusqlite::Connection;
use store::sqlite::SqliteStore;
use store::{CertId, InputDigest, PutOutcome, Removal, Store};
use tempfile::TempDir;

fn empty() -> (TempDir, SqliteStore) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let store = SqliteStore::create(&directory.path().join("keyhoard.db")).expect("a new database");
    (directory, store)
}

fn put(store: &SqliteStore, certificates: &[Made]) {
    let mut transaction = store.begin("import", None, NOW).expect("begin");
    transaction.put(&certificates.iter().map(Made::put).collect::<Vec<_>>()).expect("put");
    transaction.commit().expect("commit");
}

fn three() -> Vec<Made> {
    vec![
        Made::new(1, &[b"Ann Example <ann@example.org>"], &[0x1111, 0x2222]),
        Made::new(2, &[b"Bob"], &[0x1111]),
        Made::new(3, &[b"Example Robot"], &[]),
    ]
}

#[test]
fn what_the_first_transaction_writes_is_seen_by_nobody_before_it_commits() {
    let (directory, store) = empty();
    let certifiers: Vec<u64> = (0..400).collect();
    // More than the transaction keeps in memory.
    let many: Vec<Made> = (1..=800).map(|number| Made::new(number, &[b"Ann"], &certifiers)).collect();
    let reader = Connection::open(directory.path().join("keyhoard.db")).expect("open");
    reader.busy_timeout(Duration::ZERO).expect("timeout");
    let count = || reader.query_row("SELECT count(*) FROM cert", [], |row| row.get::<_, i64>(0));
    for commits in [false, true] {
        let mut transaction = store.begin_bulk_load("import", NOW).expect("begin").expect("it is empty");
        for part in many.chunks(200) {
            transaction.put(&part.iter().map(Made::put).collect::<Vec<_>>()).expect("put");
            assert!(count().is_err() || count() == Ok(0));
        }
        assert!(count().is_err(), "it was written into the file");
        match commits {
            true => transaction.commit().expect("commit"),
            false => drop(transaction),
        }
        assert_eq!(count(), Ok(if commits { 800 } else { 0 }));
    }
}

#[test]
fn what_is_put_in_parts_is_one_transaction_that_sees_all_of_itself() {
    let (directory, store) = empty();
    put(&store, &[Made::named(9, "Somebody else")]);
    let three = three();
    let [ann, bob, robot] = &three[..] else { panic!("there are three") };
    let mut transaction = store.begin_deferred_indexes("import", None, NOW).expect("begin").expect("parts");
    let done = transaction.put(&[ann.put(), bob.put()]).expect("put");
    assert_eq!(done, [PutOutcome::Done(CertId(2)), PutOutcome::Done(CertId(3))]);
    let again = transaction.put(&[robot.put(), ann.put()]).expect("put");
    assert_eq!(again, [PutOutcome::Done(CertId(4)), PutOutcome::Conflict], "an earlier part has it");
    transaction.remember_inputs(&[(InputDigest([7; 32]), CertId(4))]).expect("remember");

    let fingerprints = [ann.fingerprint(), robot.fingerprint()];
    let seen = transaction.snapshot().expect("snapshot");
    assert_eq!(seen.by_fingerprint(&fingerprints).expect("find"), [Some(CertId(2)), Some(CertId(4))]);
    assert_eq!(seen.known_inputs(&[InputDigest([7; 32])]).expect("find"), [Some(CertId(4))]);
    assert_eq!(transaction.put(&[ann.put()]).expect("put"), [PutOutcome::Conflict], "its index rows say so");
    let other = SqliteStore::open(&directory.path().join("keyhoard.db")).expect("open");
    assert_eq!(other.snapshot().and_then(|snapshot| snapshot.count()).expect("count"), 1);

    transaction.commit().expect("commit");
    assert_eq!(other.snapshot().and_then(|snapshot| snapshot.count()).expect("count"), 4);
    let found = other.snapshot().and_then(|snapshot| snapshot.by_fingerprint(&fingerprints)).expect("find");
    assert_eq!(found, [Some(CertId(2)), Some(CertId(4))]);
}

#[test]
fn only_an_empty_database_that_nobody_uses_is_begun_first() {
    let (directory, store) = empty();
    let begins = || store.begin_bulk_load("import", NOW).expect("begin").is_some();
    assert!(begins());
    let snapshot = store.snapshot().expect("snapshot");
    assert!(!begins(), "it is read by the same process");
    drop(snapshot);
    let other = SqliteStore::open(&directory.path().join("keyhoard.db")).expect("open");
    let writing = other.begin("import", None, NOW).expect("begin");
    assert!(!begins(), "somebody else writes");
    drop(writing);
    assert!(begins());
    put(&other, &three());
    assert!(!begins(), "it is not empty");
}

#[test]
fn what_was_removed_earlier_can_be_purged_from_the_files_later() {
    let (directory, store) = empty();
    let name = b"~q7 a name that nobody must find again";
    let named = Made::new(1, &[name], &[]);
    put(&store, &[named.clone(), Made::named(2, "another")]);
    let mut transaction = store.begin("delete", None, NOW).expect("begin");
    transaction.remove(&[CertId(1)], Removal::Undoable).expect("remove");
    transaction.commit().expect("commit");
    assert!(found_in(&directory, name) > 0);
    let mut transaction = store.begin("delete --purge", None, NOW).expect("begin");
    assert!(transaction.purge_removed(&named.fingerprint()).expect("purge"));
    transaction.commit().expect("commit");
    assert_eq!(found_in(&directory, name), 0);
}

/// Counts the files of a database in which some bytes are.
fn found_in(directory: &TempDir, part: &[u8]) -> usize {
    let files = std::fs::read_dir(directory.path()).expect("list").map(|file| file.expect("entry").path());
    files.filter(|file| memmem(&std::fs::read(file).expect("read"), part)).count()
}

fn memmem(whole: &[u8], part: &[u8]) -> bool {
    whole.windows(part.len()).any(|window| window == part)
}

/// Collects what a statement returns as text.
#[derive(Default)]
struct Shown(Vec<Vec<String>>);

impl store::sqlite::Rows for Shown {
    fn columns(&mut self, names: &[&str]) -> ControlFlow<()> {
        self.0.push(names.iter().map(ToString::to_string).collect());
        ControlFlow::Continue(())
    }

    fn row(&mut self, values: &[store::sqlite::Value<'_>]) -> ControlFlow<()> {
        self.0.push(values.iter().map(|value| format!("{value:?}")).collect());
        ControlFlow::Continue(())
    }
}

fn query(store: &SqliteStore, sql: &str) -> store::Result<Vec<Vec<String>>> {
    let mut shown = Shown::default();
    store.query(sql, &mut shown)?;
    Ok(shown.0)
}

#[test]
fn what_is_purged_is_in_no_file_any_more() {
    let (directory, store) = empty();
    // The trigram stands for those of the search index, which keeps no longer parts.
    let (name, trigram) = (b"~q7 a name that nobody must find again", b"~q7");
    let named = Made::new(1, &[name], &[]);
    put(&store, &[named.clone(), Made::named(2, "another")]);
    let found_in = |part: &[u8]| found_in(&directory, part);
    let remove = |id, removal| {
        let mut transaction = store.begin("delete", None, NOW).expect("begin");
        transaction.remove(&[id], removal).expect("remove");
        transaction.commit().expect("commit");
    };
    // What an undoable removal leaves in unused pages is to go as well.
    remove(CertId(1), Removal::Undoable);
    put(&store, &[named]);
    assert!(found_in(name) > 0 && found_in(trigram) > 0);
    remove(CertId(3), Removal::Purge);
    assert_eq!((found_in(name), found_in(trigram)), (0, 0));
}

#[test]
fn a_users_statement_sees_signatures_as_rows() {
    let (_directory, store) = empty();
    let made = three();
    put(&store, &made);
    let count = |facts: &cert::Facts| facts.components.iter().map(|one| one.signatures.len()).sum::<usize>();
    for (cert, made) in (1..).zip(&made) {
        let rows = query(&store, &format!("SELECT count(*) AS n FROM signature WHERE cert = {cert}"));
        let expected = format!("Integer({})", count(&made.facts));
        assert_eq!(rows.expect("rows"), [["n".to_owned()], [expected]]);
    }
    let issuers = query(&store, "SELECT DISTINCT issuer FROM signature WHERE own = 0 ORDER BY issuer");
    let text = |issuer: &str| format!("{:?}", store::sqlite::Value::Text(issuer.as_bytes()));
    let expected = [text("0000000000001111"), text("0000000000002222")];
    assert_eq!(issuers.expect("rows")[1..].concat(), expected);
}

#[test]
fn a_users_statement_changes_nothing() {
    let (directory, store) = empty();
    put(&store, &three());
    let attached = directory.path().join("attached.db");
    for statement in [
        "DELETE FROM cert".to_owned(),
        "DELETE FROM cert RETURNING id".to_owned(),
        "CREATE TABLE mine (x)".to_owned(),
        "CREATE TEMP TABLE mine (x)".to_owned(),
        "PRAGMA query_only = 0".to_owned(),
        "PRAGMA journal_mode = DELETE".to_owned(),
        "PRAGMA user_version = 7".to_owned(),
        "VACUUM".to_owned(),
        "BEGIN IMMEDIATE".to_owned(),
        "SELECT 1; DELETE FROM cert".to_owned(),
        format!("VACUUM INTO '{}'", attached.display()),
        format!("ATTACH '{}' AS other", attached.display()),
    ] {
        let refused = query(&store, &statement);
        assert!(refused.is_err(), "{statement}: {refused:?}");
    }
    assert!(!attached.exists());
    assert_eq!(store.snapshot().expect("snapshot").count().expect("count"), 3);
}
