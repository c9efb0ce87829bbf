//! What a database promises to its readers and writers.

use std::ops::ControlFlow;

use crate::engines::id;
use crate::made::{Made, NOW};
use crate::{engines, made};
use cert::Timestamp;
use keyhoard_store as store;
use store::{
    AssignedTrust, CertId, Change, ChangeKind, Detail, JournalId, PutKind, PutOutcome, Query, Record,
    Removal, Selection, Snapshot, Store,
};

engines::on_every_engine! {
    what_was_put_comes_back_in_the_order_of_arrival
    the_first_bytes_of_a_certificate_are_read_alone
    own_detail_leaves_out_the_certifications_of_others_only
    every_kind_of_query_finds_by_the_bytes
    a_key_id_leads_to_the_keys_that_have_it
    a_certificate_that_changed_since_it_was_read_is_a_conflict
    a_removal_takes_everything_and_the_inputs_with_it
    a_purge_leaves_no_bytes_in_the_journal
    what_was_removed_earlier_can_be_purged_later
    deleting_a_certificate_forgets_its_owner_trust
    a_transaction_that_is_dropped_changes_nothing
    a_snapshot_sees_nothing_that_was_committed_after_it
    batches_of_one_import_share_a_journal_entry
    what_was_removed_can_come_back_in_its_old_place
    a_shrunk_certificate_leaves_what_it_was_in_the_journal_and_loses_its_inputs
    later_imports_of_the_same_certificate_are_known_unless_they_were_undone
    undoing_an_undo_puts_the_first_entry_in_force_again
    origins_of_certificates_and_user_ids_are_kept_until_the_certificate_is_purged
    what_was_taken_over_is_remembered_by_its_place
    a_migrated_certificate_was_first_seen_when_the_other_program_had_it
}

fn put(store: &dyn Store, certificates: &[Made]) -> Vec<PutOutcome> {
    put_at(store, certificates, NOW)
}

fn put_at(store: &dyn Store, certificates: &[Made], now: Timestamp) -> Vec<PutOutcome> {
    let mut transaction = store.begin("import", None, now).expect("begin");
    let batch: Vec<_> = certificates.iter().map(Made::put).collect();
    let outcomes = transaction.put(&batch).expect("put");
    transaction.finish_journal().expect("finish");
    transaction.commit().expect("commit");
    outcomes
}

fn everything(snapshot: &dyn Snapshot, detail: Detail) -> Vec<Record> {
    let mut records = Vec::new();
    let mut each = |record| {
        records.push(record);
        ControlFlow::Continue(())
    };
    snapshot.visit(Selection::All, detail, &mut each).expect("visit");
    records
}

fn changes(snapshot: &dyn Snapshot, entry: JournalId) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut each = |change| {
        changes.push(change);
        ControlFlow::Continue(())
    };
    snapshot.journal_changes(entry, 0, &mut each).expect("changes");
    changes
}

/// Reads one certificate.
fn record(store: &dyn Store, number: u32, detail: Detail) -> Record {
    let mut found = None;
    let ids = [id(store, number)];
    let mut each = |record| {
        found = Some(record);
        ControlFlow::Continue(())
    };
    store.snapshot().expect("snapshot").visit(Selection::Ids(&ids), detail, &mut each).expect("visit");
    found.expect("it is there")
}

/// Finds certificates; returns the numbers they were made with.
fn find(store: &dyn Store, query: Query) -> Vec<u32> {
    let snapshot = store.snapshot().expect("snapshot");
    let found = snapshot.find(&query).expect("find");
    assert!(found.is_sorted());
    let number = |fingerprint| (1..10).find(|number| made::fingerprint(*number, 0) == fingerprint);
    let mut numbers = Vec::new();
    let mut each = |record: Record| {
        numbers.extend(number(record.fingerprint));
        ControlFlow::Continue(())
    };
    snapshot.visit(Selection::Ids(&found), Detail::Name, &mut each).expect("visit");
    numbers.sort_unstable();
    numbers
}

fn three() -> Vec<Made> {
    vec![
        Made::new(1, &[b"Ann Example <ann@example.org>", b"ann@example.net"], &[0x1111, 0x2222]),
        Made::new(2, &[b"Bob \xff\xfe\0 <BOB@Example.Org>"], &[0x1111]),
        Made::new(3, &[b"Example Robot"], &[]),
    ]
}

fn what_was_put_comes_back_in_the_order_of_arrival(store: &dyn Store) {
    let made = three();
    for (second, made) in (0..).zip(&made) {
        put_at(store, std::slice::from_ref(made), Timestamp(NOW.0 + second));
    }
    let records = everything(&*store.snapshot().expect("snapshot"), Detail::Bytes);
    assert!(records.len() == 3 && records.is_sorted_by_key(|record| record.id));
    for ((second, record), made) in (0..).zip(records).zip(&made) {
        assert_eq!(record.fingerprint, made.fingerprint());
        assert_eq!(record.facts.as_ref(), Some(&made.facts));
        assert_eq!(record.bytes.as_ref(), Some(&made.bytes));
        assert_eq!(record.first_seen, Timestamp(NOW.0 + second));
    }
}

fn the_first_bytes_of_a_certificate_are_read_alone(store: &dyn Store) {
    let made = three();
    put(store, &made);
    let snapshot = store.snapshot().expect("snapshot");
    let first = |id, most| snapshot.first_bytes(id, most).expect("first bytes");
    let bob = id(store, 2);
    assert_eq!(first(bob, 5).as_deref(), Some(&made[1].bytes[..5]));
    assert_eq!(first(bob, 1 << 20).as_ref(), Some(&made[1].bytes), "there are no more");
    assert_eq!(first(CertId(99), 5), None);
}

fn own_detail_leaves_out_the_certifications_of_others_only(store: &dyn Store) {
    put(store, &three());
    let record = record(store, 1, Detail::Own);
    let mut expected = three()[0].facts.clone();
    expected.components.iter_mut().for_each(|component| component.signatures.retain(|one| one.own.is_some()));
    assert_eq!(record.facts.as_ref(), Some(&expected));
    assert_eq!(record.bytes, None);
}

fn every_kind_of_query_finds_by_the_bytes(store: &dyn Store) {
    let made = three();
    put(store, &made);
    let primary = made[1].fingerprint();
    assert_eq!(find(store, Query::All), [1, 2, 3]);
    assert_eq!(find(store, Query::KeyId(primary.key_id())), [2]);
    assert_eq!(find(store, Query::ShortKeyId(made[2].subkey().key_id().short())), [3]);
    assert_eq!(find(store, Query::Fingerprint(made[0].subkey())), [1]);
    assert_eq!(find(store, Query::Keygrip(made[0].facts.primary().keygrip.expect("made"))), [1]);
    assert_eq!(find(store, Query::Mail(b"bob@example.ORG".to_vec())), [2]);
    assert_eq!(find(store, Query::Mail(b"ann@example.net".to_vec())), [1]);
    assert_eq!(find(store, Query::Mail(b"nn@example.net".to_vec())), [] as [u32; 0]);
    assert_eq!(find(store, Query::MailPart(b"example".to_vec())), [1, 2]);
    assert_eq!(find(store, Query::Exact(b"Example Robot".to_vec())), [3]);
    assert_eq!(find(store, Query::Exact(b"example Robot".to_vec())), [] as [u32; 0]);
    assert_eq!(find(store, Query::Exact(b"Ann Example <ann@example.org>".to_vec())), [1]);
    assert_eq!(find(store, Query::Substring(b"EXAMPLE".to_vec())), [1, 2, 3]);
    assert_eq!(find(store, Query::Substring(b"b \xff\xfe\0".to_vec())), [2]);
    assert_eq!(find(store, Query::Substring(b"ot".to_vec())), [3]);
    assert_eq!(find(store, Query::Substring(Vec::new())), [1, 2, 3]);
}

fn a_key_id_leads_to_the_keys_that_have_it(store: &dyn Store) {
    let made = three();
    put(store, &made);
    let snapshot = store.snapshot().expect("snapshot");
    let hits = snapshot.keys_by_id(made[1].subkey().key_id()).expect("hits");
    assert_eq!(hits.len(), 1);
    assert_eq!((hits[0].cert, hits[0].fingerprint), (id(store, 2), made[1].subkey()));
    let asked = [made[2].fingerprint(), made[2].subkey(), made[0].fingerprint()];
    assert_eq!(
        snapshot.by_fingerprint(&asked).expect("answers"),
        [Some(id(store, 3)), None, Some(id(store, 1))]
    );
}

fn a_certificate_that_changed_since_it_was_read_is_a_conflict(store: &dyn Store) {
    let made = three();
    put(store, &made);
    assert_eq!(put(store, &made[..1]), [PutOutcome::Conflict]);
    let twice = [Made::named(9, "twice"), Made::named(9, "twice")];
    assert_eq!(put(store, &twice), [PutOutcome::Done(id(store, 9)), PutOutcome::Conflict]);

    let grown =
        Made::new(1, &[b"Ann Example <ann@example.org>", b"New <new@example.org>"], &[0x2222, 0x3333]);
    let merge = |generation| {
        let mut transaction = store.begin("import", None, NOW).expect("begin");
        let replace = store::Put {
            kind: PutKind::Merged { id: id(store, 1), generation, added: vec![[1; 32], [2; 32]] },
            ..grown.put()
        };
        let outcome = transaction.put(&[replace]).expect("put");
        transaction.commit().expect("commit");
        outcome
    };
    assert_eq!(merge(1), [PutOutcome::Done(id(store, 1))]);
    assert_eq!(merge(1), [PutOutcome::Conflict]);
    assert_eq!(find(store, Query::Mail(b"new@example.org".to_vec())), [1]);
    assert_eq!(find(store, Query::Mail(b"ann@example.net".to_vec())), [] as [u32; 0]);
    assert_eq!(record(store, 1, Detail::Full).facts, Some(grown.facts));
}

fn a_removal_takes_everything_and_the_inputs_with_it(store: &dyn Store) {
    let made = three();
    put(store, &made);
    let digests = [made[0].inputs[0], made[1].inputs[0]];
    assert_eq!(
        store.snapshot().expect("snapshot").known_inputs(&digests).expect("known"),
        [Some(id(store, 1)), Some(id(store, 2))]
    );
    let second = id(store, 2);
    let mut transaction = store.begin("delete", None, NOW).expect("begin");
    transaction.remove(&[second], Removal::Undoable).expect("remove");
    let entry = transaction.journal();
    transaction.commit().expect("commit");
    let snapshot = store.snapshot().expect("snapshot");
    assert_eq!(snapshot.known_inputs(&digests).expect("known"), [Some(id(store, 1)), None]);
    assert_eq!(snapshot.count().expect("count"), 2);
    assert_eq!(find(store, Query::Mail(b"bob@example.org".to_vec())), [] as [u32; 0]);
    assert_eq!(find(store, Query::Fingerprint(made[1].subkey())), [] as [u32; 0]);
    let changes = changes(&*snapshot, entry);
    assert!(matches!(&changes[0].kind, ChangeKind::Removed(Some(former)) if former.bytes == made[1].bytes));
}

fn a_purge_leaves_no_bytes_in_the_journal(store: &dyn Store) {
    put(store, &three());
    let remove = |removal| {
        let third = id(store, 3);
        let mut transaction = store.begin("delete", None, NOW).expect("begin");
        transaction.remove(&[third], removal).expect("remove");
        let entry = transaction.journal();
        transaction.commit().expect("commit");
        entry
    };
    let first = remove(Removal::Undoable);
    put(store, &three()[2..]);
    remove(Removal::Purge);
    let snapshot = store.snapshot().expect("snapshot");
    assert_eq!(changes(&*snapshot, first)[0].kind, ChangeKind::Removed(None));
}

fn what_was_removed_earlier_can_be_purged_later(store: &dyn Store) {
    let name = b"~q7 a name that nobody must find again";
    let named = Made::new(1, &[name], &[]);
    put(store, &[named.clone(), Made::named(2, "another")]);
    let origin = store::Origin { kind: 4, ..Default::default() };
    let origins = store::Origins { certificate: None, user_ids: vec![(name.to_vec(), origin)] };
    let first = id(store, 1);
    let removed = entry(store, |it| {
        it.set_origins(first, &origins).expect("origins");
        it.remove(&[first], Removal::Undoable).expect("remove");
    });
    entry(store, |it| it.set_owner_trust(&named.fingerprint(), AssignedTrust::from_number(4)).expect("set"));
    let purge = |certificate: &Made| {
        let mut purged = false;
        let number = entry(store, |it| purged = it.purge_removed(&certificate.fingerprint()).expect("purge"));
        (number, purged)
    };
    assert!(!purge(&Made::named(2, "another")).1, "it is here");
    assert!(!purge(&Made::named(3, "a stranger")).1);

    let (purging, purged) = purge(&named);
    assert!(purged);
    let snapshot = store.snapshot().expect("snapshot");
    assert_eq!(changes(&*snapshot, removed)[0].kind, ChangeKind::Removed(None));
    let said = &changes(&*snapshot, purging)[0];
    assert_eq!((said.fingerprint, &said.kind), (named.fingerprint(), &ChangeKind::Removed(None)));
    assert_eq!(snapshot.owner_trust(&named.fingerprint()).expect("read"), None);
    assert_eq!(snapshot.user_id_origins(first).expect("origins"), []);
    assert_eq!(snapshot.count().expect("count"), 1);
    drop(snapshot);
    assert!(!purge(&named).1, "nothing is left");
}

fn deleting_a_certificate_forgets_its_owner_trust(store: &dyn Store) {
    put(store, &three());
    let (first, second) = (three()[0].fingerprint(), three()[1].fingerprint());
    let mut transaction = store.begin("trust", None, NOW).expect("begin");
    transaction.set_owner_trust(&first, AssignedTrust::from_number(6)).expect("set");
    transaction.set_owner_trust(&second, AssignedTrust::from_number(4)).expect("set");
    transaction.commit().expect("commit");
    let number = id(store, 1);
    let mut transaction = store.begin("delete", None, NOW).expect("begin");
    transaction.remove(&[number], Removal::Undoable).expect("remove");
    transaction.commit().expect("commit");
    let snapshot = store.snapshot().expect("snapshot");
    assert_eq!(snapshot.owner_trust(&first).expect("read"), None);
    assert_eq!(snapshot.owner_trust(&second).expect("read"), AssignedTrust::from_number(4));
    assert_eq!(snapshot.owner_trusts().expect("read"), [(second, AssignedTrust::new(4, false))]);
}

fn a_transaction_that_is_dropped_changes_nothing(store: &dyn Store) {
    let made = three();
    let mut transaction = store.begin("import", None, NOW).expect("begin");
    transaction.put(&[made[0].put()]).expect("put");
    assert_eq!(transaction.snapshot().expect("snapshot").count().expect("count"), 1);
    drop(transaction);
    assert_eq!(store.snapshot().expect("snapshot").count().expect("count"), 0);
    assert!(store.snapshot().expect("snapshot").journal(10).expect("journal").is_empty());
}

fn a_snapshot_sees_nothing_that_was_committed_after_it(store: &dyn Store) {
    put(store, &three()[..1]);
    let before = store.snapshot().expect("snapshot");
    put(store, &three()[1..]);
    assert_eq!(before.count().expect("count"), 1);
    assert_eq!(store.snapshot().expect("snapshot").count().expect("count"), 3);
}

fn batches_of_one_import_share_a_journal_entry(store: &dyn Store) {
    let made = three();
    let mut first = store.begin("import a", None, NOW).expect("begin");
    first.put(&[made[0].put()]).expect("put");
    let entry = first.journal();
    first.commit().expect("commit");
    assert!(!store.snapshot().expect("snapshot").journal(1).expect("journal")[0].complete);
    let mut second = store.begin("import a", Some(entry), NOW).expect("begin");
    second.put(&[made[1].put(), made[2].put()]).expect("put");
    second.finish_journal().expect("finish");
    second.commit().expect("commit");
    let snapshot = store.snapshot().expect("snapshot");
    let journal = snapshot.journal(10).expect("journal");
    assert_eq!(journal.len(), 1);
    assert_eq!((journal[0].counts, journal[0].complete), ([3, 0, 0], true));
    let changed: Vec<_> = changes(&*snapshot, entry).iter().map(|one| one.fingerprint).collect();
    assert_eq!(changed, made.iter().map(Made::fingerprint).collect::<Vec<_>>());
}

/// Runs one transaction under a new journal entry and returns the entry.
fn entry(store: &dyn Store, write: impl FnOnce(&mut dyn store::Transaction)) -> JournalId {
    let mut transaction = store.begin("test", None, NOW).expect("begin");
    write(&mut *transaction);
    let entry = transaction.journal();
    transaction.finish_journal().expect("finish");
    transaction.commit().expect("commit");
    entry
}

fn what_was_removed_can_come_back_in_its_old_place(store: &dyn Store) {
    let made = three();
    put(store, &made);
    let order = || -> Vec<_> {
        let all = everything(&*store.snapshot().expect("snapshot"), Detail::Name);
        all.iter().map(|record| (record.id, record.fingerprint)).collect()
    };
    let (before, second) = (order(), id(store, 2));
    let removal = entry(store, |it| it.remove(&[second], Removal::Undoable).expect("remove"));
    let ChangeKind::Removed(Some(former)) =
        changes(&*store.snapshot().expect("snapshot"), removal).remove(0).kind
    else {
        panic!("a removal keeps what was removed")
    };
    entry(store, |it| {
        let kind = PutKind::Restored { id: former.id, first_seen: former.first_seen };
        it.put(&[store::Put { kind, ..made[1].put() }]).expect("put");
    });
    assert_eq!(order(), before);
}

fn a_shrunk_certificate_leaves_what_it_was_in_the_journal_and_loses_its_inputs(store: &dyn Store) {
    let made = three();
    put(store, &made);
    let less = Made::new(1, &[b"Ann Example <ann@example.org>"], &[]);
    let first = id(store, 1);
    let shrinking = entry(store, |it| {
        let kind = PutKind::Shrunk { id: first, generation: 1 };
        let outcome = it.put(&[store::Put { kind, inputs: &[], ..less.put() }]).expect("put");
        assert_eq!(outcome, [PutOutcome::Done(first)]);
    });
    let snapshot = store.snapshot().expect("snapshot");
    assert_eq!(snapshot.known_inputs(&made[0].inputs).expect("known"), [None]);
    assert_eq!(record(store, 1, Detail::Bytes).bytes.as_ref(), Some(&less.bytes));
    let ChangeKind::Shrunk(Some(former)) = changes(&*snapshot, shrinking).remove(0).kind else {
        panic!("a shrinking keeps what was there")
    };
    assert_eq!((former.id, former.bytes), (first, made[0].bytes.clone()));
}

fn later_imports_of_the_same_certificate_are_known_unless_they_were_undone(store: &dyn Store) {
    let made = three();
    let brought = |entry| store.snapshot().expect("snapshot").brought_again(entry).expect("brought");
    let older = entry(store, |it| drop(it.put(&[made[0].put()]).expect("put")));
    let first = entry(store, |it| drop(it.put(&[made[1].put(), made[2].put()]).expect("put")));
    assert_eq!(brought(first), []);

    let (one, two) = (id(store, 1), id(store, 2));
    let again = entry(store, |it| {
        let met = [(made[0].inputs[0], one), (made[1].inputs[0], two)];
        it.remember_inputs(&met).expect("remember");
    });
    assert_eq!(
        brought(first),
        [(made[1].fingerprint(), again)],
        "the first one's input is older than the entry"
    );
    assert_eq!(brought(older).len(), 2 + 1, "the last one was added later");
    entry(store, |it| it.mark_undone(again).expect("mark"));
    assert_eq!(brought(first), []);
}

fn undoing_an_undo_puts_the_first_entry_in_force_again(store: &dyn Store) {
    let first = entry(store, |_| ());
    let second = entry(store, |it| it.mark_undone(first).expect("mark"));
    let third = entry(store, |it| it.mark_undone(second).expect("mark"));
    let journal = store.snapshot().expect("snapshot").journal(9).expect("journal");
    let links: Vec<_> = journal.iter().map(|entry| (entry.undone_by, entry.undoes)).collect();
    assert_eq!(links, [(None, Some(second)), (Some(third), Some(first)), (None, None)]);
}

fn origins_of_certificates_and_user_ids_are_kept_until_the_certificate_is_purged(store: &dyn Store) {
    put(store, &three());
    let origin =
        |kind: u8| store::Origin { kind, updated: Some(NOW), url: Some("https://example.org".to_owned()) };
    let user_id = b"ann@example.net".to_vec();
    let origins =
        store::Origins { certificate: Some(origin(4)), user_ids: vec![(user_id.clone(), origin(5))] };
    let user_ids = |id| store.snapshot().expect("snapshot").user_id_origins(id).expect("origins");
    let known = [(user_id, origin(5))];
    let (first, second) = (id(store, 1), id(store, 2));
    entry(store, |it| it.set_origins(first, &origins).expect("origins"));
    assert_eq!(record(store, 1, Detail::Name).origin, origin(4));
    assert_eq!((user_ids(first), user_ids(second)), (known.to_vec(), vec![]));

    let restored = PutKind::Restored { id: first, first_seen: NOW };
    entry(store, |it| it.remove(&[first], Removal::Undoable).expect("remove"));
    entry(store, |it| drop(it.put(&[store::Put { kind: restored, ..three()[0].put() }]).expect("put")));
    assert_eq!(user_ids(first), known);

    // What it was under an earlier number goes with it.
    entry(store, |it| it.remove(&[first], Removal::Undoable).expect("remove"));
    put_at(store, &three()[..1], Timestamp(NOW.0 + 1));
    let later = id(store, 1);
    assert_ne!(later, first);
    entry(store, |it| it.remove(&[later], Removal::Purge).expect("remove"));
    assert_eq!(user_ids(first), []);
}

fn what_was_taken_over_is_remembered_by_its_place(store: &dyn Store) {
    let mut migration = store::Migration { path: "/a/pubring.kbx".into(), modified: -7, size: 9, done: None };
    entry(store, |it| it.remember_migration(&migration).expect("remember"));
    assert_eq!(store.snapshot().expect("snapshot").migrations().expect("migrations"), [migration.clone()]);
    migration.done = Some(NOW);
    entry(store, |it| it.remember_migration(&migration).expect("remember"));
    assert_eq!(store.snapshot().expect("snapshot").migrations().expect("migrations"), [migration]);
}

fn a_migrated_certificate_was_first_seen_when_the_other_program_had_it(store: &dyn Store) {
    let made = three();
    entry(store, |it| {
        let kind = PutKind::Migrated { first_seen: Timestamp(7) };
        it.put(&[store::Put { kind, ..made[0].put() }]).expect("put");
    });
    let record = everything(&*store.snapshot().expect("snapshot"), Detail::Name).remove(0);
    assert_eq!((record.first_seen, record.changed), (Timestamp(7), NOW));
}
