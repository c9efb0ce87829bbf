//! A view that reads on all cores sees what any other view of the same moment sees.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::made;
use crate::made::{Made, NOW};
use keyhoard_store as store;
use store::sqlite::SqliteStore;
use store::{CertId, KeyId, MOST_READERS, Proven, Snapshot, Store};

/// Puts certificates with these numbers, of which each names the two before it as its certifiers.
fn put(store: &SqliteStore, numbers: std::ops::Range<u32>) {
    let issuer = |number: u32| made::fingerprint(number, 0).key_id().0;
    let made: Vec<Made> = numbers
        .map(|number| Made::new(number, &[b"Mary Young"], &[issuer(number + 1), issuer(number + 2)]))
        .collect();
    let mut transaction = store.begin("import", None, NOW).expect("begin");
    transaction.put(&made.iter().map(Made::put).collect::<Vec<_>>()).expect("put");
    transaction.commit().expect("commit");
}

fn issuers(numbers: std::ops::Range<u32>) -> Vec<KeyId> {
    let mut issuers: Vec<KeyId> = numbers.map(|number| made::fingerprint(number, 0).key_id()).collect();
    issuers.sort_unstable();
    issuers
}

/// Returns what each issuer signed, as one connection reads it.
fn read_alone(snapshot: &dyn Snapshot, issuers: &[KeyId]) -> Vec<(KeyId, CertId)> {
    let of = |&issuer: &KeyId| {
        snapshot.certified_by(issuer).expect("read").into_iter().map(move |id| (issuer, id))
    };
    issuers.iter().flat_map(of).collect()
}

/// Returns the same, as several visitors are told.
fn read_together(snapshot: &dyn Snapshot, issuers: &[KeyId]) -> Vec<(KeyId, CertId)> {
    let mut parts: [Vec<(KeyId, CertId)>; MOST_READERS] = Default::default();
    let visitors = parts.iter_mut().map(|part| move |issuer, id, _: Option<&Proven>| part.push((issuer, id)));
    let mut visitors: Vec<_> = visitors.collect();
    let mut visitors: Vec<_> = visitors.iter_mut().map(|it| it as &mut store::VisitCertified<'_>).collect();
    snapshot.visit_certified_by_any(issuers, &mut visitors).expect("visit");
    let mut found: Vec<(KeyId, CertId)> = parts.into_iter().flatten().collect();
    found.sort();
    found
}

#[test]
fn visitors_together_are_told_of_everything_once() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let store = SqliteStore::create(&directory.path().join("keyhoard.db")).expect("a new database");
    put(&store, 1..500);
    let snapshot = store.snapshot_on_all_cores().expect("snapshot");
    let issuers = issuers(1..500);
    let expected = read_alone(snapshot.as_ref(), &issuers);
    assert!(expected.len() > 900, "{}", expected.len());
    assert_eq!(read_together(snapshot.as_ref(), &issuers), expected);
}

#[test]
fn all_cores_read_the_same_moment_while_somebody_writes() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let store = SqliteStore::create(&directory.path().join("keyhoard.db")).expect("a new database");
    put(&store, 1..100);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let (store, done) = (&store, &done);
        scope.spawn(move || {
            for start in (100..2000).step_by(20) {
                put(store, start..start + 20);
            }
            done.store(true, Ordering::Relaxed);
        });
        let issuers = issuers(1..2100);
        while !done.load(Ordering::Relaxed) {
            let snapshot = store.snapshot_on_all_cores().expect("snapshot");
            let found = read_together(snapshot.as_ref(), &issuers);
            assert_eq!(found, read_alone(snapshot.as_ref(), &issuers));
        }
    });
}
