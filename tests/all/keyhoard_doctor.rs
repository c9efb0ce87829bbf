//! `keyhoard doctor`: finds what is wrong, and makes again what can be derived.

use harness::{Home, Keyring, Output, Run};
use rusqlite::Connection;
use rusqlite::types::Value;

/// Tables that hold what is derived from the packets; the last one has no content of its own to compare.
const DERIVED: [&str; 7] =
    ["self_facts", "third_party", "user_id", "key_id", "keygrip", "mail", "certification"];

fn imported() -> Home {
    let home = Home::new();
    Run::keyhoard(&home).arg("import").arg(Keyring::Nonupload.path()).succeed();
    home
}

fn doctor(home: &Home, arguments: &[&str]) -> Output {
    Run::keyhoard(home).arg("doctor").args(arguments).output()
}

fn damage(home: &Home, sql: &str) {
    let connection = Connection::open(home.database()).expect("a database");
    connection.execute_batch(sql).expect("a statement");
}

/// Everything in a table, in the order of its first columns.
fn rows(home: &Home, table: &str) -> Vec<Vec<Value>> {
    let connection = Connection::open(home.database()).expect("a database");
    let mut statement = connection.prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2")).expect("a table");
    let columns = statement.column_count();
    let read = |row: &rusqlite::Row<'_>| (0..columns).map(|column| row.get(column)).collect();
    statement.query_map([], read).expect("rows").collect::<Result<_, _>>().expect("values")
}

/// Asserts that the damage is found, that rebuilding mends it, and that the tables are what they were.
fn assert_mended(sql: &str, said: &str) {
    let home = imported();
    let before = DERIVED.map(|table| rows(&home, table));
    damage(&home, sql);
    let sick = doctor(&home, &[]);
    assert_eq!(sick.code, Some(1), "{sql}");
    assert!(sick.text().contains(said), "{sql}: {}", sick.text());
    let mended = doctor(&home, &["--rebuild"]);
    assert_eq!(mended.code, Some(0), "{sql}: {}{}", mended.text(), mended.errors());
    for (table, before) in DERIVED.iter().zip(before) {
        assert!(rows(&home, table) == before, "{sql}: {table} is not what it was");
    }
}

#[test]
fn a_sound_database_is_called_sound() {
    let done = doctor(&imported(), &[]);
    assert_eq!((done.code, done.text()), (Some(0), String::new()), "{}", done.errors());
    assert!(done.errors().contains("sound"), "{}", done.errors());
}

#[test]
fn rebuilding_a_sound_database_changes_nothing() {
    let home = imported();
    let before = DERIVED.map(|table| rows(&home, table));
    assert_eq!(doctor(&home, &["--rebuild"]).code, Some(0));
    assert!(DERIVED.map(|table| rows(&home, table)) == before);
}

#[test]
fn changed_facts_are_found_and_mended() {
    assert_mended(
        "UPDATE self_facts SET facts = (SELECT facts FROM self_facts WHERE cert = 2) WHERE cert = 1",
        "certificate 1: self_facts does not match the packets",
    );
}

#[test]
fn facts_that_cannot_even_be_unpacked_are_found_and_mended() {
    assert_mended("UPDATE self_facts SET facts = x'ff00ff' WHERE cert = 1", "certificate 1: self_facts");
}

#[test]
fn lost_index_rows_are_found_and_mended() {
    assert_mended("DELETE FROM key_id WHERE cert = 3", "certificate 3: key_id does not match the packets");
    assert_mended("DELETE FROM mail WHERE cert = 3", "certificate 3: mail does not match the packets");
    assert_mended("DELETE FROM user_id WHERE cert = 3", "certificate 3: user_id does not match the packets");
    assert_mended("DELETE FROM user_id_search WHERE rowid = 3", "certificate 3: user_id_search");
    assert_mended(
        "DELETE FROM third_party WHERE cert = 1",
        "certificate 1: third_party does not match the packets",
    );
}

#[test]
fn surplus_index_rows_are_found_and_mended() {
    assert_mended("INSERT INTO keygrip VALUES (7, 1)", "keygrip: ");
    assert_mended("INSERT INTO certification VALUES (7, 99999, NULL)", "certification: ");
    assert_mended(
        "INSERT INTO input VALUES (x'00', 99999, 1, 1)",
        "input: 1 rows that refer to rows that are not there",
    );
}

#[test]
fn searches_work_again_after_rebuilding() {
    let home = imported();
    let search = || Run::keyhoard(&home).args(["search", "debian.org"]).output().text();
    let before = search();
    assert!(!before.is_empty());
    damage(&home, "DELETE FROM user_id_search");
    assert_ne!(search(), before);
    doctor(&home, &["--rebuild"]);
    assert_eq!(search(), before);
}

/// Returns the fingerprint of a new database's second certificate.
fn second(home: &Home) -> String {
    let second = Run::keyhoard(home).args(["list", "--json"]).succeed().json_lines().remove(1);
    second["fingerprint"].as_str().expect("text").to_owned()
}

#[test]
fn lost_packets_are_one_problem_and_come_back_when_their_file_is_imported_again() {
    let home = imported();
    let name = second(&home);
    let listed = || Run::keyhoard(&home).args(["list", &name]).succeed().text();
    let before = listed();
    damage(&home, "DELETE FROM packets WHERE cert = 2");
    let sick = doctor(&home, &[]);
    let said = format!("certificate 2 ({name}): its packets are lost\n");
    assert_eq!((sick.code, sick.text()), (Some(1), said));
    let view = Run::keyhoard(&home)
        .args(["sql", "--csv", "SELECT id FROM certificate WHERE size IS NULL"])
        .succeed();
    assert_eq!(view.text(), "id\r\n2\r\n");

    let rebuilt = doctor(&home, &["--rebuild"]);
    assert_eq!((rebuilt.code, rebuilt.text()), (Some(0), String::new()));
    assert!(rebuilt.errors().contains(&name), "{}", rebuilt.errors());
    Run::keyhoard(&home).arg("import").arg(Keyring::Nonupload.path()).succeed();
    assert_eq!(doctor(&home, &[]).code, Some(0));
    assert_eq!(listed(), before);
}

#[test]
fn damaged_packets_are_one_problem_and_their_certificate_can_be_deleted_and_imported_again() {
    let home = imported();
    let name = second(&home);
    damage(&home, "UPDATE packets SET bytes = substr(bytes, 1, 100) WHERE cert = 2");
    let sick = doctor(&home, &["--json"]);
    let events = sick.json_lines();
    let said = events[0]["problem"].as_str().expect("text");
    assert!(said.starts_with("certificate 2: its packets are damaged"), "{said}");
    assert_eq!((&events[1]["problems"], &events[1]["healable"]), (&1.into(), &0.into()));
    let helpless = doctor(&home, &["--rebuild"]);
    assert_eq!(helpless.code, Some(2));
    assert!(helpless.errors().contains("certificate 2: its packets are damaged"), "{}", helpless.errors());

    Run::keyhoard(&home).args(["delete", "--yes", &name]).succeed();
    Run::keyhoard(&home).arg("import").arg(Keyring::Nonupload.path()).succeed();
    assert_eq!(doctor(&home, &[]).code, Some(0));
}

/// Bytes that no fact is made from: a copy of the digest, the length of a number, a hint that is not signed.
#[test]
fn a_changed_bit_that_no_verdict_depends_on_is_found_and_importing_again_heals_it() {
    let home = imported();
    let name = second(&home);
    let (bytes, unsigned) = own_signature(&home);
    let length = usize::from(bytes[unsigned - 2]) << 8 | usize::from(bytes[unsigned - 1]);
    let digest = unsigned + length;
    for place in [unsigned + length - 1, digest, digest + 1, digest + 3] {
        let mut changed = bytes.clone();
        changed[place] ^= 1;
        let bytes: String = changed.iter().map(|byte| format!("{byte:02x}")).collect();
        damage(&home, &format!("UPDATE packets SET bytes = x'{bytes}' WHERE cert = 2"));
        let sick = doctor(&home, &[]);
        let said = "certificate 2: its packets are damaged: they are not those that were stored\n";
        assert_eq!((sick.code, sick.text().as_str()), (Some(1), said), "{place}");
        assert_eq!(doctor(&home, &["--rebuild"]).code, Some(2), "{place}");
    }
    Run::keyhoard(&home).args(["delete", "--yes", &name]).succeed();
    Run::keyhoard(&home).arg("import").arg(Keyring::Nonupload.path()).succeed();
    assert_eq!(doctor(&home, &[]).code, Some(0));
    let exported = Run::keyhoard(&home).args(["export", &name]).succeed().stdout;
    assert!(exported == bytes, "the bytes are those of before");
}

/// Returns the second certificate's bytes, and where the unsigned subpackets of its first self-signature begin in them.
fn own_signature(home: &Home) -> (Vec<u8>, usize) {
    let connection = Connection::open(home.database()).expect("a database");
    let read = "SELECT bytes FROM packets WHERE cert = 2";
    let bytes: Vec<u8> = connection.query_row(read, [], |row| row.get(0)).expect("a row");
    let facts = cert::clean::read_facts(&bytes).expect("a certificate");
    let signatures = facts.components.iter().flat_map(|component| &component.signatures);
    let own = signatures.filter(|signature| signature.own.is_some()).map(|signature| signature.span.start);
    let packet = own.min().expect("a self-signature") as usize;
    // An old header, whose length takes two bytes, then version 4.
    assert_eq!((bytes[packet], bytes[packet + 3]), (0x89, 4));
    let hashed = usize::from(bytes[packet + 7]) << 8 | usize::from(bytes[packet + 8]);
    (bytes, packet + 9 + hashed + 2)
}

#[test]
fn a_deletion_whose_packets_were_lost_in_the_journal_is_undone_without_them_and_they_are_named() {
    let home = imported();
    let listed = || Run::keyhoard(&home).args(["list", "--json"]).succeed().json_lines();
    let all = listed();
    let names: Vec<&str> = all[..3].iter().map(|one| one["fingerprint"].as_str().expect("text")).collect();
    Run::keyhoard(&home).args(["delete", "--yes"]).args(&names).succeed();
    damage(&home, "UPDATE former SET bytes = x'' WHERE cert = 2");
    let undone = Run::keyhoard(&home).arg("undo").succeed();
    let said = format!("{}: its packets in the journal are lost or damaged", names[1]);
    assert!(undone.errors().contains(&said), "{}", undone.errors());
    assert_eq!(listed().len(), all.len() - 1);
    Run::keyhoard(&home).arg("import").arg(Keyring::Nonupload.path()).succeed();
    assert_eq!(listed().len(), all.len());
}

#[test]
fn pages_overwritten_in_the_file_are_found() {
    let home = imported();
    damage(&home, "PRAGMA wal_checkpoint(TRUNCATE)");
    let mut file = std::fs::read(home.database()).expect("a file");
    let middle = file.len() / 2;
    file[middle..middle + 20_000].fill(0x5a);
    std::fs::write(home.database(), file).expect("a file");
    let sick = doctor(&home, &[]);
    assert!(sick.code != Some(0), "{}{}", sick.text(), sick.errors());
}
