//! Writing: the one transaction at a time that changes anything.

use std::collections::HashSet;

use cert::{Fingerprint, Timestamp};
use rusqlite::{Connection, params};

use super::derived::Derived;
use super::early_sync::EarlySync;
use super::error::Context;
use super::store::SqliteStore;
use super::view::View;
use super::{derived, journal, upgrade, wal, write_lock};
use crate::engine::{Engine, Parameters, Text, stored_time};
use crate::engine_writer::EngineWriter;
use crate::journal::change_row::NewChange;
use crate::journal::entry::{Entry, forget_inputs};
use crate::rows::{parse_fingerprint, stored_fingerprint};
use crate::{
    AssignedTrust, CertId, Error, InputDigest, JournalId, Migration, Origin, Origins, Put, PutKind,
    PutOutcome, ReadCertificates, Removal, Result, Snapshot, Transaction, binding_rows, owner_trust_rows,
    packed, provenance, purge,
};

const DOING: &str = "writing";

/// SQLite's cache while a transaction lasts, in negated KiB: a page that changes again after it was driven out into the
/// log makes SQLite read the log once more from there on, to sum it up anew.
const WRITING_CACHE: i64 = -8 << 10;
/// The same at all other times; SQLite's own default.
const READING_CACHE: i64 = -2000;

/// The write transaction.
pub(super) struct Writer<'s> {
    pub(super) view: View<'s>,
    pub(super) now: Timestamp,
    pub(super) journal: Entry,
    /// The database was empty, and still has to be given its write-ahead log.
    needs_wal: bool,
    /// It is the first and has begun early: what it writes goes to the disk before it ends.
    early: Option<EarlySync>,
    /// Nothing that was removed may be left in the files.
    purged: bool,
    deferred: BufferedRows,
    /// What is deferred is written when it is needed, else after each call.
    pub(super) defers: bool,
}

/// What goes into tables in no order, until it is written in theirs.
#[derive(Default)]
struct BufferedRows {
    derived: Option<Derived>,
    inputs: Vec<(InputDigest, CertId)>,
    /// Certificates that were added: the index of keys does not know of them yet.
    added: HashSet<Fingerprint>,
}

impl<'s> Writer<'s> {
    pub(super) fn begin(
        store: &'s SqliteStore,
        command: &str,
        journal: Option<JournalId>,
        now: Timestamp,
    ) -> Result<Self> {
        let connection = store.take()?;
        let needs_wal = wal::begin_writing(&connection, &store.path, &store.access, store.is_read())?;
        Self::begun(store, connection, needs_wal, command, journal, now)
    }

    /// Begins if there is nothing in the database yet, and nobody else writes.
    pub(super) fn begin_bulk_load(
        store: &'s SqliteStore,
        command: &str,
        now: Timestamp,
    ) -> Result<Option<Self>> {
        let connection = store.take()?;
        if !wal::begin_bulk_load(&connection, &store.path, &store.access, store.is_read())? {
            store.give_back(connection);
            return Ok(None);
        }
        let early = EarlySync::open(&store.path);
        let writer = Self::begun(store, connection, true, command, None, now)?;
        Ok(Some(Self { early, ..writer }))
    }

    fn begun(
        store: &'s SqliteStore,
        connection: Connection,
        needs_wal: bool,
        command: &str,
        journal: Option<JournalId>,
        now: Timestamp,
    ) -> Result<Self> {
        let view = View::within(store, connection);
        view.check_version()?;
        view.set_cache(WRITING_CACHE)?;
        let journal = Entry::open(&view, command, journal, now)?;
        let deferred = BufferedRows::default();
        Ok(Self { view, now, journal, needs_wal, early: None, purged: false, deferred, defers: false })
    }

    fn run(&self, sql: &str, parameters: Parameters<'_>) -> Result<u64> {
        self.view.execute(sql, parameters, DOING)
    }

    /// Returns those primary keys of what would be added that the index of keys knows.
    fn conflicts(&self, batch: &[Put<'_>]) -> Result<HashSet<Fingerprint>> {
        let adding = batch.iter().filter(|put| put.kind.adds()).map(|put| put.certificate.fingerprint);
        let adding: Vec<Fingerprint> = adding.collect();
        let there = self.view.by_fingerprint(&adding)?;
        Ok(adding.into_iter().zip(there).filter(|(_, id)| id.is_some()).map(|(primary, _)| primary).collect())
    }

    fn put_one(&mut self, put: &Put<'_>, conflicts: &HashSet<Fingerprint>) -> Result<PutOutcome> {
        let fingerprint = put.certificate.fingerprint;
        if put.kind.adds() && (conflicts.contains(&fingerprint) || !self.deferred.added.insert(fingerprint)) {
            return Ok(PutOutcome::Conflict);
        }
        let user_ids = &put.certificate.rows.user_ids;
        let id = match &put.kind {
            PutKind::New | PutKind::Migrated { .. } | PutKind::Copied { .. } | PutKind::Restored { .. } => {
                self.record(&fingerprint, NewChange::Added)?;
                let id = self.insert(put, &fingerprint)?;
                let derived = self.deferred.derived.get_or_insert_default();
                derived.insert(&self.view, id, &put.certificate.packed, &put.certificate.rows)?;
                id
            }
            PutKind::Merged { id, generation, .. } | PutKind::Shrunk { id, generation } => {
                if !self.is_current(*id, *generation, &fingerprint)? {
                    return Ok(PutOutcome::Conflict);
                }
                let change = match &put.kind {
                    PutKind::Merged { added, .. } => {
                        NewChange::Merged(added, put.origin.as_ref().map(|_| *id))
                    }
                    _ => NewChange::Shrunk(*id),
                };
                self.record(&fingerprint, change)?;
                self.update(put, *id)?;
                let before = self.view.user_ids(id.0)?;
                binding_rows::rebind(&self.view, &fingerprint, &before, user_ids, self.now)?;
                let derived = self.deferred.derived.get_or_insert_default();
                derived.replace(&self.view, *id, &put.certificate.packed, &put.certificate.rows)?;
                *id
            }
        };
        self.deferred.inputs.extend(put.inputs.iter().map(|input| (*input, id)));
        Ok(PutOutcome::Done(id))
    }

    fn insert(&self, put: &Put<'_>, fingerprint: &Fingerprint) -> Result<CertId> {
        const SQL: &str = "INSERT INTO cert (id, fingerprint, first_seen, changed, generation, superseded,
            origin_kind, origin_updated, origin_url) VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6, ?7, ?8)";
        let id = match put.kind {
            PutKind::Restored { id, .. } => Some(id.0),
            _ => None,
        };
        let (first_seen, changed) = (put.kind.first_seen(self.now), put.kind.changed(self.now));
        let Origin { kind, updated, url } = put.origin.clone().unwrap_or_default();
        let row: Parameters<'_> = &[
            &id,
            &stored_fingerprint(fingerprint),
            &stored_time(first_seen),
            &stored_time(changed),
            &put.certificate.superseded,
            &i16::from(kind),
            &updated.map(stored_time),
            &url.as_deref().map(Text),
        ];
        self.run(SQL, row)?;
        let id = self.view.connection().last_insert_rowid();
        self.run("INSERT INTO packets (cert, bytes) VALUES (?1, ?2)", &[&id, &put.certificate.bytes])?;
        Ok(CertId(id))
    }

    /// Says whether a certificate is still as somebody has read it.
    fn is_current(&self, id: CertId, generation: i64, fingerprint: &Fingerprint) -> Result<bool> {
        const SQL: &str = "SELECT 1 FROM cert WHERE id = ?1 AND generation = ?2 AND fingerprint = ?3";
        self.view.exists(SQL, &[&id.0, &generation, &stored_fingerprint(fingerprint)])
    }

    fn update(&self, put: &Put<'_>, id: CertId) -> Result<()> {
        const SQL: &str =
            "UPDATE cert SET changed = ?1, generation = generation + 1, superseded = ?2 WHERE id = ?3";
        self.run(SQL, &[&stored_time(self.now), &put.certificate.superseded, &id.0])?;
        self.run("UPDATE packets SET bytes = ?2 WHERE cert = ?1", &[&id.0, &put.certificate.bytes])?;
        put.origin.as_ref().map_or(Ok(()), |origin| provenance::set_origin(&self.view, id, origin))
    }

    /// Writes what is deferred.
    fn flush(&mut self) -> Result<()> {
        let BufferedRows { derived, inputs, .. } = std::mem::take(&mut self.deferred);
        derived.map_or(Ok(()), |derived| derived.flush(&self.view))?;
        self.write_inputs(inputs)
    }

    /// Remembers inputs, in the order of their digests: every page of the table is touched once.
    fn write_inputs(&self, mut inputs: Vec<(InputDigest, CertId)>) -> Result<()> {
        if inputs.is_empty() {
            return Ok(());
        }
        inputs.sort_unstable();
        const SQL: &str = "INSERT INTO input (digest, cert, first, last) VALUES (?1, ?2, ?3, ?3)
            ON CONFLICT (digest) DO UPDATE SET cert = ?2, last = ?3";
        let mut statement = self.view.connection().prepare_cached(SQL).context(self.view.path(), DOING)?;
        for (digest, cert) in inputs {
            statement
                .execute(params![digest.0, cert.0, self.journal.id.0])
                .context(self.view.path(), DOING)?;
        }
        Ok(())
    }

    /// Returns the fingerprint of what was removed.
    fn remove_one(
        &mut self,
        id: CertId,
        removal: Removal,
        derived: &mut Derived,
    ) -> Result<Option<Fingerprint>> {
        let stored = self.view.value("SELECT fingerprint FROM cert WHERE id = ?1", id.0)?;
        let Some(stored) = stored else { return Ok(None) };
        let fingerprint =
            parse_fingerprint(&stored).ok_or_else(|| self.view.corrupt(id.0, packed::Error::FINGERPRINT))?;
        match removal {
            Removal::Undoable => {
                self.record(&fingerprint, NewChange::Removed(id))?;
                self.set_owner_trust(&fingerprint, None)?;
                let user_ids = self.view.user_ids(id.0)?;
                let gone = user_ids.iter().map(|(_, value)| value.as_slice());
                binding_rows::remove_idle(&self.view, &fingerprint, gone)?;
            }
            Removal::Purge => {
                provenance::forget(&self.view, Some(id), &stored)?;
                Entry::purge(&self.view, &stored)?;
                self.record(&fingerprint, NewChange::Purged)?;
            }
        }
        derived.remove(&self.view, id)?;
        self.run("DELETE FROM packets WHERE cert = ?1", &[&id.0])?;
        self.run("DELETE FROM verdicts WHERE cert = ?1", &[&id.0])?;
        self.run("DELETE FROM cert WHERE id = ?1", &[&id.0])?;
        owner_trust_rows::purge(&self.view, &stored)?;
        Ok(Some(fingerprint))
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
        let mut changes = changes.into_iter();
        changes.try_for_each(|(key, change)| journal::write(&mut self.journal, &self.view, &key, &change))
    }
}

impl Transaction for Writer<'_> {
    fn put(&mut self, batch: &[Put<'_>]) -> Result<Vec<PutOutcome>> {
        let conflicts = self.conflicts(batch)?;
        let outcomes = batch.iter().map(|put| self.put_one(put, &conflicts)).collect::<Result<Vec<_>>>()?;
        let shrunk: Vec<CertId> = batch
            .iter()
            .zip(&outcomes)
            .filter_map(|(put, outcome)| match (&put.kind, outcome) {
                (PutKind::Shrunk { id, .. }, PutOutcome::Done(_)) => Some(*id),
                _ => None,
            })
            .collect();
        if !self.defers || !shrunk.is_empty() {
            self.flush()?;
        }
        forget_inputs(&self.view, &shrunk)?;
        if let Some(early) = &mut self.early {
            early.wrote(batch.iter().map(|put| put.certificate.size()).sum());
        }
        Ok(outcomes)
    }

    fn remember_inputs(&mut self, inputs: &[(InputDigest, CertId)]) -> Result<()> {
        self.deferred.inputs.extend(inputs);
        if self.defers { Ok(()) } else { self.flush() }
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
        let reason =
            "a database in a file has no roles; its owner trust counts for everybody who uses the file";
        Err(Error::NotForEverybody { path: self.view.path().to_owned(), reason })
    }

    fn forget_owner_trust(&mut self, primaries: &[Fingerprint]) -> Result<()> {
        owner_trust_rows::forget(self, primaries)
    }

    fn remove(&mut self, ids: &[CertId], removal: Removal) -> Result<()> {
        self.flush()?;
        let mut derived = Derived::default();
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        ids.dedup();
        self.purged |= removal == Removal::Purge;
        let mut removed = Vec::with_capacity(ids.len());
        for id in &ids {
            removed.extend(self.remove_one(*id, removal, &mut derived)?);
        }
        derived.flush(&self.view)?;
        if removal == Removal::Purge {
            binding_rows::purge(&self.view, &removed)?;
        }
        forget_inputs(&self.view, &ids)
    }

    fn purge_removed(&mut self, primary: &Fingerprint) -> Result<bool> {
        self.flush()?;
        if self.view.primary(primary)?.is_some() {
            return Ok(false);
        }
        let left = purge::remains(&self.view, primary)?;
        if left == 0 && !journal::is_overwriting(&self.view, &stored_fingerprint(primary))? {
            return Ok(false);
        }
        self.record(primary, NewChange::Purged)?;
        self.purged = true;
        Ok(true)
    }

    fn snapshot(&mut self) -> Result<&dyn Snapshot> {
        self.flush()?;
        Ok(&self.view)
    }

    fn journal(&self) -> JournalId {
        self.journal.id
    }

    fn finish_journal(&mut self) -> Result<()> {
        self.journal.finish(&self.view)
    }

    fn finish_journal_if_changed(&mut self) -> Result<()> {
        journal::finish_if_changed(&self.journal, &self.view)
    }

    fn mark_undone(&mut self, entry: JournalId) -> Result<()> {
        self.journal.mark_undone(&self.view, entry)
    }

    fn commit(mut self: Box<Self>) -> Result<()> {
        self.flush()?;
        journal::close(&self.journal, &self.view)?;
        if self.purged {
            derived::compact_search(&self.view)?;
            journal::begin_overwriting(&self.journal, &self.view)?;
        }
        write_lock::commit(self.view.connection(), self.view.path())?;
        self.view.set_cache(READING_CACHE)?;
        if self.purged {
            let path = self.view.path();
            let overwritten =
                upgrade::delete_backup(path).and_then(|()| wal::overwrite(self.view.connection(), path));
            let done = overwritten.and_then(|()| journal::finish_overwriting(&self.view));
            done.map_err(|source| Error::NotOverwritten {
                path: self.view.path().to_owned(),
                source: source.into(),
            })?;
        }
        if self.needs_wal {
            wal::enable_wal(self.view.connection());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use cert::certificate::Certificate;
    use cert::facts::{Component, ComponentKind, KeyFacts};
    use cert::packet::Span;

    use super::*;
    use crate::{Facts, Prepared, Store};

    #[test]
    fn a_purge_whose_pages_could_not_be_overwritten_says_so_and_can_be_repeated() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("keyhoard.db");
        let store = SqliteStore::create(&path).expect("create");
        let fingerprint = Fingerprint::V4([1; 20]);
        let key = KeyFacts {
            fingerprint,
            created: Timestamp(1),
            algorithm: verify::PublicKeyAlgorithm(22),
            bits: 255,
            curve: None,
            keygrip: None,
            subgroup_bits: 0,
        };
        let component = Component {
            span: Span { start: 0, end: 4 },
            kind: ComponentKind::Key(key),
            signatures: Vec::new(),
            unread: Vec::new(),
        };
        let facts = Facts { components: vec![component] };
        let certificate = Prepared::new(Certificate { bytes: vec![0; 4], facts });
        let put = Put { certificate: &certificate, kind: PutKind::New, inputs: &[], origin: None };
        let begin = || Writer::begin(&store, "test", None, Timestamp(1)).expect("begin");
        let mut writer = begin();
        writer.put(&[put]).expect("put");
        Box::new(writer).commit().expect("commit");

        let mut writer = begin();
        writer.remove(&[CertId(1)], Removal::Purge).expect("remove");
        writer.finish_journal().expect("finish");
        // SQLite does not vacuum while a statement of the same connection is not finished.
        let mut statement = writer.view.connection().prepare("VALUES (1), (2)").expect("prepare");
        let mut rows = statement.query([]).expect("query");
        rows.next().expect("a row");
        std::mem::forget(rows);
        std::mem::forget(statement);
        let error = Box::new(writer).commit().expect_err("it cannot vacuum");
        assert!(matches!(error, Error::NotOverwritten { .. }), "{error}");
        let other = SqliteStore::open(&path).expect("open");
        assert_eq!(other.snapshot().expect("snapshot").count().expect("count"), 0);
        let purge = || {
            let mut transaction = other.begin("test", None, Timestamp(1)).expect("begin");
            let purged = transaction.purge_removed(&fingerprint).expect("purge");
            transaction.finish_journal().expect("finish");
            transaction.commit().map(|()| purged)
        };
        assert!(purge().expect("it can vacuum"));
        let entries = other.snapshot().expect("snapshot").journal(9).expect("journal");
        assert!(entries.iter().skip_while(|entry| entry.complete).all(|entry| entry.id == JournalId(1)));
        assert!(!purge().expect("commit"), "nothing is left");
    }
}
