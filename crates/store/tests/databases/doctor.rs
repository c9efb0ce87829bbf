//! What the doctor finds and heals, on certificates of the Debian keyring.

use std::ops::ControlFlow;
use std::path::Path;

use crate::engines::Database;
use crate::made::{Made, NOW};
use crate::{engines, made};
use keyhoard_store as store;
use keyhoard_store::{BoundAddress, Facts};
use store::doctor::{Finding, Rebuilt, StoredCertificate};
use store::sqlite::SqliteStore;
use store::tofu::BindingSelection;
use store::{AssignedTrust, CertId, Detail, Error, PutKind, PutOutcome, Removal, Selection, Store};

engines::on_every_engine! { |database| &database;
    a_database_that_was_written_to_in_every_way_is_sound
    rows_derived_again_equal_the_rows_that_were_written
    every_kind_of_wrong_row_is_found_and_healed
    damaged_bytes_are_named_and_nothing_is_derived_from_them
    one_changed_bit_is_damage_wherever_it_is
    lost_packets_are_one_finding_and_what_is_left_of_their_certificate_goes_with_rebuilding
    an_entry_of_the_journal_that_names_no_fingerprint_is_named_itself
    a_number_out_of_range_is_an_error
    a_snapshot_sees_every_certificate_while_rows_are_derived_again
}

/// Puts sixty certificates with superseded signatures among them, merges into all, and removes two. Returns the numbers
/// of the others.
fn fill(store: &dyn Store) -> Vec<CertId> {
    let keyring = made::keyring(Path::new("/usr/share/keyrings/debian-keyring.gpg"));
    let made: Vec<Made> = keyring.into_iter().take(60).map(with_superseded_signatures).collect();
    let mut transaction = store.begin("import", None, NOW).expect("begin");
    let first: Vec<Made> = made.iter().map(without_last_component).collect();
    let outcomes = transaction.put(&first.iter().map(Made::put).collect::<Vec<_>>()).expect("put");
    let id = |outcome: &PutOutcome| match outcome {
        PutOutcome::Done(id) => *id,
        PutOutcome::Conflict => panic!("nobody else writes"),
    };
    let mut ids: Vec<CertId> = outcomes.iter().map(id).collect();
    let merged = |id| PutKind::Merged { id, generation: 1, added: Vec::new() };
    let whole: Vec<_> =
        ids.iter().zip(&made).map(|(&id, made)| store::Put { kind: merged(id), ..made.put() }).collect();
    transaction.put(&whole).expect("put");
    transaction.remove(&[ids[6], ids[59]], Removal::Undoable).expect("remove");
    transaction.commit().expect("commit");
    ids.remove(59);
    ids.remove(6);
    ids
}

fn with_superseded_signatures(made: Made) -> Made {
    let Made { bytes, mut facts, inputs, .. } = made;
    let signatures = facts.components.iter_mut().flat_map(|component| &mut component.signatures);
    signatures.step_by(7).for_each(|signature| signature.flags.superseded = true);
    Made::of(bytes, facts, inputs[0])
}

fn without_last_component(made: &Made) -> Made {
    let Made { mut bytes, mut facts, inputs, .. } = made.clone();
    let last = facts.components.pop().expect("more than a key");
    bytes.truncate(last.span.start as usize);
    Made::of(bytes, facts, inputs[0])
}

fn derive(kept: &[StoredCertificate]) -> Vec<Result<Facts, String>> {
    kept.iter().map(derive_one).collect()
}

fn derive_one(kept: &StoredCertificate) -> Result<Facts, String> {
    let mut facts = cert::clean::read_facts(&kept.bytes).map_err(|error| error.to_string())?;
    for signature in facts.components.iter_mut().flat_map(|component| &mut component.signatures) {
        signature.flags.superseded = kept.superseded.binary_search(&signature.span.start).is_ok();
    }
    Ok(facts)
}

fn findings(store: &dyn Store) -> Vec<Finding> {
    let mut findings = Vec::new();
    store.check(&mut derive, &mut |finding| findings.push(finding)).expect("the check itself works");
    findings
}

/// Every row of the derived tables; FTS5's own tables are left out, since they tell its history.
fn derived_rows(database: &Database) -> Vec<Vec<String>> {
    ["self_facts", "third_party", "user_id", "key_id", "keygrip", "mail", "certification"]
        .map(|table| database.sql(&format!("SELECT * FROM {table}")))
        .to_vec()
}

fn a_database_that_was_written_to_in_every_way_is_sound(database: &Database) {
    fill(&*database.store);
    assert_eq!(findings(&*database.store), []);
}

fn rows_derived_again_equal_the_rows_that_were_written(database: &Database) {
    let store = &*database.store;
    fill(store);
    let before = derived_rows(database);
    let rebuilt = store.rebuild(&mut derive).expect("rebuild");
    assert_eq!(rebuilt, Rebuilt { certificates: 58, lost: Vec::new() });
    assert_eq!(derived_rows(database), before);
    assert_eq!(findings(store), []);
}

fn every_kind_of_wrong_row_is_found_and_healed(database: &Database) {
    let store = &*database.store;
    let ids = fill(store);
    let rows = |cert, table| Finding::Rows { cert, table };
    let count = |table, found, expected| Finding::Count { table, found, expected };
    let total = |table: &str| database.number(&format!("SELECT count(*) FROM {table}"));
    let (keys, mails) = (total("key_id"), total("mail"));
    let of = |place: usize| format!("WHERE cert = {}", ids[place].0);
    let [nought, one] = [&[0], &[1]].map(|bytes| database.bytes(bytes));
    let mut cases = vec![
        (
            format!("DELETE FROM key_id {} AND component = 0", of(2)),
            vec![rows(ids[2], "key_id"), count("key_id", keys - 1, keys)],
        ),
        (
            format!("UPDATE key_id SET component = component + 100 {} AND component = 0", of(3)),
            vec![rows(ids[3], "key_id")],
        ),
        ("INSERT INTO mail VALUES (1, 2)".to_owned(), vec![count("mail", mails + 1, mails)]),
        (
            format!("UPDATE user_id SET value = {nought} {} AND component = 1", of(4)),
            vec![rows(ids[4], "user_id")],
        ),
        (
            format!("UPDATE self_facts SET facts = substr(facts, 1, 40) {}", of(5)),
            vec![rows(ids[5], "self_facts")],
        ),
        (format!("UPDATE third_party SET facts = {one} {}", of(7)), vec![rows(ids[7], "third_party")]),
        (format!("DELETE FROM keygrip {}", of(8)), vec![rows(ids[8], "keygrip")]),
        (format!("DELETE FROM certification {}", of(9)), vec![rows(ids[9], "certification")]),
        (
            "INSERT INTO tofu_encryption VALUES (4711, 1)".to_owned(),
            vec![Finding::Orphans { table: "tofu_encryption", rows: 1 }],
        ),
    ];
    cases.extend(if database.is_sqlite() {
        only_in_sqlite(database)
    } else {
        only_in_postgres(database, &ids)
    });
    for (sql, expected) in cases {
        database.sql(&sql);
        let found = findings(store);
        assert!(expected.iter().all(|finding| found.contains(finding)), "{sql}: {found:?}");
        store.rebuild(&mut derive).expect("rebuild");
        assert_eq!(findings(store), [], "after {sql}");
    }
}

fn a_number_out_of_range_is_an_error(database: &Database) {
    let store = &*database.store;
    let ann = Made::named(1, "Ann <ann@example.org>");
    let address = BoundAddress::of_user_id(b"Ann <ann@example.org>");
    let mut transaction = store.begin("test", None, NOW).expect("begin");
    transaction.put(&[ann.put()]).expect("put");
    transaction.set_owner_trust(&ann.fingerprint(), AssignedTrust::from_number(4)).expect("set");
    transaction.decide(&ann.fingerprint(), &address, b"", 2).expect("decide");
    transaction.commit().expect("commit");
    let read = || {
        let snapshot = store.snapshot()?;
        snapshot.owner_trusts()?;
        snapshot.bindings(BindingSelection::All, &mut |_| ControlFlow::Continue(()))?;
        snapshot.visit(Selection::All, Detail::Own, &mut |_| ControlFlow::Continue(()))?;
        snapshot.journal(usize::MAX)
    };
    read().expect("all is right");
    for (table, column, wrong) in [
        ("owner_trust", "value", "-1"),
        ("owner_trust", "value", "300"),
        ("tofu_binding", "time", "-1"),
        ("tofu_binding", "time", "4294967296"),
        ("cert", "origin_kind", "256"),
        ("cert", "changed", "-1"),
        ("journal", "time", "4294967296"),
        ("journal", "added", "-1"),
    ] {
        let right = database.number(&format!("SELECT {column} FROM {table}"));
        database.sql(&format!("UPDATE {table} SET {column} = {wrong}"));
        let error = read().expect_err("it is out of range");
        assert!(matches!(error, Error::Sqlite { .. } | Error::Server { .. }), "{table}.{column}: {error:?}");
        database.sql(&format!("UPDATE {table} SET {column} = {right}"));
    }
    read().expect("all is right again");
}

fn a_snapshot_sees_every_certificate_while_rows_are_derived_again(database: &Database) {
    let store = &*database.store;
    fill(store);
    let snapshot = store.snapshot().expect("snapshot");
    store.rebuild(&mut derive).expect("rebuild");
    let mut count = 0;
    let visited = snapshot.visit(store::Selection::All, store::Detail::Full, &mut |_| {
        count += 1;
        ControlFlow::Continue(())
    });
    visited.expect("visit");
    assert_eq!(count, 58);
}

/// A statement that damages something, and what is found then.
type Damage = (String, Vec<Finding>);

fn only_in_sqlite(database: &Database) -> Vec<Damage> {
    let user_ids = database.number("SELECT count(*) FROM user_id");
    let searched = |cert| vec![Finding::Rows { cert: CertId(cert), table: "user_id_search_docsize" }];
    let cases = [
        (
            "INSERT INTO user_id VALUES (4711, 1, x'4d61727920596f756e67')",
            vec![Finding::Count { table: "user_id", found: user_ids + 1, expected: user_ids }],
        ),
        ("DELETE FROM user_id_search WHERE rowid = 11", searched(11)),
        ("REPLACE INTO user_id_search (rowid, octets) VALUES (11, 'Mary Young')", searched(11)),
        ("INSERT INTO user_id_search (rowid, octets) VALUES (4711, 'Mary Young')", searched(4711)),
        (
            "INSERT INTO user_id_origin VALUES (4711, x'41', 5, NULL, NULL)",
            vec![Finding::Orphans { table: "user_id_origin", rows: 1 }],
        ),
    ];
    cases.map(|(sql, found)| (sql.to_owned(), found)).to_vec()
}

fn only_in_postgres(database: &Database, ids: &[CertId]) -> Vec<Damage> {
    let user_ids = database.number("SELECT count(*) FROM user_id");
    let id = ids[10];
    let rows = |table| vec![Finding::Rows { cert: id, table }];
    let orphan = |table| vec![Finding::Orphans { table, rows: 1 }];
    let cases = [
        (
            "INSERT INTO user_id VALUES (4711, 1, 'Mary Young', '', 'mary young')".to_owned(),
            vec![Finding::Count { table: "user_id", found: user_ids + 1, expected: user_ids }],
        ),
        (format!("UPDATE user_id SET search = 'mary' WHERE cert = {}", id.0), rows("user_id")),
        (format!("UPDATE user_id SET email = 'mary' WHERE cert = {}", id.0), rows("user_id")),
        ("INSERT INTO primary_key VALUES ('stranger', 4711)".to_owned(), orphan("primary_key")),
        (format!("DELETE FROM primary_key WHERE cert = {}", id.0), rows("primary_key")),
        (
            "INSERT INTO user_id_origin VALUES (4711, 'digest', 'Mary', 5, NULL, NULL)".to_owned(),
            orphan("user_id_origin"),
        ),
    ];
    cases.to_vec()
}

#[test]
fn a_certificate_without_facts_is_damaged_and_not_passed_over() {
    let database = engines::postgres();
    let damaged = fill(&*database.store)[10];
    database.sql(&format!("DELETE FROM self_facts WHERE cert = {}", damaged.0));
    let snapshot = database.store.snapshot().expect("snapshot");
    let visited =
        snapshot.visit(store::Selection::All, store::Detail::Own, &mut |_| ControlFlow::Continue(()));
    assert!(matches!(visited, Err(Error::Corrupt { cert, .. }) if cert == damaged.0), "{visited:?}");
}

fn an_entry_of_the_journal_that_names_no_fingerprint_is_named_itself(database: &Database) {
    let store = &*database.store;
    fill(store);
    database.sql(&format!("UPDATE change SET fingerprint = {} WHERE number = 3", database.bytes(&[9])));
    let snapshot = store.snapshot().expect("snapshot");
    let written = snapshot.journal(1).expect("the journal")[0].id;
    let mut each = |_| ControlFlow::Continue(());
    let error = snapshot.journal_changes(written, 0, &mut each).expect_err("no fingerprint has one byte");
    assert!(matches!(error, Error::CorruptEntry { entry, .. } if entry == written.0), "{error}");
    assert!(error.to_string().ends_with(&format!("journal entry {} cannot be read", written.0)), "{error}");
}

fn damaged_bytes_are_named_and_nothing_is_derived_from_them(database: &Database) {
    let store = &*database.store;
    let damaged = fill(store)[10];
    let before = derived_rows(database);
    let bytes = database.bytes(&[0, 1, 2]);
    database.sql(&format!("UPDATE packets SET bytes = {bytes} WHERE cert = {}", damaged.0));
    let found = findings(store);
    assert!(matches!(&found[..], [Finding::Bytes { cert, .. }] if *cert == damaged), "{found:?}");
    let refused = store.rebuild(&mut derive);
    assert!(matches!(refused, Err(Error::Underivable { cert, .. }) if cert == damaged.0), "{refused:?}");
    assert_eq!(derived_rows(database), before);
}

fn one_changed_bit_is_damage_wherever_it_is(database: &Database) {
    const PLACES: usize = 40;
    let store = &*database.store;
    let damaged = fill(store)[10];
    let bytes = store.snapshot().expect("snapshot").bytes(damaged).expect("bytes").expect("it is there");
    let write = |bytes: &[u8]| {
        let bytes = database.bytes(bytes);
        database.sql(&format!("UPDATE packets SET bytes = {bytes} WHERE cert = {}", damaged.0));
    };
    for number in 0..PLACES {
        let mut changed = bytes.clone();
        changed[bytes.len() * number / PLACES] ^= 1 << (number % 8);
        write(&changed);
        let found = findings(store);
        assert!(
            matches!(&found[..], [Finding::Bytes { cert, .. }] if *cert == damaged),
            "{number}: {found:?}"
        );
        let refused = store.rebuild(&mut derive);
        assert!(matches!(refused, Err(Error::Underivable { cert, .. }) if cert == damaged.0), "{refused:?}");
    }
    write(&bytes);
    assert_eq!(findings(store), []);
}

fn lost_packets_are_one_finding_and_what_is_left_of_their_certificate_goes_with_rebuilding(
    database: &Database,
) {
    let store = &*database.store;
    let ids = fill(store);
    let known = || store.snapshot().expect("snapshot").count().expect("count");
    assert_eq!(known(), 58);
    database.sql(&format!("DELETE FROM packets WHERE cert IN ({}, {})", ids[10].0, ids[11].0));
    let found = findings(store);
    let lost = |finding: &Finding| matches!(finding, Finding::Lost { fingerprint: Some(_), .. });
    assert!(found.len() == 2 && found.iter().all(lost), "{found:?}");
    assert!(found.iter().all(|finding| !finding.is_healed_by_rebuilding()));
    let rebuilt = store.rebuild(&mut derive).expect("rebuild");
    assert_eq!(rebuilt, Rebuilt { certificates: 56, lost: found });
    assert_eq!((known(), findings(store)), (56, Vec::new()));
}

#[test]
fn a_page_of_garbage_in_a_file_is_an_error_in_words_and_no_panic() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("keyhoard.db");
    fill(&SqliteStore::create(&path).expect("a new database"));
    let mut bytes = std::fs::read(&path).expect("read");
    let pages = bytes.len() / 8192;
    for page in (2..pages).step_by(5) {
        bytes[page * 8192..page * 8192 + 512].fill(0x5a);
    }
    std::fs::write(&path, bytes).expect("write");
    let store = SqliteStore::open(&path).expect("the first page is whole");
    let mut found = Vec::new();
    let checked = store.check(&mut derive, &mut |finding| found.push(finding));
    assert!(
        matches!(checked, Err(Error::Damaged { .. })) || matches!(found[..], [Finding::Structure(_), ..]),
        "{checked:?} {found:?}"
    );
    let visited =
        store
            .snapshot()
            .expect("snapshot")
            .visit(store::Selection::All, store::Detail::Bytes, &mut |_| std::ops::ControlFlow::Continue(()));
    assert!(matches!(visited, Err(Error::Damaged { .. } | Error::Corrupt { .. })), "{visited:?}");
}
