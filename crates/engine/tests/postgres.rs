//! Imports and copies with a real PostgreSQL server: beside each other, killed in the middle, and both ways.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use cert::split::{Piece, Splitter};
use cert::{BoundAddress, Facts, SignatureDigest};
use keyhoard_engine::copy::{CopySummary, copy};
use keyhoard_engine::import::{ImportEvent, ImportOptions, import_all};
use keyhoard_engine::store::postgres::{Address, PostgresStore};
use keyhoard_engine::store::sqlite::SqliteStore;
use keyhoard_engine::store::tofu::{Binding, BindingSelection, VerifiedMessage};
use keyhoard_engine::store::{
    AssignedTrust, Detail, Fingerprint, KeptVerdict, Query, Selection, Store, Timestamp,
};
use keyhoard_engine::undo::{UndoOptions, undo};
use keyhoard_engine::verification::remember_encrypted;
use scratch_postgres::{Listen, Server};

const NOW: Timestamp = Timestamp(1_767_225_600);
const LATER: Timestamp = Timestamp(NOW.0 + 86_400);

fn keyring(name: &str) -> Vec<u8> {
    let path = Path::new("/usr/share/keyrings").join(format!("{name}.gpg"));
    std::fs::read(path).expect("Debian's package debian-keyring is installed (scripts/setup)")
}

fn keyrings() -> Vec<Vec<u8>> {
    ["debian-keyring", "debian-maintainers", "debian-nonupload"].map(keyring).to_vec()
}

/// Returns the server that tests share, but for those that kill theirs.
fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| Server::start(Listen::Socket, &["fsync=off"]).expect("a PostgreSQL server"))
}

fn create(server: &Server, schema: &str) -> PostgresStore {
    PostgresStore::create(address(server, schema), 0).expect("a new schema")
}

fn address(server: &Server, schema: &str) -> Address {
    Address::parse(&server.url(&format!("schema={schema}"))).expect("a URL")
}

fn sqlite(directory: &tempfile::TempDir, name: &str) -> SqliteStore {
    SqliteStore::create(&directory.path().join(name)).expect("a new database")
}

fn import(store: &dyn Store, inputs: &[Vec<u8>], now: Timestamp, on_event: &mut dyn FnMut(ImportEvent<'_>)) {
    let options = ImportOptions { command: "import".to_owned(), ..ImportOptions::default() };
    import_all(store, inputs.iter().map(Vec::as_slice), &options, now, on_event).expect("an import");
}

/// The bytes and facts of every certificate.
fn content(store: &dyn Store) -> BTreeMap<Fingerprint, (Vec<u8>, Facts)> {
    let mut content = BTreeMap::new();
    let snapshot = store.snapshot().expect("snapshot");
    let visited = snapshot.visit(Selection::All, Detail::Bytes, &mut |record| {
        let found = (record.bytes.expect("asked for"), record.facts.expect("asked for"));
        content.insert(record.fingerprint, found);
        ControlFlow::Continue(())
    });
    visited.expect("visit");
    content
}

/// What one import of everything into a file leaves.
fn expected() -> &'static BTreeMap<Fingerprint, (Vec<u8>, Facts)> {
    static EXPECTED: OnceLock<BTreeMap<Fingerprint, (Vec<u8>, Facts)>> = OnceLock::new();
    EXPECTED.get_or_init(|| {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let store = sqlite(&directory, "keyhoard.db");
        import(&store, &keyrings(), NOW, &mut |_| {});
        content(&store)
    })
}

#[test]
fn eight_importers_of_overlapping_keyrings_leave_what_one_after_the_other_leaves() {
    const IMPORTERS: usize = 8;
    let certificates: Vec<Vec<u8>> = keyrings()
        .iter()
        .flat_map(|keyring| Splitter::new(&keyring[..]).collect::<Vec<_>>())
        .filter_map(|piece| match piece {
            Ok(Piece::Certificate(raw)) => Some(raw.bytes),
            _ => None,
        })
        .collect();
    drop(create(server(), "eight"));
    thread::scope(|scope| {
        for number in 0..IMPORTERS {
            // Each certificate is in the keyrings of three importers, each of which goes another way.
            let mut own: Vec<&Vec<u8>> = certificates
                .iter()
                .enumerate()
                .filter(|(index, _)| (index + IMPORTERS - number) % IMPORTERS < 3)
                .map(|(_, certificate)| certificate)
                .collect();
            if number % 2 == 1 {
                own.reverse();
            }
            let input = own.into_iter().flatten().copied().collect::<Vec<u8>>();
            let store = PostgresStore::open(address(server(), "eight")).expect("open");
            scope.spawn(move || import(&store, &[input], NOW, &mut |_| {}));
        }
    });
    let store = PostgresStore::open(address(server(), "eight")).expect("open");
    assert!(content(&store) == *expected(), "something was lost, or came twice");
}

#[test]
fn an_import_goes_on_by_itself_when_the_server_is_killed_and_what_was_reported_stays() {
    const KILLS: u32 = 4;
    // The system survives, so nothing has to reach the disk.
    let mut server = Server::start(Listen::Socket, &["fsync=off"]).expect("a server of its own");
    let start = Instant::now();
    import_one_by_one(&create(&server, "undisturbed"), &mut |_| {});
    let mut duration = start.elapsed();
    let mut interrupted = 0;
    for attempt in 0.. {
        if interrupted == KILLS {
            break;
        }
        assert!(attempt < 4 * KILLS, "only {interrupted} of {attempt} kills came before an import's end");
        // Every second kill comes as soon as something was reported, the others at moments of the import.
        let delay =
            (attempt % 2 == 0).then(|| duration.mul_f64(f64::from(attempt % KILLS + 1) / f64::from(KILLS)));
        match kill_during_import(&mut server, &format!("kill_{attempt}"), delay) {
            true => interrupted += 1,
            false => duration = duration.mul_f64(0.8),
        }
    }
}

/// Imports one keyring after the other, so that there is something to be reported in between.
fn import_one_by_one(store: &dyn Store, on_event: &mut dyn FnMut(ImportEvent<'_>)) {
    for keyring in keyrings() {
        import(store, &[keyring], NOW, on_event);
    }
}

/// Kills the server after `delay`, or when the import has reported something, and asserts that nothing is lost; returns
/// whether the import had not ended before that.
fn kill_during_import(server: &mut Server, schema: &str, delay: Option<Duration>) -> bool {
    let store = create(server, schema);
    let (reported, ended) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    let was_interrupted = thread::scope(|scope| {
        let importing = scope.spawn(|| {
            import_one_by_one(&store, &mut |event| {
                if let ImportEvent::Certificate(imported) = event {
                    reported.lock().expect("nobody panics").push(imported.fingerprint);
                }
            });
            ended.store(true, Ordering::Relaxed);
        });
        match delay {
            Some(delay) => thread::sleep(delay),
            None => {
                while reported.lock().expect("nobody panics").is_empty() && !importing.is_finished() {
                    thread::sleep(Duration::from_millis(1));
                }
            }
        }
        let before = reported.lock().expect("nobody panics").clone();
        let had_ended = ended.load(Ordering::Relaxed);
        server.kill_and_restart().expect("it starts again");
        let there = PostgresStore::open(address(server, schema)).expect("open");
        let found = there.snapshot().expect("snapshot").by_fingerprint(&before).expect("answers");
        assert!(found.iter().all(Option::is_some), "what was reported is lost");
        assert!(delay.is_some() || !before.is_empty(), "nothing was reported");
        importing.join().expect("the import goes on");
        !had_ended
    });
    assert!(content(&store) == *expected(), "{schema}");
    was_interrupted
}

#[test]
fn every_message_is_counted_once_and_leaves_no_entry_though_the_server_is_killed_meanwhile() {
    let mut server = Server::start(Listen::Socket, &["fsync=off"]).expect("a server of its own");
    let store = create(&server, "messages");
    import(&store, &[keyring("debian-nonupload")], NOW, &mut |_| {});
    let key = *content(&store).keys().next().expect("a certificate");
    let was_killed = AtomicBool::new(false);
    let messages = thread::scope(|scope| {
        let encrypting = scope.spawn(|| {
            let mut messages = 0_u64;
            while !was_killed.load(Ordering::Relaxed) {
                remember_encrypted(&store, &[key], "encrypt", LATER).expect("it is done again");
                messages += 1;
            }
            messages
        });
        let mut kill = || {
            thread::sleep(Duration::from_millis(150));
            server.kill_and_restart()
        };
        let killed = (0..3).try_for_each(|_| kill());
        was_killed.store(true, Ordering::Relaxed);
        killed.expect("it starts again");
        encrypting.join().expect("nobody panics")
    });
    let snapshot = store.snapshot().expect("snapshot");
    let mut counts = Vec::new();
    let visited = snapshot.bindings(BindingSelection::All, &mut |binding| {
        counts.extend(binding.id.map(|id| snapshot.messages(id).expect("messages").encrypted.count));
        ControlFlow::Continue(())
    });
    visited.expect("bindings");
    assert!(!counts.is_empty() && counts.iter().all(|&count| count == messages), "{counts:?} of {messages}");
    assert_eq!(snapshot.journal(usize::MAX).expect("journal").len(), 1);
}

#[test]
fn an_import_is_undone_as_in_a_file() {
    let store = create(server(), "undo");
    import(&store, &[keyring("debian-nonupload")], NOW, &mut |_| {});
    import(&store, &[keyring("debian-maintainers")], LATER, &mut |_| {});
    let undone = undo(&store, None, &UndoOptions::default(), LATER, &mut |_| {}).expect("undo");
    assert!(undone.removed > 100 && undone.kept == 0, "{undone:?}");
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = sqlite(&directory, "keyhoard.db");
    import(&file, &[keyring("debian-nonupload")], NOW, &mut |_| {});
    assert!(content(&store) == content(&file));
}

/// Leaves something of everything that is not a certificate.
fn remember(store: &dyn Store) {
    let snapshot = store.snapshot().expect("snapshot");
    let found = snapshot.find(&Query::Substring(b"debian.org".to_vec())).expect("find");
    let mut keys = Vec::new();
    let visited = snapshot.visit(Selection::Ids(&found[..3]), Detail::Name, &mut |record| {
        keys.push(record.fingerprint);
        ControlFlow::Continue(())
    });
    visited.expect("visit");
    drop(snapshot);
    let mut transaction = store.begin("trust", None, LATER).expect("begin");
    transaction.set_owner_trust(&keys[0], AssignedTrust::from_number(6)).expect("trust");
    transaction.set_owner_trust(&keys[1], AssignedTrust::from_number(4)).expect("trust");
    let address = BoundAddress::of_user_id(b"Somebody <somebody@example.org>");
    let binding = Binding {
        id: None,
        fingerprint: keys[2],
        address,
        user_id: b"Somebody".to_vec(),
        since: LATER,
        policy: 4,
    };
    let binding = transaction.note_binding(&binding).expect("note");
    let message =
        VerifiedMessage { digest: vec![7; 20], origin: "test".to_owned(), signed: NOW, verified: LATER };
    transaction.add_verified(binding, &message).expect("add");
    transaction.add_encrypted(binding, LATER).expect("add");
    transaction.add_encrypted(binding, LATER).expect("add");
    transaction.commit().expect("commit");
    let verdict = KeptVerdict { content: SignatureDigest([3; 16]), issuer: keys[1], good: true };
    assert!(store.keep_verdicts(&[(found[0], vec![verdict])]).expect("keep"));
}

#[test]
fn a_copy_into_the_other_engine_and_back_is_equal_and_goes_on_where_it_was_interrupted() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (file, back) = (sqlite(&directory, "first.db"), sqlite(&directory, "back.db"));
    import(&file, &[keyring("debian-nonupload")], NOW, &mut |_| {});
    import(&file, &[keyring("debian-maintainers")], LATER, &mut |_| {});
    remember(&file);
    let store = create(server(), "copy");
    let there = copy(&file, &store, "copy", LATER, &mut |_| {}).expect("equal");
    let certificates = content(&file).len() as u64;
    assert_eq!(there, CopySummary { copied: certificates, there: 0, owner_trusts: 2, bindings: 1 });
    let again = copy(&file, &store, "copy", LATER, &mut |_| {}).expect("equal");
    assert_eq!(again, CopySummary { copied: 0, there: certificates, ..there });
    assert_eq!(copy(&store, &back, "copy", LATER, &mut |_| {}).expect("equal"), there);
    assert!(content(&back) == content(&file));
    assert!(keyhoard_engine::doctor::examine(back.path(), &mut |_| {}).expect("examine").problems == 0);
}

#[test]
fn a_copy_that_is_not_equal_says_what_differs() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = sqlite(&directory, "first.db");
    import(&file, &[keyring("debian-nonupload")], NOW, &mut |_| {});
    let store = create(server(), "unequal");
    import(&store, &[keyring("debian-nonupload")], LATER, &mut |_| {});
    let refused = copy(&file, &store, "copy", LATER, &mut |_| {}).expect_err("first seen at another time");
    assert!(refused.to_string().starts_with("the databases are not equal: certificate "), "{refused}");
}
