//! Verdicts on signatures are kept beside the certificates, and nobody waits for that.

use std::ops::ControlFlow;
use std::path::Path;

use crate::engines::Database;
use crate::made::{Made, NOW};
use crate::{engines, made};
use keyhoard_store as store;
use store::doctor::{Finding, StoredCertificate};
use store::{
    CertId, Detail, Fingerprint, KeptVerdict, PutKind, PutOutcome, Removal, Selection, SignatureDigest, Store,
};

engines::on_every_engine! { |database| &database;
    verdicts_come_back_and_add_up
    a_merge_keeps_them_and_a_removal_takes_them_away
    nothing_is_kept_and_nobody_waits_while_somebody_writes
    the_doctor_finds_verdicts_that_belong_to_nothing_or_cannot_be_read
}

fn verdict(content: u8, issuer: u8, good: bool) -> KeptVerdict {
    KeptVerdict { content: SignatureDigest([content; 16]), issuer: Fingerprint::V4([issuer; 20]), good }
}

/// Two certificates, and their numbers.
fn two(store: &dyn Store) -> (Vec<Made>, [CertId; 2]) {
    let mut made = made::keyring(Path::new("/usr/share/keyrings/debian-nonupload.gpg"));
    made.truncate(2);
    let mut transaction = store.begin("import", None, NOW).expect("begin");
    let outcomes = transaction.put(&made.iter().map(Made::put).collect::<Vec<_>>()).expect("put");
    transaction.commit().expect("commit");
    let [PutOutcome::Done(first), PutOutcome::Done(second)] = outcomes[..] else { panic!("{outcomes:?}") };
    (made, [first, second])
}

/// Writes the first certificate again.
fn merged(made: &Made, id: CertId) -> store::Put<'_> {
    store::Put { kind: PutKind::Merged { id, generation: 1, added: Vec::new() }, ..made.put() }
}

fn kept(store: &dyn Store, id: CertId) -> Vec<KeptVerdict> {
    let mut verdicts = Vec::new();
    let snapshot = store.snapshot().expect("snapshot");
    let visited = snapshot.visit(Selection::Ids(&[id]), Detail::Verdicts, &mut |record| {
        assert!(record.facts.is_some());
        verdicts = record.verdicts;
        ControlFlow::Continue(())
    });
    visited.expect("visit");
    verdicts
}

fn keep(store: &dyn Store, id: CertId, verdicts: &[KeptVerdict]) -> bool {
    store.keep_verdicts(&[(id, verdicts.to_vec())]).expect("no damage")
}

fn verdicts_come_back_and_add_up(Database { store, .. }: &Database) {
    let (_, [first, second]) = two(&**store);
    assert_eq!(kept(&**store, first), []);
    let snapshot = store.snapshot().expect("snapshot");
    assert!(
        keep(&**store, first, &[verdict(2, 1, true), verdict(1, 1, false)]),
        "a reader does not prevent it"
    );
    drop(snapshot);
    assert!(keep(&**store, first, &[verdict(1, 2, true), verdict(2, 1, true)]));
    assert_eq!(kept(&**store, first), [verdict(2, 1, true), verdict(1, 1, false), verdict(1, 2, true)]);
    assert_eq!(kept(&**store, second), []);
}

fn a_merge_keeps_them_and_a_removal_takes_them_away(database: &Database) {
    let store = &*database.store;
    let (made, [first, second]) = two(store);
    keep(store, first, &[verdict(1, 1, true)]);
    keep(store, second, &[verdict(2, 1, true)]);
    let mut transaction = store.begin("import", None, NOW).expect("begin");
    transaction.put(&[merged(&made[0], first)]).expect("put");
    transaction.remove(&[second], Removal::Undoable).expect("remove");
    transaction.commit().expect("commit");
    assert_eq!(kept(store, first), [verdict(1, 1, true)]);
    assert_eq!(database.number("SELECT count(*) FROM verdicts"), 1);
    assert!(keep(store, second, &[verdict(2, 1, true)]), "a certificate that is gone is skipped");
    assert_eq!(kept(store, second), []);
}

fn nothing_is_kept_and_nobody_waits_while_somebody_writes(Database { store, .. }: &Database) {
    let (made, [first, _]) = two(&**store);
    let mut writer = store.begin("import", None, NOW).expect("begin");
    writer.put(&[merged(&made[0], first)]).expect("put");
    let before = switches();
    assert!(!keep(&**store, first, &[verdict(1, 1, true)]));
    let pauses = switches() - before;
    assert!(pauses < 200, "{pauses} pauses: it has waited for the writer");
    drop(writer);
    assert!(keep(&**store, first, &[verdict(1, 1, true)]));
}

fn the_doctor_finds_verdicts_that_belong_to_nothing_or_cannot_be_read(database: &Database) {
    let store = &*database.store;
    let (_, [first, second]) = two(store);
    keep(store, first, &[verdict(1, 1, true)]);
    let damaged = [(second.0, &[1, 4][..]), (77, &[1])];
    for (id, bytes) in damaged {
        database.sql(&format!("INSERT INTO verdicts VALUES ({id}, {})", database.bytes(bytes)));
    }
    let mut derive = |kept: &[StoredCertificate]| {
        let facts = kept.iter().map(|kept| cert::clean::read_facts(&kept.bytes));
        facts.map(|facts| facts.map_err(|error| error.to_string())).collect()
    };
    let mut findings = Vec::new();
    store.check(&mut derive, &mut |finding| findings.push(finding)).expect("check");
    let expected =
        [Finding::Orphans { table: "verdicts", rows: 1 }, Finding::Rows { cert: second, table: "verdicts" }];
    assert_eq!(findings, expected);
    store.rebuild(&mut derive).expect("rebuild");
    findings.clear();
    store.check(&mut derive, &mut |finding| findings.push(finding)).expect("check");
    assert_eq!(findings, []);
    assert_eq!(kept(store, first), [verdict(1, 1, true)]);
}

/// Returns how often this thread has given up its processor (proc_pid_status(5)). A lock that is waited for until the
/// time is up costs more than 600 pauses, an answer of a server one or two.
fn switches() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").expect("the status of this thread");
    let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    count.and_then(|count| count.trim().parse().ok()).expect("a number")
}
