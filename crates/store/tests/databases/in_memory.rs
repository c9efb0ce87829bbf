//! A database in memory: shared by the connections of one store, and by nobody else.

use keyhoard_store::sqlite::SqliteStore;
use keyhoard_store::{Error, Store};

use crate::made::{Made, NOW};

fn put(store: &dyn Store, number: u32) {
    let mut transaction = store.begin("import", None, NOW).expect("begin");
    transaction.put(&[Made::named(number, "Ann <ann@example.org>").put()]).expect("put");
    transaction.finish_journal().expect("finish");
    transaction.commit().expect("commit");
}

fn count(store: &dyn Store) -> u64 {
    store.snapshot().and_then(|snapshot| snapshot.count()).expect("count")
}

#[test]
fn every_connection_of_a_store_sees_it_and_no_other_store_does() {
    let (store, other) = (SqliteStore::in_memory().expect("made"), SqliteStore::in_memory().expect("made"));
    put(&store, 1);
    let snapshots = [store.snapshot().expect("one"), store.snapshot().expect("another")];
    assert!(snapshots.iter().all(|snapshot| snapshot.count().expect("count") == 1));
    assert_eq!(count(&other), 0);
    drop(snapshots);
    assert_eq!(store.snapshot_on_all_cores().and_then(|snapshot| snapshot.count()).expect("count"), 1);
}

#[test]
fn a_writer_is_refused_while_a_snapshot_of_the_same_store_lasts() {
    let store = SqliteStore::in_memory().expect("made");
    assert!(!store.supports_concurrent_readers().expect("answers"));
    let snapshot = store.snapshot().expect("snapshot");
    assert!(matches!(store.begin("import", None, NOW).err(), Some(Error::SnapshotHeld { .. })));
    drop(snapshot);
    put(&store, 1);
    assert_eq!(count(&store), 1);
}

#[test]
fn a_transaction_that_is_dropped_leaves_nothing() {
    let store = SqliteStore::in_memory().expect("made");
    let mut transaction = store.begin("import", None, NOW).expect("begin");
    transaction.put(&[Made::named(1, "Ann <ann@example.org>").put()]).expect("put");
    drop(transaction);
    assert_eq!(count(&store), 0);
}
