//! Verdicts on signatures are kept beside the certificates, and nobody waits for that.

#[allow(dead_code, reason = "shared by several tests")]
mod made;

use std::ops::ControlFlow;
use std::path::Path;

use keyhoard_store as store;
use made::{Made, NOW};
use rusqlite::Connection;
use store::doctor::{Finding, Kept};
use store::sqlite::SqliteStore;
use store::{CertId, ContentKey, Detail, Fingerprint, KeptVerdict, PutKind, Removal, Selection, Store};
use tempfile::TempDir;

fn verdict(content: u8, issuer: u8, good: bool) -> KeptVerdict {
    KeptVerdict { content: ContentKey([content; 16]), issuer: Fingerprint::V4([issuer; 20]), good }
}

/// Two certificates with the numbers 1 and 2.
fn database() -> (TempDir, SqliteStore, Vec<Made>) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let store = SqliteStore::create(&directory.path().join("keyhoard.db")).expect("a new database");
    let mut made = made::keyring(Path::new("/usr/share/keyrings/debian-nonupload.gpg"));
    made.truncate(2);
    let mut transaction = store.begin("import", None, NOW).expect("begin");
    transaction.put(&made.iter().map(Made::put).collect::<Vec<_>>()).expect("put");
    transaction.commit().expect("commit");
    (directory, store, made)
}

fn kept(store: &SqliteStore, id: i64) -> Vec<KeptVerdict> {
    let mut verdicts = Vec::new();
    let snapshot = store.snapshot().expect("snapshot");
    let ids = [CertId(id)];
    let visited = snapshot.visit(Selection::Ids(&ids), Detail::Verdicts, &mut |record| {
        assert!(record.facts.is_some());
        verdicts = record.verdicts;
        ControlFlow::Continue(())
    });
    visited.expect("visit");
    verdicts
}

fn keep(store: &SqliteStore, id: i64, verdicts: &[KeptVerdict]) -> bool {
    store.keep_verdicts(&[(CertId(id), verdicts.to_vec())]).expect("no damage")
}

#[test]
fn verdicts_come_back_and_add_up() {
    let (_directory, store, _) = database();
    assert_eq!(kept(&store, 1), []);
    let snapshot = store.snapshot().expect("snapshot");
    assert!(keep(&store, 1, &[verdict(2, 1, true), verdict(1, 1, false)]), "a reader does not prevent it");
    drop(snapshot);
    assert!(keep(&store, 1, &[verdict(1, 2, true), verdict(2, 1, true)]));
    assert_eq!(kept(&store, 1), [verdict(2, 1, true), verdict(1, 1, false), verdict(1, 2, true)]);
    assert_eq!(kept(&store, 2), []);
}

#[test]
fn a_merge_keeps_them_and_a_removal_takes_them_away() {
    let (_directory, store, made) = database();
    keep(&store, 1, &[verdict(1, 1, true)]);
    keep(&store, 2, &[verdict(2, 1, true)]);
    let mut transaction = store.begin("import", None, NOW).expect("begin");
    let kind = PutKind::Merged { id: CertId(1), generation: 1, added: Vec::new() };
    transaction.put(&[store::Put { kind, ..made[0].put() }]).expect("put");
    transaction.remove(&[CertId(2)], Removal::Undoable).expect("remove");
    transaction.commit().expect("commit");
    assert_eq!(kept(&store, 1), [verdict(1, 1, true)]);
    let connection = Connection::open(store.path()).expect("open");
    let left: i64 =
        connection.query_row("SELECT count(*) FROM verdicts", [], |row| row.get(0)).expect("a number");
    assert_eq!(left, 1);
    assert!(keep(&store, 2, &[verdict(2, 1, true)]), "a certificate that is gone is skipped");
    assert_eq!(kept(&store, 2), []);
}

#[test]
fn nothing_is_kept_and_nobody_waits_while_somebody_writes() {
    let (_directory, store, _) = database();
    let writer = store.begin("import", None, NOW).expect("begin");
    let began = std::time::Instant::now();
    assert!(!keep(&store, 1, &[verdict(1, 1, true)]));
    assert!(began.elapsed() < std::time::Duration::from_secs(1));
    drop(writer);
    assert!(keep(&store, 1, &[verdict(1, 1, true)]));
}

#[test]
fn the_doctor_finds_verdicts_that_belong_to_nothing_or_cannot_be_read() {
    let (_directory, store, _) = database();
    keep(&store, 1, &[verdict(1, 1, true)]);
    let connection = Connection::open(store.path()).expect("open");
    let damage = "INSERT INTO verdicts VALUES (2, x'0104'), (77, x'01')";
    connection.execute(damage, []).expect("damage");
    let mut derive = |kept: &[Kept]| {
        let facts = kept.iter().map(|kept| cert::extract::extract(&kept.bytes));
        facts.map(|facts| facts.map_err(|error| error.to_string())).collect()
    };
    let mut findings = Vec::new();
    store.check(&mut derive, &mut |finding| findings.push(finding)).expect("check");
    let expected = [
        Finding::Orphans { table: "verdicts", rows: 1 },
        Finding::Rows { cert: CertId(2), table: "verdicts" },
    ];
    assert_eq!(findings, expected);
    store.rebuild(&mut derive).expect("rebuild");
    findings.clear();
    store.check(&mut derive, &mut |finding| findings.push(finding)).expect("check");
    assert_eq!(findings, []);
    assert_eq!(kept(&store, 1), [verdict(1, 1, true)]);
}
