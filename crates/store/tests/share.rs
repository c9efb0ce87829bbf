//! A view that reads on all cores sees what any other view of the same moment sees.

#[allow(dead_code, reason = "shared by several tests")]
mod made;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use keyhoard_store as store;
use made::{Made, NOW};
use store::sqlite::SqliteStore;
use store::{CertId, Detail, Facts, KeyId, MOST_READERS, Proven, Selection, Snapshot, Store};

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

fn all(snapshot: &dyn Snapshot) -> Vec<CertId> {
    let mut ids = Vec::new();
    let visited = snapshot.visit(Selection::All, Detail::Name, &mut |record| {
        ids.push(record.id);
        ControlFlow::Continue(())
    });
    visited.expect("visit");
    ids
}

/// Returns whose own facts are there, in order.
fn with_facts(snapshot: &dyn Snapshot, ids: &[CertId]) -> Vec<CertId> {
    let mut parts: [Vec<CertId>; MOST_READERS] = Default::default();
    let visitors = parts.iter_mut().map(|part| move |id, _: Facts| part.push(id));
    let mut visitors: Vec<_> = visitors.collect();
    let mut visitors: Vec<_> = visitors.iter_mut().map(|it| it as &mut store::VisitOwnFacts<'_>).collect();
    snapshot.visit_own_facts(ids, &mut visitors).expect("visit");
    let mut found: Vec<CertId> = parts.into_iter().flatten().collect();
    found.sort_unstable();
    found
}

#[test]
fn visitors_together_are_told_of_everything_once() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let store = SqliteStore::create(&directory.path().join("keyhoard.db")).expect("a new database");
    put(&store, 1..500);
    let snapshot = store.snapshot_on_all_cores().expect("snapshot");
    let ids = all(snapshot.as_ref());
    assert_eq!(ids.len(), 499);
    assert_eq!(with_facts(snapshot.as_ref(), &ids), ids);

    let mut issuers: Vec<KeyId> = (1..500).map(|number| made::fingerprint(number, 0).key_id()).collect();
    issuers.sort_unstable();
    let mut expected: Vec<(KeyId, CertId)> = Vec::new();
    for issuer in &issuers {
        expected.extend(snapshot.certified_by(*issuer).expect("read").into_iter().map(|id| (*issuer, id)));
    }
    let mut parts: [Vec<(KeyId, CertId)>; MOST_READERS] = Default::default();
    let visitors = parts.iter_mut().map(|part| move |issuer, id, _: Option<&Proven>| part.push((issuer, id)));
    let mut visitors: Vec<_> = visitors.collect();
    let mut visitors: Vec<_> = visitors.iter_mut().map(|it| it as &mut store::VisitCertified<'_>).collect();
    snapshot.visit_certified_by_any(&issuers, &mut visitors).expect("visit");
    let mut found: Vec<(KeyId, CertId)> = parts.into_iter().flatten().collect();
    found.sort();
    assert!(expected.len() > 900, "{}", expected.len());
    assert_eq!(found, expected);
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
        let everything: Vec<CertId> = (1..=2100).map(CertId).collect();
        while !done.load(Ordering::Relaxed) {
            let snapshot = store.snapshot_on_all_cores().expect("snapshot");
            let found = with_facts(snapshot.as_ref(), &everything);
            assert_eq!(found, all(snapshot.as_ref()));
        }
    });
}
