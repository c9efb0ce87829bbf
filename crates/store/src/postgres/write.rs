//! Writing: one transaction at a time, or imports beside each other, each of which has the certificates that it
//! changes for itself.
//!
//! Rows are always taken in the same order, so that writers seldom stand in each other's way; where they do, the server
//! ends one of them, and that one is tried again from its beginning.

use std::collections::HashMap;
use std::time::Duration;

use cert::{Fingerprint, Timestamp};

use super::connect::SERVER_TIMEOUT;
use super::derived::Derived;
use super::journal::{self, CommitMarker};
use super::rows_out::{Encoded, Value};
use super::store::PostgresStore;
use super::view::View;
use super::{certificate_number, certificate_rows, schema};
use crate::engine::Engine;
use crate::engine_writer::EngineWriter;
use crate::journal::change_row::NewChange;
use crate::journal::entry::{Entry, forget_inputs};
use crate::retry::Backoff;
use crate::rows::{parse_fingerprint, stored_fingerprint};
use crate::{
    AssignedTrust, CertId, Error, InputDigest, JournalId, Migration, Origins, Put, PutKind, PutOutcome,
    Removal, Result, Snapshot, Transaction, binding_rows, owner_trust_rows, packed, provenance, purge,
};

const DOING: &str = "writing";

const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

/// What writers take, with the schema's name ("Khrd").
const LOCK: i32 = 0x4b68_7264;

/// How often the server is asked whether a commit has come through whose answer was lost.
const QUESTIONS: u32 = 200;

/// Whether a writer excludes all others, or only exclusive ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriterMode {
    Exclusive,
    Concurrent,
}

/// The write transaction.
pub(super) struct Writer<'s> {
    pub(super) view: View<'s>,
    pub(super) now: Timestamp,
    pub(super) journal: Entry,
    /// It is the last one of its entry.
    last: bool,
}

impl WriterMode {
    /// Returns what begins a transaction, unless others hold the lock for longer than `patience`. The lock ends with
    /// it; who waits to be alone is not overtaken by those who come later.
    pub(super) fn begin(self, patience: Duration) -> String {
        let lock = match self {
            Self::Exclusive => "pg_advisory_xact_lock",
            Self::Concurrent => "pg_advisory_xact_lock_shared",
        };
        // Notes for the search index are moved into it with this much memory at a time.
        format!(
            "{BEGIN}; SET LOCAL work_mem = '64MB'; SET LOCAL lock_timeout = {};
            SELECT {lock}({LOCK}, hashtext(current_schema())); SET LOCAL lock_timeout TO DEFAULT",
            patience.as_millis()
        )
    }
}

impl<'s> Writer<'s> {
    pub(super) fn begin(
        store: &'s PostgresStore,
        mode: WriterMode,
        command: &str,
        journal: Option<JournalId>,
        now: Timestamp,
    ) -> Result<Self> {
        let view = View::within(store, store.server.begin(&mode.begin(SERVER_TIMEOUT))?);
        let journal = Entry::open(&view, command, journal, now)?;
        Ok(Self { view, now, journal, last: false })
    }

    /// Remembers inputs, in the order of their digests.
    fn write_inputs(&self, mut inputs: Vec<(InputDigest, CertId)>) -> Result<()> {
        const SQL: &str = "INSERT INTO input (digest, cert, first, last)
            SELECT digest, cert, $3, $3 FROM unnest($1::bytea[], $2::bigint[]) AS new (digest, cert)
            ON CONFLICT (digest) DO UPDATE SET cert = excluded.cert, last = excluded.last";
        inputs.sort_unstable();
        // The same input twice in one statement would be an error; the last one counts.
        inputs.reverse();
        inputs.dedup_by_key(|(digest, _)| *digest);
        inputs.reverse();
        if inputs.is_empty() {
            return Ok(());
        }
        let digests: Vec<&[u8]> = inputs.iter().map(|(digest, _)| digest.0.as_slice()).collect();
        let certs: Vec<i64> = inputs.iter().map(|(_, cert)| cert.0).collect();
        self.view.connection().execute(SQL, &[&digests, &certs, &self.journal.id.0], DOING).map(drop)
    }

    /// Finds out whether a commit came through whose answer was lost.
    fn check_commit(store: &PostgresStore, marker: &CommitMarker, lost: Error) -> Result<()> {
        let mut pause = Backoff::of_a_server();
        for _ in 0..QUESTIONS {
            let asked = store
                .server
                .begin(BEGIN)
                .and_then(|connection| marker.is_committed(&View::within(store, connection)));
            match asked {
                Ok(Some(true)) => return Ok(()),
                Ok(Some(false)) => return Err(lost),
                Ok(None) => pause.sleep(),
                Err(error) if error.is_transient() => pause.sleep(),
                Err(error) => return Err(error),
            }
        }
        Err(Error::Server {
            path: store.server.path().to_owned(),
            doing: "committing",
            source: "the connection was lost, and it could not be found out whether everything was written"
                .into(),
            transient: false,
        })
    }
}

impl<'s> EngineWriter for Writer<'s> {
    type Engine = View<'s>;

    fn engine(&self) -> &View<'s> {
        &self.view
    }

    fn now(&self) -> Timestamp {
        self.now
    }

    fn record_all<'c>(
        &mut self,
        changes: impl IntoIterator<Item = (Fingerprint, NewChange<'c>)>,
    ) -> Result<()> {
        journal::write(&mut self.journal, &self.view, changes.into_iter())
    }
}

impl Transaction for Writer<'_> {
    fn put(&mut self, batch: &[Put<'_>]) -> Result<Vec<PutOutcome>> {
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        let mut adds = Vec::new();
        let mut replaces = Vec::new();
        for (index, put) in batch.iter().enumerate() {
            if certificate_rows::replaced(&put.kind).is_some() {
                replaces.push((index, put));
                continue;
            }
            let fingerprint = &put.certificate.fingerprint;
            let number = match put.kind {
                PutKind::Restored { id, .. } => id.0,
                _ => certificate_number::number(put.kind.first_seen(self.now), fingerprint),
            };
            adds.push((stored_fingerprint(fingerprint), number, index));
        }
        let mut added =
            if adds.is_empty() { HashMap::new() } else { certificate_rows::claim(&self.view, &mut adds)? };
        certificate_rows::insert(&self.view, self.now, batch, &mut added)?;
        let locked = certificate_rows::lock(&self.view, &replaces)?;
        let changes = batch.iter().enumerate().filter_map(|(index, put)| {
            let change = match (&put.kind, locked.get(&index)) {
                (PutKind::Merged { id, added, .. }, Some(_)) => {
                    NewChange::Merged(added, put.origin.as_ref().map(|_| *id))
                }
                (PutKind::Shrunk { id, .. }, Some(_)) => NewChange::Shrunk(*id),
                _ if added.contains_key(&index) => NewChange::Added,
                _ => return None,
            };
            Some((put.certificate.fingerprint, change))
        });
        journal::write(&mut self.journal, &self.view, changes)?;

        let mut derived = Derived::default();
        certificate_rows::replace(&self.view, self.now, &locked, &mut derived)?;
        let (mut packets, mut inputs, mut shrunk) = (Encoded::default(), Vec::new(), Vec::new());
        let mut outcomes = Vec::with_capacity(batch.len());
        for (index, put) in batch.iter().enumerate() {
            let id = added.get(&index).copied().or_else(|| locked.get(&index).map(|locked| locked.id));
            let Some(id) = id else {
                outcomes.push(PutOutcome::Conflict);
                continue;
            };
            packets.push(&[Value::Long(id), Value::Bytes(&put.certificate.bytes)]);
            derived.insert(CertId(id), &put.certificate.packed, &put.certificate.rows);
            inputs.extend(put.inputs.iter().map(|input| (*input, CertId(id))));
            if matches!(put.kind, PutKind::Shrunk { .. }) {
                shrunk.push(CertId(id));
            }
            outcomes.push(PutOutcome::Done(CertId(id)));
        }
        self.view.connection().copy("packets (cert, bytes)", packets, DOING)?;
        derived.flush(&self.view)?;
        self.write_inputs(inputs)?;
        forget_inputs(&self.view, &shrunk)?;
        Ok(outcomes)
    }

    fn remember_inputs(&mut self, inputs: &[(InputDigest, CertId)]) -> Result<()> {
        self.write_inputs(inputs.to_vec())
    }

    fn set_origins(&mut self, id: CertId, origins: &Origins) -> Result<()> {
        provenance::set_origins(&self.view, id, origins)
    }

    fn remember_migration(&mut self, migration: &Migration) -> Result<()> {
        provenance::remember(&self.view, migration)
    }

    fn set_owner_trust(&mut self, primary: &Fingerprint, trust: Option<AssignedTrust>) -> Result<()> {
        owner_trust_rows::set(self, primary, trust)
    }

    fn decide_for_everybody(&mut self) -> Result<()> {
        const MAY: &str = "SELECT has_function_privilege('trust_for_everybody()', 'EXECUTE')";
        const SET: &str = "SELECT set_config('keyhoard.everybody', 'on', true)";
        if self.view.first(MAY, &[], DOING, |row| row.get(0))? != Some(true) {
            let reason = "this user may not; the owner of the tables can GRANT EXECUTE ON FUNCTION trust_for_everybody()";
            return Err(Error::NotForEverybody { path: self.view.path().to_owned(), reason });
        }
        self.view.first(SET, &[], DOING, |_| Ok(())).map(drop)
    }

    fn forget_owner_trust(&mut self, primaries: &[Fingerprint]) -> Result<()> {
        owner_trust_rows::forget(self, primaries)
    }

    fn remove(&mut self, ids: &[CertId], removal: Removal) -> Result<()> {
        const LOCK: &str = "SELECT id, fingerprint FROM cert WHERE id = ANY ($1) ORDER BY id FOR UPDATE";
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let mut there = Vec::new();
        for row in self.view.connection().rows(LOCK, &[&ids], DOING)? {
            let id: i64 = self.view.column(&row, 0)?;
            let fingerprint = parse_fingerprint(self.view.column(&row, 1)?);
            there.push((id, fingerprint.ok_or_else(|| self.view.corrupt(id, packed::Error::FINGERPRINT))?));
        }
        let ids: Vec<i64> = there.iter().map(|(id, _)| *id).collect();
        let certs: Vec<CertId> = ids.iter().copied().map(CertId).collect();
        let fingerprints: Vec<Fingerprint> = there.iter().map(|(_, fingerprint)| *fingerprint).collect();
        let stored: Vec<Vec<u8>> = fingerprints.iter().map(stored_fingerprint).collect();
        match removal {
            Removal::Undoable => {
                let removed = there.iter().map(|(id, key)| (*key, NewChange::Removed(CertId(*id))));
                journal::write(&mut self.journal, &self.view, removed)?;
                self.forget_owner_trust(&fingerprints)?;
                let user_ids = self.view.user_ids(&ids)?;
                for (id, fingerprint) in &there {
                    let gone = user_ids.get(id).into_iter().flatten().map(|(_, value)| value.as_slice());
                    binding_rows::remove_idle(&self.view, fingerprint, gone)?;
                }
            }
            Removal::Purge => {
                for (id, stored) in ids.iter().zip(&stored) {
                    provenance::forget(&self.view, Some(CertId(*id)), stored)?;
                    Entry::purge(&self.view, stored)?;
                }
                let removed = fingerprints.iter().map(|fingerprint| (*fingerprint, NewChange::Purged));
                journal::write(&mut self.journal, &self.view, removed)?;
            }
        }
        let mut derived = Derived::default();
        derived.remove(&self.view, &ids)?;
        derived.flush(&self.view)?;
        for sql in [
            "DELETE FROM packets WHERE cert = ANY ($1)",
            "DELETE FROM verdicts WHERE cert = ANY ($1)",
            "DELETE FROM cert WHERE id = ANY ($1)",
        ] {
            self.view.connection().execute(sql, &[&ids], DOING)?;
        }
        const NAMED: &str = "DELETE FROM primary_key WHERE fingerprint = ANY ($1)";
        self.view.connection().execute(NAMED, &[&stored], DOING)?;
        if removal == Removal::Purge {
            const TRUST: &str = "DELETE FROM owner_trust WHERE fingerprint = ANY ($1)";
            self.view.connection().execute(TRUST, &[&stored], DOING)?;
            binding_rows::purge(&self.view, &fingerprints)?;
            schema::delete_copies(self.view.connection())?;
        }
        forget_inputs(&self.view, &certs)
    }

    fn purge_removed(&mut self, primary: &Fingerprint) -> Result<bool> {
        if self.view.primary(primary)?.is_some() || purge::remains(&self.view, primary)? == 0 {
            return Ok(false);
        }
        self.record(primary, NewChange::Purged)?;
        Ok(true)
    }

    fn snapshot(&mut self) -> Result<&dyn Snapshot> {
        Ok(&self.view)
    }

    fn journal(&self) -> JournalId {
        self.journal.id
    }

    fn finish_journal(&mut self) -> Result<()> {
        self.last = true;
        self.journal.finish(&self.view)
    }

    fn finish_journal_if_changed(&mut self) -> Result<()> {
        if self.journal.remove_if_unchanged(&self.view)? { Ok(()) } else { self.finish_journal() }
    }

    fn mark_undone(&mut self, entry: JournalId) -> Result<()> {
        self.journal.mark_undone(&self.view, entry)
    }

    fn commit(self: Box<Self>) -> Result<()> {
        let Self { view, journal, last, .. } = *self;
        let marker = journal::close(&journal, &view)?;
        let store = view.store;
        match view.commit() {
            // The server went away between the question and the answer.
            Err(error) if error.is_transient() => Self::check_commit(store, &marker, error),
            Ok(()) if last && store.shape.search_index => {
                clean_search(store);
                Ok(())
            }
            done => done,
        }
    }
}

/// Has the search index brought up to date. Without it searches take longer, and whoever writes next does it.
fn clean_search(store: &PostgresStore) {
    if let Ok(connection) = store.server.take()
        && connection.batch("SELECT clean_search()", "bringing the search index up to date").is_ok()
    {
        store.server.give_back(connection);
    }
}

#[cfg(test)]
mod tests {
    use scratch_postgres::{Listen, Server};

    use super::*;
    use crate::postgres::Address;

    #[test]
    fn a_writer_that_holds_the_lock_for_too_long_is_reported() {
        let server = Server::start(Listen::Socket, &["fsync=off"]).expect("a server of its own");
        let address = Address::parse(&server.url("schema=locks")).expect("a URL");
        let store = PostgresStore::create(address, 0).expect("create");
        let begin = |mode: WriterMode, patience| store.server.begin(&mode.begin(patience));
        let holder = begin(WriterMode::Exclusive, SERVER_TIMEOUT).expect("nobody else writes");
        for mode in [WriterMode::Exclusive, WriterMode::Concurrent] {
            let refused = begin(mode, Duration::from_millis(50)).err();
            assert!(matches!(refused, Some(Error::Locked { .. })), "{refused:?}");
        }
        drop(holder);
        begin(WriterMode::Concurrent, SERVER_TIMEOUT).expect("nobody else writes");
    }
}
