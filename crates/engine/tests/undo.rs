//! An undo while others write: it looks again, and gives up at last.

use std::sync::atomic::{AtomicUsize, Ordering};

use cert::packet::{Packet, Packets, Tag};
use cert::split::{Piece, Splitter};
use cert::{key, signature};
use keyhoard_engine::Error;
use keyhoard_engine::import::{self, ImportOptions};
use keyhoard_engine::store::doctor::{Derive, Finding, Rebuilt};
use keyhoard_engine::store::sqlite::SqliteStore;
use keyhoard_engine::store::{self, CertId, JournalId, KeptVerdict, Snapshot, Store, Timestamp, Transaction};
use keyhoard_engine::undo::{NextUndo, UndoOptions, UndoSummary, next, undo};

const NOW: Timestamp = Timestamp(1_767_225_600);

/// A database in which somebody else writes each time just before an undo does, as often as he has anything to import.
struct Busy {
    store: SqliteStore,
    others: Vec<Vec<u8>>,
    begun: AtomicUsize,
}

impl Store for Busy {
    fn snapshot(&self) -> store::Result<Box<dyn Snapshot + '_>> {
        self.store.snapshot()
    }

    fn supports_concurrent_readers(&self) -> store::Result<bool> {
        self.store.supports_concurrent_readers()
    }

    fn begin(
        &self,
        command: &str,
        journal: Option<JournalId>,
        now: Timestamp,
    ) -> store::Result<Box<dyn Transaction + '_>> {
        if let Some(other) = self.others.get(self.begun.fetch_add(1, Ordering::Relaxed)) {
            import(&self.store, other);
        }
        self.store.begin(command, journal, now)
    }

    fn keep_verdicts(&self, found: &[(CertId, Vec<KeptVerdict>)]) -> store::Result<bool> {
        self.store.keep_verdicts(found)
    }

    fn check(&self, derive: &mut Derive<'_>, found: &mut dyn FnMut(Finding)) -> store::Result<()> {
        self.store.check(derive, found)
    }

    fn rebuild(&self, derive: &mut Derive<'_>) -> store::Result<Rebuilt> {
        self.store.rebuild(derive)
    }
}

fn import(store: &dyn Store, input: &[u8]) {
    let options = ImportOptions { command: "import".to_owned(), ..ImportOptions::default() };
    import::import(store, input, &options, NOW, &mut |_| {}).expect("an import");
}

/// A certificate with a signature by another key more each time: more of them than an undo is tried again.
fn growing() -> Vec<Vec<u8>> {
    const TIMES: usize = 20;
    let keyring = std::fs::read("/usr/share/keyrings/debian-maintainers.gpg");
    let keyring = keyring.expect("debian-keyring is installed");
    let certificates = Splitter::new(&keyring[..]).filter_map(|piece| match piece {
        Ok(Piece::Certificate(raw)) => Some(raw.bytes),
        _ => None,
    });
    let mut grown = certificates.filter_map(|bytes| {
        let packets: Vec<_> = Packets::new(&bytes).flatten().collect();
        let primary = key::parse_public(packets[0].body).expect("a sound key").fingerprint();
        let is_own = |packet: &Packet<'_>| {
            let signature = signature::parse(packet.body).ok().filter(|_| packet.tag == Tag::SIGNATURE)?;
            Some(signature.issuer().may_be(&primary))
        };
        // What follows a user ID's own signature.
        let bound =
            packets.windows(2).position(|two| two[0].tag == Tag::USER_ID && is_own(&two[1]) == Some(true))?;
        let run = packets.get(bound + 2..bound + 2 + TIMES)?;
        let by_others = run.iter().all(|packet| is_own(packet) == Some(false));
        by_others.then(|| run.iter().map(|packet| bytes[..packet.span.end as usize].to_vec()).collect())
    });
    grown.next().expect("a certificate with many signatures")
}

/// Undoes the import of a certificate to which others add `often` times meanwhile; says how often it was tried.
fn undo_beside(often: usize, force: bool) -> (keyhoard_engine::Result<UndoSummary>, usize) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut others = growing();
    let store = SqliteStore::create(&directory.path().join("keyhoard.db")).expect("a new database");
    import(&store, &others.remove(0));
    others.truncate(often);
    let busy = Busy { store, others, begun: AtomicUsize::new(0) };
    let options = UndoOptions { force, ..UndoOptions::default() };
    let undone = undo(&busy, Some(JournalId(1)), &options, NOW, &mut |_| {});
    (undone, busy.begun.into_inner())
}

#[test]
fn an_undo_looks_again_at_what_others_changed_meanwhile() {
    let (undone, attempts) = undo_beside(2, true);
    assert_eq!(undone.expect("the third attempt succeeds").removed, 1);
    assert_eq!(attempts, 3);
}

#[test]
fn an_undo_does_not_take_away_what_others_brought_again_meanwhile() {
    let (undone, attempts) = undo_beside(1, false);
    assert!(matches!(undone, Err(Error::BroughtAgain { .. })), "{undone:?}");
    assert_eq!(attempts, 1);
}

#[test]
fn an_undo_of_what_others_change_every_time_is_given_up() {
    let (undone, attempts) = undo_beside(19, true);
    assert!(matches!(undone, Err(Error::ChangedMeanwhile)), "{undone:?}");
    assert!((3..19).contains(&attempts), "{attempts}");
}

/// Returns the entry that an undo takes back next.
fn next_entry(store: &dyn Store) -> Option<JournalId> {
    next(store.snapshot().expect("a snapshot").as_ref(), NOW).map(|NextUndo { entry, .. }| entry)
}

#[test]
fn the_entry_to_be_undone_next_is_looked_for_among_a_hundred() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let store = SqliteStore::create(&directory.path().join("keyhoard.db")).expect("a new database");
    let certificates = growing();
    import(&store, &certificates[0]);
    let again = || {
        import(&store, &certificates[1]);
        undo(&store, None, &UndoOptions::default(), NOW, &mut |_| {}).expect("an undo");
    };
    (0..49).for_each(|_| again());
    assert_eq!(next_entry(&store), Some(JournalId(1)));
    again();
    assert_eq!(next_entry(&store), None);
}

#[test]
fn nothing_is_undone_next_after_a_command_that_changed_nothing_or_if_the_journal_is_damaged() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("keyhoard.db");
    let store = SqliteStore::create(&path).expect("a new database");
    let certificate = growing().remove(0);
    import(&store, &certificate);
    assert_eq!(next_entry(&store), Some(JournalId(1)));
    let change = |how: &str| {
        let connection = rusqlite::Connection::open(&path).expect("the database");
        connection.execute(&format!("UPDATE change SET {how}"), []).expect("a damaged journal");
    };
    change("kind = 5, added = x'ff'");
    assert_eq!(next_entry(&store), None);
    change("kind = 0, added = NULL");
    import(&store, &certificate);
    assert_eq!(next_entry(&store), None);
}
