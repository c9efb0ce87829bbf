//! Several processes at one database, and processes that are killed.
//!
//! A test starts itself again as another process, with its part in the environment.

#[path = "../../../../tests/src/scale.rs"]
#[allow(unreachable_pub, reason = "shared with the harness, which exports it")]
mod scale;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::made;
use crate::made::{Made, NOW};
use keyhoard_store as store;
use store::doctor::StoredCertificate;
use store::sqlite::SqliteStore;
use store::{
    Detail, Facts, Fingerprint, JournalId, Put, PutKind, PutOutcome, Record, Selection, Snapshot, Store,
};

/// Certificates that are written in one transaction.
const GROUP: u32 = 12;
const GROUPS: u32 = 25;

const PART: &str = "KEYHOARD_TEST_PART";
const DATABASE: &str = "KEYHOARD_TEST_DATABASE";

/// A certificate of some size: what it is at first, or with the user ID that it gets later.
fn certificate(number: u32, complete: bool) -> Made {
    let first = format!("Number {number} <number{number}@example.org>");
    let second = format!("Number {number} <number{number}@example.com>");
    let certifiers: Vec<u64> = (0..40).map(|step| u64::from(number * 7 + step)).collect();
    let user_ids = [first.as_bytes(), second.as_bytes()];
    Made::new(number, &user_ids[..if complete { 2 } else { 1 }], &certifiers)
}

fn group(number: u32) -> std::ops::Range<u32> {
    number * GROUP..(number + 1) * GROUP
}

/// Starts this test again as another process.
fn start(test: &str, part: &str, database: &Path) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", &format!("processes::{test}"), "--nocapture"])
        .env(PART, part)
        .env(DATABASE, database)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("another process")
}

/// What this process is to do, if it was started by [`start`].
fn part() -> Option<(String, SqliteStore)> {
    let part = std::env::var(PART).ok()?;
    let database = std::env::var_os(DATABASE).expect("set together");
    Some((part, SqliteStore::create(Path::new(&database)).expect("the database opens at once")))
}

/// Writes groups, each in one transaction: certificates that are new, and what is missing of those that are there.
fn write(
    store: &SqliteStore,
    groups: impl Iterator<Item = u32>,
    complete: impl Fn(u32) -> bool,
    journal: bool,
) {
    let mut entry = None;
    for number in groups {
        let wanted: Vec<Made> = group(number).map(|number| certificate(number, complete(number))).collect();
        while !try_to_write(store, &wanted, &mut entry) {}
        if journal {
            println!("\nwritten {number}");
        }
    }
}

/// Says whether nobody else had changed the same certificates meanwhile.
fn try_to_write(store: &SqliteStore, wanted: &[Made], entry: &mut Option<JournalId>) -> bool {
    let fingerprints: Vec<Fingerprint> = wanted.iter().map(Made::fingerprint).collect();
    let snapshot = store.snapshot().expect("snapshot");
    let there = snapshot.by_fingerprint(&fingerprints).expect("lookup");
    let ids: Vec<_> = there.iter().flatten().copied().collect();
    let mut known = BTreeMap::new();
    let mut each = |record: Record| {
        known.insert(record.id, record);
        ControlFlow::Continue(())
    };
    snapshot.visit(Selection::Ids(&ids), Detail::Bytes, &mut each).expect("visit");
    drop(snapshot);
    let puts: Vec<Put<'_>> = wanted
        .iter()
        .zip(there)
        .filter_map(|(made, id)| {
            let kind = match id.map(|id| &known[&id]) {
                None => PutKind::New,
                Some(record) if record.bytes.as_ref().is_some_and(|bytes| bytes.len() < made.bytes.len()) => {
                    PutKind::Merged { id: record.id, generation: record.generation, added: vec![[1; 32]] }
                }
                Some(_) => return None,
            };
            Some(Put { kind, ..made.put() })
        })
        .collect();
    let mut transaction = store.begin("import", *entry, NOW).expect("a turn to write");
    let written = transaction.put(&puts).expect("put");
    if written.contains(&PutOutcome::Conflict) {
        return false;
    }
    *entry = Some(transaction.journal());
    transaction.commit().expect("commit");
    true
}

/// Reads everything and makes sure that groups are whole and certificates are what was written.
fn check(snapshot: &dyn Snapshot) -> BTreeMap<u32, Record> {
    let numbers: BTreeMap<Fingerprint, u32> =
        (0..GROUPS * GROUP).map(|number| (made::fingerprint(number, 0), number)).collect();
    let mut found = BTreeMap::new();
    let mut each = |record: Record| {
        found.insert(numbers[&record.fingerprint], record);
        ControlFlow::Continue(())
    };
    snapshot.visit(Selection::All, Detail::Bytes, &mut each).expect("visit");
    assert_eq!(snapshot.count().expect("count"), found.len() as u64);
    for number in 0..GROUPS {
        let there = group(number).filter(|number| found.contains_key(number)).count();
        assert!(there == 0 || there == GROUP as usize, "group {number} is there in part: {there}");
    }
    for (number, record) in &found {
        let is = |complete| {
            let made = certificate(*number, complete);
            record.bytes.as_ref() == Some(&made.bytes) && record.facts.as_ref() == Some(&made.facts)
        };
        assert!(is(false) || is(true), "certificate {number} is neither old nor new");
    }
    found
}

/// Makes sure that every row fits the bytes.
fn check_rows(store: &SqliteStore) {
    let known: BTreeMap<Vec<u8>, Facts> = (0..GROUPS * GROUP)
        .flat_map(|number| [certificate(number, false), certificate(number, true)])
        .map(|made| (made.bytes, made.facts))
        .collect();
    let mut derive = |kept: &[StoredCertificate]| {
        let facts =
            kept.iter().map(|kept| known.get(&kept.bytes).cloned().ok_or_else(|| "unknown".to_owned()));
        facts.collect()
    };
    store.check(&mut derive, &mut |finding| panic!("{finding:?}")).expect("check");
}

#[test]
fn eight_writers_and_eight_readers_end_as_one_after_the_other_would() {
    if let Some((part, store)) = part() {
        let (role, number) = part.split_at(1);
        let number: u32 = number.parse().expect("a number");
        match role {
            "w" => {
                let order = (0..GROUPS).map(|step| (step + number * 5) % GROUPS);
                write(&store, order, |certificate| (certificate + number).is_multiple_of(2), false);
            }
            _ => while check(&*store.snapshot().expect("snapshot")).len() < (GROUPS * GROUP) as usize {},
        }
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("home/keyhoard.db");
    let test = "eight_writers_and_eight_readers_end_as_one_after_the_other_would";
    let parts = (0..8).flat_map(|number| [format!("w{number}"), format!("r{number}")]);
    let children: Vec<Child> = parts.map(|part| start(test, &part, &path)).collect();
    for child in children {
        let output = child.wait_with_output().expect("its end");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let store = SqliteStore::open(&path).expect("open");
    let snapshot = store.snapshot().expect("snapshot");
    let found = check(&*snapshot);
    assert_eq!(found.len(), (GROUPS * GROUP) as usize);
    for (number, record) in found {
        assert_eq!(record.bytes, Some(certificate(number, true).bytes), "merged from both kinds of writers");
    }
    let added: u64 = snapshot.journal(100).expect("journal").iter().map(|entry| entry.counts[0]).sum();
    assert_eq!(added, u64::from(GROUPS * GROUP), "each certificate was new once");
    drop(snapshot);
    check_rows(&store);
}

#[test]
fn a_killed_writer_leaves_whole_batches_and_can_be_resumed() {
    const TEST: &str = "a_killed_writer_leaves_whole_batches_and_can_be_resumed";
    if let Some((_, store)) = part() {
        return write(&store, 0..GROUPS, |_| true, true);
    }
    let kills = scale::choose(64, 8);
    let mut state = scale::seed();
    let mut random = |below: u64| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) % below
    };
    let mut interrupted = 0;
    for attempt in 0.. {
        if interrupted == kills {
            break;
        }
        assert!(attempt < 3 * kills, "only {interrupted} of {attempt} writers were killed before their end");
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("keyhoard.db");
        let mut child = start(TEST, "write", &path);
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let mut reports = output.lines().map_while(Result::ok).filter(|line| line.starts_with("written "));
        // Some groups, and a moment that is somewhere in the next ones.
        let groups = random(u64::from(GROUPS)) as usize;
        let moment = Duration::from_micros(random(12_000));
        let mut reported = reports.by_ref().take(groups).count();
        std::thread::sleep(moment);
        child.kill().expect("kill");
        child.wait().expect("its end");
        reported += reports.count();

        let store = SqliteStore::create(&path).expect("the database opens at once");
        let found = check(&*store.snapshot().expect("snapshot"));
        let there = found.len() / GROUP as usize;
        interrupted += usize::from(there < GROUPS as usize);
        assert!(
            there >= reported,
            "killed {moment:?} after {groups}: {there} groups, {reported} were reported"
        );
        check_rows(&store);
        write(&store, 0..GROUPS, |_| true, false);
        assert_eq!(check(&*store.snapshot().expect("snapshot")).len(), (GROUPS * GROUP) as usize);
        check_rows(&store);
    }
}
