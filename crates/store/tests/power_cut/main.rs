//! What was reported as written survives a power cut at any moment, and a full disk loses nothing.
//!
//! A power cut keeps of each file what was written before its last sync, and any part of what was written after that.

#[allow(dead_code, reason = "shared by several tests")]
#[path = "../databases/made.rs"]
mod made;
mod recording_vfs;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use keyhoard_store as store;
use made::{Made, NOW};
use recording_vfs::{Event, Kind};
use rusqlite::Connection;
use store::sqlite::SqliteStore;
use store::{CertId, Detail, Error, Fingerprint, PutKind, Removal, Selection, Store};

/// What is written is recorded for the whole process.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a database holds: the length of each certificate says whether it has grown.
type Content = BTreeMap<Fingerprint, usize>;

fn content(store: &SqliteStore) -> store::Result<Content> {
    let mut content = Content::new();
    let mut each = |record: store::Record| {
        content.insert(record.fingerprint, record.bytes.expect("asked for").len());
        ControlFlow::Continue(())
    };
    store.snapshot()?.visit(Selection::All, Detail::Bytes, &mut each)?;
    Ok(content)
}

fn certificate(number: u32, grown: bool) -> Made {
    let user_ids: [&[u8]; 2] = [b"First <first@example.org>", b"Second <second@example.org>"];
    let certifiers: Vec<u64> = (0..30).map(|step| u64::from(number * 31 + step)).collect();
    Made::new(number, &user_ids[..if grown { 2 } else { 1 }], &certifiers)
}

fn add(store: &SqliteStore, numbers: std::ops::Range<u32>) -> store::Result<()> {
    let made: Vec<Made> = numbers.map(|number| certificate(number, false)).collect();
    let mut transaction = store.begin("import", None, NOW)?;
    transaction.put(&made.iter().map(Made::put).collect::<Vec<_>>())?;
    transaction.commit()
}

fn grow(store: &SqliteStore, id: i64) -> store::Result<()> {
    let made = certificate(id as u32 - 1, true);
    let mut transaction = store.begin("import", None, NOW)?;
    let kind = PutKind::Merged { id: CertId(id), generation: 1, added: vec![[0; 32]] };
    transaction.put(&[store::Put { kind, ..made.put() }])?;
    transaction.commit()
}

fn remove(store: &SqliteStore, id: i64, removal: Removal) -> store::Result<()> {
    let mut transaction = store.begin("delete", None, NOW)?;
    transaction.remove(&[CertId(id)], removal)?;
    transaction.commit()
}

/// Writes in every way, the first import and the move of the log into the database among them. Returns what was
/// recorded, and what the database held after each step; each step is marked when it has been reported as done.
fn scenario(path: &Path) -> (Vec<Event>, Vec<Content>) {
    recording_vfs::record();
    let mut contents = vec![Content::new()];
    let mut done = |store: &SqliteStore| {
        recording_vfs::mark(contents.len() as u32);
        contents.push(content(store).expect("content"));
    };
    let store = SqliteStore::create(path).expect("create");
    done(&store);
    add(&store, 0..8).expect("add");
    done(&store);
    add(&store, 8..11).expect("add");
    done(&store);
    grow(&store, 2).expect("grow");
    done(&store);
    drop(store);
    let store = SqliteStore::open(path).expect("open");
    remove(&store, 5, Removal::Undoable).expect("remove");
    done(&store);
    remove(&store, 6, Removal::Purge).expect("purge");
    done(&store);
    add(&store, 11..13).expect("add");
    done(&store);
    drop(store);
    (recording_vfs::recorded(), contents)
}

/// The files as they are on the disk, and what is still on its way there.
#[derive(Clone, Default)]
struct Disk {
    durable: BTreeMap<Kind, Vec<u8>>,
    pending: Vec<Event>,
    /// Journals and logs that were made since they were last taken away.
    made: BTreeSet<Kind>,
    /// Those of them that were not synced yet: SQLite syncs the directory with them.
    new: BTreeSet<Kind>,
}

impl Disk {
    /// Follows what happened; with `honest` a sync makes its file's writes durable.
    fn follow(&mut self, event: &Event, honest: bool) {
        match event {
            Event::Sync { file } if honest => {
                let of_file = |event: &Event| matches!(event, Event::Write { file: f, .. } | Event::Truncate { file: f, .. } if f == file);
                let (synced, pending) = std::mem::take(&mut self.pending).into_iter().partition(of_file);
                self.pending = pending;
                if self.new.remove(file) {
                    self.sync_directory();
                }
                let synced: Vec<Event> = synced;
                synced.iter().for_each(|event| apply(&mut self.durable, event));
            }
            Event::Sync { .. } | Event::Mark(_) => {}
            Event::Delete { file, synced } => {
                self.made.remove(file);
                self.new.remove(file);
                if *synced { self.forget(*file) } else { self.pending.push(event.clone()) }
            }
            Event::Write { file, .. } | Event::Truncate { file, .. } => {
                // A new file of that name: then the old one is gone.
                if self
                    .pending
                    .iter()
                    .any(|event| matches!(event, Event::Delete { file: f, .. } if f == file))
                {
                    self.forget(*file);
                }
                if matches!(file, Kind::Journal | Kind::Log) && self.made.insert(*file) {
                    self.new.insert(*file);
                }
                self.pending.push(event.clone());
            }
        }
    }

    /// Makes durable which files there are.
    fn sync_directory(&mut self) {
        for event in self.pending.clone() {
            if let Event::Delete { file, .. } = event {
                self.forget(file);
            }
        }
    }

    /// Takes a file away, with what was on its way to it.
    fn forget(&mut self, file: Kind) {
        self.durable.remove(&file);
        self.pending.retain(|event| {
            !matches!(event, Event::Write { file: f, .. } | Event::Truncate { file: f, .. } | Event::Delete { file: f, .. } if *f == file)
        });
    }

    /// Cuts the power: of what is on its way, `arrives` says what comes to the disk, and how much of it.
    fn cut(&self, mut arrives: impl FnMut() -> Arrival) -> BTreeMap<Kind, Vec<u8>> {
        let mut files = self.durable.clone();
        for event in &self.pending {
            match (arrives(), event) {
                (Arrival::Lost, _) => {}
                (Arrival::Torn, Event::Write { file, offset, bytes }) if bytes.len() > 512 => {
                    let bytes = bytes[..bytes.len() / 1024 * 512].to_vec();
                    apply(&mut files, &Event::Write { file: *file, offset: *offset, bytes });
                }
                (Arrival::Torn | Arrival::Whole, event) => apply(&mut files, event),
            }
        }
        files
    }
}

#[derive(Clone, Copy)]
enum Arrival {
    Lost,
    Torn,
    Whole,
}

fn apply(files: &mut BTreeMap<Kind, Vec<u8>>, event: &Event) {
    match event {
        Event::Write { file, offset, bytes } => {
            let content = files.entry(*file).or_default();
            let end = *offset as usize + bytes.len();
            content.resize(content.len().max(end), 0);
            content[*offset as usize..end].copy_from_slice(bytes);
        }
        Event::Truncate { file, size } => files.entry(*file).or_default().resize(*size as usize, 0),
        Event::Delete { file, .. } => drop(files.remove(file)),
        Event::Sync { .. } | Event::Mark(_) => {}
    }
}

/// Opens what a power cut has left. Returns which step's content it has, or what is wrong.
fn step_after(files: &BTreeMap<Kind, Vec<u8>>, contents: &[Content]) -> Result<usize, String> {
    // In memory, where there is such a place: hundreds of databases are opened, and syncs take time.
    let directory =
        tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a temporary directory");
    let path = directory.path().join("keyhoard.db");
    for (kind, bytes) in files {
        let suffix = match kind {
            Kind::Database => "",
            Kind::Journal => "-journal",
            Kind::Log => "-wal",
            Kind::Other => continue,
        };
        std::fs::write(directory.path().join(format!("keyhoard.db{suffix}")), bytes).expect("write");
    }
    let store = SqliteStore::create(&path).map_err(|error| error.to_string())?;
    let content = content(&store).map_err(|error| error.to_string())?;
    drop(store);
    let check = |connection: Connection| connection.query_row("PRAGMA integrity_check", [], |row| row.get(0));
    let words: String = Connection::open(&path).and_then(check).map_err(|error| error.to_string())?;
    if words != "ok" {
        return Err(words);
    }
    contents
        .iter()
        .rposition(|step| *step == content)
        .ok_or_else(|| format!("{} certificates", content.len()))
}

/// Cuts the power after every event, in several ways. Returns what was lost, at most so many times.
fn losses(events: &[Event], contents: &[Content], honest: bool, most: usize) -> Vec<String> {
    let mut losses = Vec::new();
    let mut disk = Disk::default();
    let mut reported = 0;
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    for (number, event) in events.iter().enumerate() {
        disk.follow(event, honest);
        if let Event::Mark(step) = event {
            reported = *step as usize;
        }
        let random = || {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            [Arrival::Lost, Arrival::Torn, Arrival::Whole, Arrival::Whole][(seed >> 62) as usize]
        };
        if losses.len() >= most {
            break;
        }
        let ways = [disk.cut(|| Arrival::Lost), disk.cut(|| Arrival::Whole), disk.cut(random)];
        for (way, files) in ways.iter().enumerate() {
            match step_after(files, contents) {
                // The step that is under way may be done already.
                Ok(step) if step == reported || step == reported + 1 => {}
                // An empty database is the same before and after its tables are made.
                Ok(_) if reported <= 1 && contents[reported].is_empty() => {}
                other => losses.push(format!("event {number}, way {way}, {reported} reported: {other:?}")),
            }
        }
    }
    losses
}

#[test]
fn what_was_reported_survives_a_power_cut_at_any_moment() {
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (events, contents) = scenario(&directory.path().join("keyhoard.db"));
    let kinds = |kind| {
        events.iter().filter(|event| matches!(event, Event::Write { file, .. } if *file == kind)).count()
    };
    assert!(kinds(Kind::Journal) > 0 && kinds(Kind::Log) > 20 && kinds(Kind::Database) > 20);
    let losses = losses(&events, &contents, true, 20);
    assert!(losses.is_empty(), "{} of {}:\n{}", losses.len(), events.len(), losses.join("\n"));
}

#[test]
fn a_disk_that_lies_about_syncs_is_noticed_by_this_test() {
    let _alone = alone();
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (events, contents) = scenario(&directory.path().join("keyhoard.db"));
    assert!(!losses(&events, &contents, false, 1).is_empty());
}

#[test]
fn a_full_disk_is_an_error_in_words_and_nothing_is_lost() {
    let _alone = alone();
    let mut refused = 0;
    for step in 0..60 {
        let space = step * 6_000;
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("keyhoard.db");
        let store = SqliteStore::create(&path).expect("create");
        if step % 2 == 0 {
            add(&store, 0..3).expect("add");
        }
        let before = content(&store).expect("content");
        recording_vfs::leave_space(space);
        let added = add(&store, 3..9);
        recording_vfs::leave_space(u64::MAX);
        match added {
            Ok(()) => assert_eq!(content(&store).expect("content").len(), before.len() + 6),
            Err(Error::Full { path: named, .. }) => {
                refused += 1;
                assert_eq!(named, path);
                assert_eq!(content(&store).expect("content"), before, "with space for {space}");
                add(&store, 3..9).expect("there is space again");
                assert_eq!(content(&store).expect("content").len(), before.len() + 6);
            }
            Err(other) => panic!("with space for {space}: {other}"),
        }
    }
    assert!((10..60).contains(&refused), "{refused}");
}
