//! Writing: the one transaction at a time that changes anything.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use cert::{Facts, Fingerprint, Timestamp};
use rusqlite::{CachedStatement, OptionalExtension, Params, params};

use super::journal::{Journal, NewChange};
use super::read::{View, parse_fingerprint, stored_fingerprint};
use super::rows::Rows;
use super::{SqliteStore, log, search};
use crate::error::Context;
use crate::{
    CertId, InputDigest, JournalId, Origin, Put, PutKind, PutOutcome, Removal, Result, Snapshot, Transaction,
    packed,
};

const DOING: &str = "writing";

/// The write transaction.
pub(super) struct Writer<'s> {
    view: View<'s>,
    now: Timestamp,
    journal: Journal,
    /// The database was empty, and still has to be given its write-ahead log.
    fresh: bool,
}

/// Index rows to be taken away and put in, of a whole batch.
#[derive(Default)]
struct Pending {
    deleted: Table,
    inserted: Table,
    /// What the substring search is to know of certificates whose user IDs are new or changed.
    search: Vec<(i64, String)>,
    unsearchable: Vec<[i64; 1]>,
}

/// Rows of the narrow tables, each with the certificate's number.
#[derive(Default)]
struct Table {
    key_ids: Vec<[i64; 3]>,
    keygrips: Vec<[i64; 2]>,
    mails: Vec<[i64; 2]>,
    issuers: Vec<[i64; 2]>,
    user_ids: Vec<(i64, i64, Vec<u8>)>,
}

impl<'s> Writer<'s> {
    pub(super) fn begin(
        store: &'s SqliteStore,
        command: &str,
        journal: Option<JournalId>,
        now: Timestamp,
    ) -> Result<Self> {
        let connection = store.take()?;
        let reading = store.readers.load(Ordering::Relaxed) > 0;
        let fresh = log::begin_writing(&connection, &store.path, &store.access, reading)?;
        let view = View::within(store, connection);
        super::connect::check_version(view.connection(), view.path())?;
        let journal = Journal::open(&view, command, journal, now)?;
        Ok(Self { view, now, journal, fresh })
    }

    fn prepare(&self, sql: &str) -> Result<CachedStatement<'_>> {
        self.view.connection().prepare_cached(sql).context(self.view.path(), DOING)
    }

    fn run(&self, sql: &str, parameters: impl Params) -> Result<usize> {
        self.prepare(sql)?.execute(parameters).context(self.view.path(), DOING)
    }

    fn put_one(&mut self, put: &Put<'_>, pending: &mut Pending) -> Result<PutOutcome> {
        let fingerprint = put.facts.primary().fingerprint;
        let packed = packed::pack(put.facts);
        let rows = Rows::new(put.facts);
        let id = match &put.kind {
            PutKind::New | PutKind::Restored { .. } => {
                self.journal.write(&self.view, &fingerprint, &NewChange::Added)?;
                let id = self.insert(put, &fingerprint)?;
                pending.insert(id, rows);
                id
            }
            PutKind::Merged { id, generation, .. } | PutKind::Shrunk { id, generation } => {
                if !self.is_current(*id, *generation, &fingerprint)? {
                    return Ok(PutOutcome::Conflict);
                }
                let change = match &put.kind {
                    PutKind::Merged { added, .. } => NewChange::Merged(added),
                    _ => NewChange::Shrunk(*id),
                };
                self.journal.write(&self.view, &fingerprint, &change)?;
                self.update(put, *id)?;
                let old = self.rows_of(*id)?;
                pending.replace(*id, old, rows);
                *id
            }
        };
        self.write_blobs(id, put.bytes, &packed)?;
        self.write_inputs(put.inputs.iter().map(|input| (*input, id)))?;
        Ok(PutOutcome::Done(id))
    }

    fn insert(&self, put: &Put<'_>, fingerprint: &Fingerprint) -> Result<CertId> {
        const SQL: &str = "INSERT INTO cert (id, fingerprint, first_seen, changed, generation, superseded,
            origin_kind, origin_updated, origin_url) VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6, ?7, ?8)";
        let (id, first_seen) = match put.kind {
            PutKind::Restored { id, first_seen } => (Some(id.0), first_seen),
            _ => (None, self.now),
        };
        let Origin { kind, updated, url } = put.origin.clone().unwrap_or_default();
        let updated = updated.map(|updated| updated.0);
        let stored = stored_fingerprint(fingerprint);
        let superseded = superseded(put.facts);
        self.run(SQL, params![id, stored, first_seen.0, self.now.0, superseded, kind, updated, url])?;
        Ok(CertId(self.view.connection().last_insert_rowid()))
    }

    /// Says whether a certificate is still as somebody has read it.
    fn is_current(&self, id: CertId, generation: i64, fingerprint: &Fingerprint) -> Result<bool> {
        self.prepare("SELECT 1 FROM cert WHERE id = ?1 AND generation = ?2 AND fingerprint = ?3")?
            .exists(params![id.0, generation, stored_fingerprint(fingerprint)])
            .context(self.view.path(), DOING)
    }

    fn update(&self, put: &Put<'_>, id: CertId) -> Result<()> {
        const SQL: &str =
            "UPDATE cert SET changed = ?1, generation = generation + 1, superseded = ?2 WHERE id = ?3";
        self.run(SQL, params![self.now.0, superseded(put.facts), id.0])?;
        if let Some(origin) = &put.origin {
            const SQL: &str =
                "UPDATE cert SET origin_kind = ?1, origin_updated = ?2, origin_url = ?3 WHERE id = ?4";
            let updated = origin.updated.map(|updated| updated.0);
            self.run(SQL, params![origin.kind, updated, origin.url, id.0])?;
        }
        Ok(())
    }

    fn write_blobs(&self, id: CertId, bytes: &[u8], packed: &packed::Packed) -> Result<()> {
        self.run("REPLACE INTO packets (cert, bytes) VALUES (?1, ?2)", params![id.0, bytes])?;
        self.run("REPLACE INTO self_facts (cert, facts) VALUES (?1, ?2)", params![id.0, packed.own])?;
        if packed.third_party.is_empty() {
            self.run("DELETE FROM third_party WHERE cert = ?1", [id.0])?;
        } else {
            self.run(
                "REPLACE INTO third_party (cert, facts) VALUES (?1, ?2)",
                params![id.0, packed.third_party],
            )?;
        }
        Ok(())
    }

    /// Returns the index rows that are there for a certificate.
    fn rows_of(&self, id: CertId) -> Result<Rows> {
        let Some(own) = self.view.own(id.0)? else { return Ok(Rows::default()) };
        let third_party = self.view.third_party(id.0)?;
        let facts = packed::unpack(&own, third_party.as_deref());
        Ok(Rows::new(&facts.map_err(|source| self.view.corrupt(id.0, source))?))
    }

    fn write_inputs(&self, inputs: impl Iterator<Item = (InputDigest, CertId)>) -> Result<()> {
        let mut inputs: Vec<_> = inputs.collect();
        inputs.sort_unstable();
        let mut statement = self.prepare(
            "INSERT INTO input (digest, cert, first, last) VALUES (?1, ?2, ?3, ?3)
            ON CONFLICT (digest) DO UPDATE SET cert = ?2, last = ?3",
        )?;
        for (digest, cert) in inputs {
            statement
                .execute(params![digest.0, cert.0, self.journal.id.0])
                .context(self.view.path(), DOING)?;
        }
        Ok(())
    }

    fn write_pending(&self, pending: Pending) -> Result<()> {
        let Pending { mut deleted, mut inserted, search, mut unsearchable } = pending;
        self.run_all(
            "DELETE FROM key_id WHERE key_id = ?1 AND cert = ?2 AND component = ?3",
            &mut deleted.key_ids,
        )?;
        self.run_all("DELETE FROM keygrip WHERE hash = ?1 AND cert = ?2", &mut deleted.keygrips)?;
        self.run_all("DELETE FROM mail WHERE hash = ?1 AND cert = ?2", &mut deleted.mails)?;
        self.run_all("DELETE FROM certification WHERE issuer = ?1 AND cert = ?2", &mut deleted.issuers)?;
        for (cert, component, _) in deleted.user_ids {
            self.run("DELETE FROM user_id WHERE cert = ?1 AND component = ?2", [cert, component])?;
        }
        self.run_all(
            "INSERT INTO key_id (key_id, cert, component) VALUES (?1, ?2, ?3)",
            &mut inserted.key_ids,
        )?;
        self.run_all("INSERT INTO keygrip (hash, cert) VALUES (?1, ?2)", &mut inserted.keygrips)?;
        self.run_all("INSERT INTO mail (hash, cert) VALUES (?1, ?2)", &mut inserted.mails)?;
        self.run_all("INSERT INTO certification (issuer, cert) VALUES (?1, ?2)", &mut inserted.issuers)?;
        for (cert, component, value) in inserted.user_ids {
            const SQL: &str = "INSERT INTO user_id (cert, component, value) VALUES (?1, ?2, ?3)";
            self.run(SQL, params![cert, component, value])?;
        }
        self.run_all("DELETE FROM user_id_search WHERE rowid = ?1", &mut unsearchable)?;
        for (cert, octets) in search {
            self.run("REPLACE INTO user_id_search (rowid, octets) VALUES (?1, ?2)", params![cert, octets])?;
        }
        Ok(())
    }

    /// Runs a statement for each row, in the order of the index.
    fn run_all<const N: usize>(&self, sql: &str, rows: &mut [[i64; N]]) -> Result<()> {
        rows.sort_unstable();
        let mut statement = self.prepare(sql)?;
        for row in rows {
            statement.execute(rusqlite::params_from_iter(row.iter())).context(self.view.path(), DOING)?;
        }
        Ok(())
    }

    fn remove_one(&mut self, id: CertId, removal: Removal, pending: &mut Pending) -> Result<()> {
        let stored: Option<Vec<u8>> = self
            .prepare("SELECT fingerprint FROM cert WHERE id = ?1")?
            .query_row([id.0], |row| row.get(0))
            .optional()
            .context(self.view.path(), DOING)?;
        let Some(stored) = stored else { return Ok(()) };
        let fingerprint =
            parse_fingerprint(&stored).ok_or_else(|| self.view.corrupt(id.0, packed::Error::FINGERPRINT))?;
        pending.deleted.extend(id, self.rows_of(id)?);
        pending.unsearchable.push([id.0]);
        match removal {
            Removal::Undoable => self.journal.write(&self.view, &fingerprint, &NewChange::Removed(id))?,
            Removal::Purge => {
                self.journal.purge(&self.view, &fingerprint)?;
                self.journal.write(&self.view, &fingerprint, &NewChange::Purged)?;
            }
        }
        for sql in [
            "DELETE FROM cert WHERE id = ?1",
            "DELETE FROM packets WHERE cert = ?1",
            "DELETE FROM self_facts WHERE cert = ?1",
            "DELETE FROM third_party WHERE cert = ?1",
        ] {
            self.run(sql, [id.0])?;
        }
        self.run("DELETE FROM owner_trust WHERE fingerprint = ?1", [stored])?;
        Ok(())
    }

    /// Forgets which inputs led to these certificates, in one pass over them all: there is no index by certificate,
    /// since removals are rare and imports are not.
    fn forget_inputs(&self, ids: &[CertId]) -> Result<()> {
        let list: Vec<String> = ids.iter().map(|id| id.0.to_string()).collect();
        for ids in list.chunks(1000) {
            self.run(&format!("DELETE FROM input WHERE cert IN ({})", ids.join(",")), [])?;
        }
        Ok(())
    }
}

impl Transaction for Writer<'_> {
    fn put(&mut self, batch: &[Put<'_>]) -> Result<Vec<PutOutcome>> {
        let mut pending = Pending::default();
        // The index rows come last, so it does not know yet what this batch has added.
        let mut added = HashMap::new();
        let mut outcomes = Vec::with_capacity(batch.len());
        for (number, put) in batch.iter().enumerate() {
            let fingerprint = put.facts.primary().fingerprint;
            let adds = matches!(put.kind, PutKind::New | PutKind::Restored { .. });
            let taken = adds
                && (added.insert(fingerprint, number).is_some()
                    || self.view.primary(&fingerprint)?.is_some());
            outcomes.push(if taken { PutOutcome::Conflict } else { self.put_one(put, &mut pending)? });
        }
        self.write_pending(pending)?;
        let shrunk: Vec<CertId> = batch
            .iter()
            .zip(&outcomes)
            .filter_map(|(put, outcome)| match (&put.kind, outcome) {
                (PutKind::Shrunk { id, .. }, PutOutcome::Done(_)) => Some(*id),
                _ => None,
            })
            .collect();
        self.forget_inputs(&shrunk)?;
        Ok(outcomes)
    }

    fn remember_inputs(&mut self, inputs: &[(InputDigest, CertId)]) -> Result<()> {
        self.write_inputs(inputs.iter().copied())
    }

    fn remove(&mut self, ids: &[CertId], removal: Removal) -> Result<()> {
        let mut pending = Pending::default();
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        ids.dedup();
        for id in &ids {
            self.remove_one(*id, removal, &mut pending)?;
        }
        self.write_pending(pending)?;
        self.forget_inputs(&ids)
    }

    fn snapshot(&self) -> &dyn Snapshot {
        &self.view
    }

    fn journal(&self) -> JournalId {
        self.journal.id
    }

    fn finish_journal(&mut self) -> Result<()> {
        self.journal.finish(&self.view)
    }

    fn mark_undone(&mut self, entry: JournalId) -> Result<()> {
        self.journal.mark_undone(&self.view, entry)
    }

    fn commit(self: Box<Self>) -> Result<()> {
        self.journal.close(&self.view)?;
        self.view.connection().execute_batch("COMMIT").context(self.view.path(), "committing")?;
        if self.fresh {
            log::enter(self.view.connection());
        }
        Ok(())
    }
}

impl Pending {
    fn insert(&mut self, id: CertId, rows: Rows) {
        self.search.push((id.0, search::text(&rows.user_ids)));
        self.inserted.extend(id, rows);
    }

    /// Only what differs is touched.
    fn replace(&mut self, id: CertId, mut old: Rows, mut new: Rows) {
        if old.user_ids != new.user_ids {
            self.search.push((id.0, search::text(&new.user_ids)));
        }
        remove_common(&mut old.key_ids, &mut new.key_ids);
        remove_common(&mut old.keygrips, &mut new.keygrips);
        remove_common(&mut old.mails, &mut new.mails);
        remove_common(&mut old.issuers, &mut new.issuers);
        remove_common(&mut old.user_ids, &mut new.user_ids);
        self.deleted.extend(id, old);
        self.inserted.extend(id, new);
    }
}

impl Table {
    fn extend(&mut self, CertId(id): CertId, rows: Rows) {
        self.key_ids.extend(rows.key_ids.into_iter().map(|(key_id, component)| [key_id, id, component]));
        self.keygrips.extend(rows.keygrips.into_iter().map(|hash| [hash, id]));
        self.mails.extend(rows.mails.into_iter().map(|hash| [hash, id]));
        self.issuers.extend(rows.issuers.into_iter().map(|issuer| [issuer, id]));
        self.user_ids.extend(rows.user_ids.into_iter().map(|(component, value)| (id, component, value)));
    }
}

/// Takes out of two sorted lists what both have.
fn remove_common<T: Ord>(old: &mut Vec<T>, new: &mut Vec<T>) {
    let (mut gone, mut fresh) = (Vec::new(), Vec::new());
    let mut left = std::mem::take(old).into_iter().peekable();
    for value in std::mem::take(new) {
        while let Some(smaller) = left.next_if(|old| *old < value) {
            gone.push(smaller);
        }
        if left.next_if_eq(&value).is_none() {
            fresh.push(value);
        }
    }
    gone.extend(left);
    (*old, *new) = (gone, fresh);
}

/// Packs the positions of the superseded signatures: they cannot be told from the bytes.
fn superseded(facts: &Facts) -> Option<Vec<u8>> {
    let signatures = facts.components.iter().flat_map(|component| &component.signatures);
    let hidden = signatures.filter(|signature| signature.flags.superseded);
    let positions: Vec<u32> = hidden.map(|signature| signature.span.start).collect();
    (!positions.is_empty()).then(|| packed::pack_positions(&positions))
}
