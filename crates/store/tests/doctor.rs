//! What the doctor finds and heals, on certificates of the Debian keyring.

#[allow(dead_code, reason = "shared by several tests")]
mod made;

use std::path::{Path, PathBuf};

use keyhoard_store as store;
use keyhoard_store::Facts;
use made::{Made, NOW};
use rusqlite::Connection;
use store::doctor::{Finding, Kept, Rebuilt};
use store::sqlite::SqliteStore;
use store::{CertId, Error, PutKind, Removal, Store};
use tempfile::TempDir;

/// Sixty certificates with superseded signatures among them, one merged, one removed.
fn database() -> (TempDir, PathBuf, SqliteStore) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("keyhoard.db");
    let store = SqliteStore::create(&path).expect("a new database");
    let keyring = made::keyring(Path::new("/usr/share/keyrings/debian-keyring.gpg"));
    let made: Vec<Made> = keyring.into_iter().take(60).map(with_superseded_signatures).collect();
    let mut transaction = store.begin("import", None, NOW).expect("begin");
    let first: Vec<Made> = made.iter().map(without_last_component).collect();
    transaction.put(&first.iter().map(Made::put).collect::<Vec<_>>()).expect("put");
    let merged = |id| PutKind::Merged { id: CertId(id), generation: 1, added: Vec::new() };
    let whole: Vec<_> =
        (1..).zip(&made).map(|(id, made)| store::Put { kind: merged(id), ..made.put() }).collect();
    transaction.put(&whole).expect("put");
    transaction.remove(&[CertId(7), CertId(60)], Removal::Undoable).expect("remove");
    transaction.commit().expect("commit");
    (directory, path, store)
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

fn derive(kept: &[Kept]) -> Vec<Result<Facts, String>> {
    kept.iter().map(derive_one).collect()
}

fn derive_one(kept: &Kept) -> Result<Facts, String> {
    let mut facts = cert::extract::extract(&kept.bytes).map_err(|error| error.to_string())?;
    for signature in facts.components.iter_mut().flat_map(|component| &mut component.signatures) {
        signature.flags.superseded = kept.superseded.binary_search(&signature.span.start).is_ok();
    }
    Ok(facts)
}

fn findings(store: &SqliteStore) -> Vec<Finding> {
    let mut findings = Vec::new();
    store.check(&mut derive, &mut |finding| findings.push(finding)).expect("the check itself works");
    findings
}

/// Every row of the derived tables; FTS5's own tables are left out, since they tell its history.
fn derived_rows(path: &Path) -> Vec<String> {
    let connection = Connection::open(path).expect("open");
    let mut rows = Vec::new();
    for table in ["self_facts", "third_party", "user_id", "key_id", "keygrip", "mail", "certification"] {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).expect("prepare");
        let columns = statement.column_count();
        let mut found = statement.query([]).expect("query");
        while let Some(row) = found.next().expect("row") {
            let values: Vec<_> = (0..columns).map(|index| row.get_ref(index).expect("value")).collect();
            rows.push(format!("{table} {values:?}"));
        }
    }
    rows
}

fn damage(path: &Path, sql: &str) {
    let connection = Connection::open(path).expect("open");
    connection.execute_batch(sql).expect("a statement that works");
}

#[test]
fn a_database_that_was_written_to_in_every_way_is_sound() {
    let (_directory, _path, store) = database();
    assert_eq!(findings(&store), []);
}

#[test]
fn rows_derived_again_equal_the_rows_that_were_written() {
    let (_directory, path, store) = database();
    let before = derived_rows(&path);
    let rebuilt = store.rebuild(&mut derive).expect("rebuild");
    assert_eq!(rebuilt, Rebuilt { certificates: 58, lost: Vec::new() });
    assert_eq!(derived_rows(&path), before);
    assert_eq!(findings(&store), []);
}

#[test]
fn every_kind_of_wrong_row_is_found_and_healed() {
    let rows = |cert, table| Finding::Rows { cert: CertId(cert), table };
    let count = |table, found, expected| Finding::Count { table, found, expected };
    let (_directory, path, store) = database();
    let total = |table: &str| {
        let connection = Connection::open(&path).expect("open");
        let sql = format!("SELECT count(*) FROM {table}");
        connection.query_row(&sql, [], |row| row.get::<_, i64>(0)).expect("count") as u64
    };
    let (keys, mails, user_ids) = (total("key_id"), total("mail"), total("user_id"));
    let cases = [
        (
            "DELETE FROM key_id WHERE cert = 3 AND component = 0",
            vec![rows(3, "key_id"), count("key_id", keys - 1, keys)],
        ),
        ("INSERT INTO mail VALUES (1, 2)", vec![count("mail", mails + 1, mails)]),
        (
            "INSERT INTO user_id VALUES (4711, 1, x'4d61727920596f756e67')",
            vec![count("user_id", user_ids + 1, user_ids)],
        ),
        ("UPDATE user_id SET value = x'00' WHERE cert = 5 AND component = 1", vec![rows(5, "user_id")]),
        ("UPDATE self_facts SET facts = substr(facts, 1, 40) WHERE cert = 6", vec![rows(6, "self_facts")]),
        ("UPDATE third_party SET facts = x'01' WHERE cert = 8", vec![rows(8, "third_party")]),
        ("DELETE FROM keygrip WHERE cert = 9", vec![rows(9, "keygrip")]),
        ("DELETE FROM certification WHERE cert = 10", vec![rows(10, "certification")]),
        (
            "INSERT INTO tofu_encryption VALUES (4711, 1)",
            vec![Finding::Orphans { table: "tofu_encryption", rows: 1 }],
        ),
        ("DELETE FROM user_id_search WHERE rowid = 11", vec![rows(11, "user_id_search_docsize")]),
        (
            "REPLACE INTO user_id_search (rowid, octets) VALUES (11, 'Mary Young')",
            vec![rows(11, "user_id_search_docsize")],
        ),
        (
            "INSERT INTO user_id_search (rowid, octets) VALUES (4711, 'Mary Young')",
            vec![rows(4711, "user_id_search_docsize")],
        ),
        (
            "INSERT INTO user_id_origin VALUES (4711, x'41', 5, NULL, NULL)",
            vec![Finding::Orphans { table: "user_id_origin", rows: 1 }],
        ),
    ];
    for (sql, expected) in cases {
        damage(&path, sql);
        let found = findings(&store);
        assert!(expected.iter().all(|finding| found.contains(finding)), "{sql}: {found:?}");
        store.rebuild(&mut derive).expect("rebuild");
        assert_eq!(findings(&store), [], "after {sql}");
    }
}

#[test]
fn damaged_bytes_are_named_and_nothing_is_derived_from_them() {
    let (_directory, path, store) = database();
    let before = derived_rows(&path);
    damage(&path, "UPDATE packets SET bytes = CAST(x'00' || substr(bytes, 2) AS BLOB) WHERE cert = 12");
    let found = findings(&store);
    assert!(matches!(&found[..], [Finding::Bytes { cert: CertId(12), .. }]), "{found:?}");
    assert!(matches!(store.rebuild(&mut derive), Err(Error::Underivable { cert: 12, .. })));
    assert_eq!(derived_rows(&path), before);
}

#[test]
fn lost_packets_are_one_finding_and_what_is_left_of_their_certificate_goes_with_rebuilding() {
    let (_directory, path, store) = database();
    let known = |store: &SqliteStore| store.snapshot().expect("snapshot").count().expect("count");
    assert_eq!(known(&store), 58);
    damage(&path, "DELETE FROM packets WHERE cert IN (12, 13)");
    let found = findings(&store);
    let lost = |finding: &Finding| matches!(finding, Finding::Lost { fingerprint: Some(_), .. });
    assert!(found.len() == 2 && found.iter().all(lost), "{found:?}");
    assert!(found.iter().all(|finding| !finding.is_healed_by_rebuilding()));
    let rebuilt = store.rebuild(&mut derive).expect("rebuild");
    assert_eq!(rebuilt, Rebuilt { certificates: 56, lost: found });
    assert_eq!((known(&store), findings(&store)), (56, Vec::new()));
}

#[test]
fn a_page_of_garbage_is_an_error_in_words_and_no_panic() {
    let (_directory, path, store) = database();
    drop(store);
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
