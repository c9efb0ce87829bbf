//! What is proven of the signatures by one key is at hand when somebody follows them, and never more than that.

use crate::made;
use crate::made::{Made, NOW};
use keyhoard_store as store;
use rusqlite::Connection;
use store::doctor::{Finding, StoredCertificate};
use store::sqlite::SqliteStore;
use store::{CertId, Facts, Fingerprint, KeptVerdict, Proven, PutKind, Store, Timestamp};
use tempfile::TempDir;

/// Number 1, whose only user ID two others certified, the first of them twice.
fn certified() -> Made {
    Made::new(1, &[b"Mary Young"], &[one().key_id().0, one().key_id().0, other().key_id().0])
}

fn one() -> Fingerprint {
    made::fingerprint(2, 0)
}

fn other() -> Fingerprint {
    made::fingerprint(3, 0)
}

fn database(made: &Made) -> (TempDir, SqliteStore) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let store = SqliteStore::create(&directory.path().join("keyhoard.db")).expect("a new database");
    put(&store, made.put());
    (directory, store)
}

fn put(store: &SqliteStore, put: store::Put<'_>) {
    let mut transaction = store.begin("import", None, NOW).expect("begin");
    transaction.put(&[put]).expect("put");
    transaction.commit().expect("commit");
}

/// Puts a certificate in the place of number 1, which was not changed before.
fn merge(store: &SqliteStore, made: &Made) {
    let kind = PutKind::Merged { id: CertId(1), generation: 1, added: Vec::new() };
    put(store, store::Put { kind, ..made.put() });
}

/// Keeps the verdict on the signature at this place of a component.
fn keep(
    store: &SqliteStore,
    made: &Made,
    (component, place): (usize, usize),
    issuer: Fingerprint,
    good: bool,
) {
    let content = made.facts.components[component].signatures[place].content.expect("not by itself");
    let verdict = KeptVerdict { content, issuer, good };
    assert!(store.keep_verdicts(&[(CertId(1), vec![verdict])]).expect("no damage"));
}

/// Returns what is proven of the signatures by a key on number 1.
fn proven(store: &SqliteStore, issuer: Fingerprint) -> Option<Proven> {
    let mut all = Vec::new();
    let snapshot = store.snapshot().expect("snapshot");
    let mut visit = |_, id, proven: Option<&Proven>| all.push((id, proven.cloned()));
    snapshot.visit_certified_by_any(&[issuer.key_id()], &mut [&mut visit]).expect("visit");
    assert!(all.len() == 1 && all[0].0 == CertId(1), "{all:?}");
    all.remove(0).1
}

/// Returns the components that are proven to be signed.
fn signed(store: &SqliteStore, issuer: Fingerprint) -> Option<Vec<usize>> {
    let proven = proven(store, issuer)?;
    assert_eq!(proven.issuer, issuer);
    Some(proven.signatures.into_iter().map(|(component, _)| component).collect())
}

fn findings(store: &SqliteStore, facts: &Facts) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut derive = |kept: &[StoredCertificate]| kept.iter().map(|_| Ok(facts.clone())).collect();
    store.check(&mut derive, &mut |finding| findings.push(finding)).expect("the check itself works");
    findings
}

#[test]
fn good_signatures_are_proven_once_all_that_name_their_issuer_were_verified() {
    let made = certified();
    let (_directory, store) = database(&made);
    assert_eq!(proven(&store, one()), None);
    keep(&store, &made, (1, 1), one(), true);
    assert_eq!(proven(&store, one()), None, "the second one is open");
    keep(&store, &made, (1, 2), one(), false);
    let signature = &made.facts.components[1].signatures[1];
    let proved = proven(&store, one()).expect("both were verified");
    let [(1, found)] = &proved.signatures[..] else { panic!("{proved:?}") };
    assert_eq!(
        (found.kind, found.created, found.hash_algorithm, found.flags, found.trust, found.expires),
        (signature.kind, signature.created, signature.hash_algorithm, signature.flags, None, None)
    );
    assert_eq!(found.issuer.fingerprint, Some(one()));
    assert_eq!(proven(&store, other()), None, "nobody verified that one");
    assert_eq!(findings(&store, &made.facts), []);
}

#[test]
fn nothing_is_proven_where_two_keys_with_one_key_id_were_tried() {
    let made = certified();
    let Fingerprint::V4(mut twin) = other() else { panic!("made with version 4") };
    twin[0] ^= 1;
    let twin = Fingerprint::V4(twin);
    assert_eq!(twin.key_id(), other().key_id());
    let (_directory, store) = database(&made);
    keep(&store, &made, (1, 3), twin, false);
    assert_eq!(signed(&store, twin), Some(vec![]));
    keep(&store, &made, (1, 3), other(), true);
    assert_eq!(proven(&store, other()), None, "a row has one issuer");
    assert_eq!(findings(&store, &made.facts), []);
}

#[test]
fn signatures_older_than_the_primary_key_prove_nothing() {
    let Made { bytes, mut facts, inputs, .. } = certified();
    facts.components[1].signatures[1].created = Timestamp(facts.primary().created.0 - 1);
    let made = Made::of(bytes, facts, inputs[0]);
    let (_directory, store) = database(&made);
    keep(&store, &made, (1, 1), one(), true);
    keep(&store, &made, (1, 2), one(), true);
    assert_eq!(signed(&store, one()), Some(vec![1]), "the other one counts");
}

#[test]
fn a_merge_leaves_what_the_verdicts_prove_of_the_certificate_as_it_is_now() {
    let made = certified();
    let (_directory, store) = database(&made);
    keep(&store, &made, (1, 3), other(), true);
    keep(&store, &made, (1, 1), one(), true);
    keep(&store, &made, (1, 2), one(), true);
    assert_eq!((signed(&store, one()), signed(&store, other())), (Some(vec![1, 1]), Some(vec![1])));

    // What was component 1 is component 2, and the first certifier made another certification of component 1.
    let Made { bytes, mut facts, inputs, .. } =
        Made::new(1, &[b"Mary Old", b"Mary Young"], &[one().key_id().0]);
    let end = facts.components[2].signatures[0].span.end;
    for signature in &made.facts.components[1].signatures[1..] {
        let mut signature = signature.clone();
        (signature.span.start, signature.span.end) = (end, end);
        facts.components[2].signatures.push(signature);
    }
    facts.components[1].signatures[1].content = Some(store::SignatureDigest([7; 16]));
    let merged = Made::of(bytes, facts, inputs[0]);
    merge(&store, &merged);
    assert_eq!((signed(&store, one()), signed(&store, other())), (None, Some(vec![2])));
    assert_eq!(findings(&store, &merged.facts), []);
    keep(&store, &merged, (1, 1), one(), true);
    assert_eq!(signed(&store, one()), Some(vec![1, 2, 2]));
}

#[test]
fn the_doctor_finds_what_is_not_proven_and_proves_it_again() {
    let made = certified();
    let (_directory, store) = database(&made);
    keep(&store, &made, (1, 3), other(), true);
    let proved = proven(&store, other());
    assert!(proved.is_some());
    for wrong in ["NULL", "x'01'", "substr(proven, 1, 22)"] {
        let connection = Connection::open(store.path()).expect("open");
        let sql = format!("UPDATE certification SET proven = {wrong} WHERE proven IS NOT NULL");
        assert_eq!(connection.execute(&sql, []).expect("damage"), 1);
        let rows = Finding::Rows { cert: CertId(1), table: "certification" };
        assert_eq!(findings(&store, &made.facts), [rows], "{wrong}");
        let mut derive = |kept: &[StoredCertificate]| kept.iter().map(|_| Ok(made.facts.clone())).collect();
        store.rebuild(&mut derive).expect("rebuild");
        assert_eq!(findings(&store, &made.facts), []);
        assert_eq!(proven(&store, other()), proved);
    }
}
