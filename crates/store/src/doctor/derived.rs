//! Comparing rows with the packets that they are derived from, and deriving them again.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;

use super::{Derive, Finding, Rebuilt, StoredCertificate};
use crate::engine::{Column, Engine, joined};
use crate::packed::{self, Packed};
use crate::rows::Rows;
use crate::{CertId, Error, Result};

/// Certificates and bytes that are derived at once.
const BATCH: i64 = 256;
const BATCH_BYTES: i64 = 8 << 20;

/// Certificates whose index rows are deferred while everything is derived again.
const DEFERRED: usize = 20_000;

const CHECKING: &str = "checking";
const REBUILDING: &str = "deriving the rows again";

/// The derived tables of an engine.
pub(crate) trait DerivedTables {
    /// Whether there is [`SEARCHED`].
    const HAS_SEARCHED: bool;

    /// Tables beside [`ORPHANED`] that are not derived, and which of their rows refer to rows that are not there.
    const ORPHANED: &'static [(&'static str, &'static str)] = &[];

    /// Says in which tables, but for those of the facts, certificates have other rows than these.
    fn differing(&mut self, certificates: &[(CertId, Rows)]) -> Result<HashSet<(&'static str, CertId)>>;

    /// Finds what is wrong in the index of user IDs, once all certificates were looked at.
    fn check_search(&mut self, _damaged: &HashSet<i64>, _found: &mut dyn FnMut(Finding)) -> Result<()> {
        Ok(())
    }

    /// Takes every row away.
    fn clear(&mut self) -> Result<()>;

    /// Writes the rows of a certificate, its index rows not before [`DerivedTables::flush`].
    fn insert(&mut self, id: CertId, packed: &Packed, rows: &Rows) -> Result<()>;

    /// Writes the index rows.
    fn flush(&mut self) -> Result<()>;
}

/// The search's own list of what it knows.
pub(crate) const SEARCHED: &str = "user_id_search_docsize";

/// Every derived table, and its column that names the certificate.
const TABLES: [(&str, &str); 8] = [
    ("self_facts", "cert"),
    ("third_party", "cert"),
    ("user_id", "cert"),
    (SEARCHED, "id"),
    ("key_id", "cert"),
    ("keygrip", "cert"),
    ("mail", "cert"),
    ("certification", "cert"),
];

/// Certificates whose packets are not there.
const LOST: &str = "id NOT IN (SELECT cert FROM packets)";

/// Tables that are not derived, and which of their rows refer to rows that are not there.
const ORPHANED: [(&str, &str); 7] = [
    ("packets", "NOT EXISTS (SELECT 1 FROM cert WHERE id = packets.cert)"),
    ("verdicts", "NOT EXISTS (SELECT 1 FROM cert WHERE id = verdicts.cert)"),
    ("input", "NOT EXISTS (SELECT 1 FROM cert WHERE id = input.cert)"),
    ("tofu_signature", "binding NOT IN (SELECT id FROM tofu_binding)"),
    ("tofu_encryption", "binding NOT IN (SELECT id FROM tofu_binding)"),
    ("user_id_origin", "cert NOT IN (SELECT id FROM cert UNION ALL SELECT cert FROM former)"),
    ("former", "(journal, number) NOT IN (SELECT journal, number FROM change)"),
];

/// Checks each row against the bytes it was derived from.
pub(crate) fn check<E: Engine, T: DerivedTables>(
    engine: &E,
    tables: &mut T,
    derive: &mut Derive<'_>,
    found: &mut dyn FnMut(Finding),
) -> Result<()> {
    for (table, orphaned) in T::ORPHANED.iter().copied().chain(ORPHANED) {
        match engine.number(&format!("SELECT count(*) FROM {table} WHERE {orphaned}"))? {
            0 => {}
            rows => found(Finding::Orphans { table, rows }),
        }
    }
    for cert in unreadable_verdicts(engine)? {
        found(Finding::Rows { cert, table: "verdicts" });
    }
    let mut expected: BTreeMap<&str, u64> = BTreeMap::new();
    let mut damaged: HashSet<i64> = find_lost(engine, found)?.into_iter().collect();
    each_batch(engine, |batch| {
        let own: HashMap<i64, Vec<u8>> = values(engine, "facts FROM self_facts", batch)?;
        let others: HashMap<i64, Vec<u8>> = values(engine, "facts FROM third_party", batch)?;
        for kept in batch.iter_mut() {
            own.get(&kept.id.0).into_iter().for_each(|own| kept.load_proven(own));
        }
        let (mut sound, mut certificates) = (Vec::new(), Vec::new());
        for (kept, facts) in batch.iter().zip(derive(batch)) {
            let own = own.get(&kept.id.0).map(Vec::as_slice);
            let others = others.get(&kept.id.0).map(Vec::as_slice);
            let damage = own.and_then(|own| kept.damage(own));
            let facts = facts.map(|facts| kept.comparable(facts, own, others));
            match facts.and_then(|facts| damage.map_or(Ok(facts), Err)) {
                Err(reason) => {
                    damaged.insert(kept.id.0);
                    found(Finding::Bytes { cert: kept.id, reason });
                }
                Ok(facts) => {
                    let packed = packed::pack(&facts, &kept.bytes);
                    let has_others = !packed.third_party.is_empty();
                    certificates.push((kept.id, Rows::new(&facts)));
                    sound.push([
                        ("packets", 0, kept.fingerprint == Some(facts.primary().fingerprint)),
                        ("self_facts", 1, own.is_some_and(|own| packed::is_same(own, &packed.own))),
                        (
                            "third_party",
                            usize::from(has_others),
                            others.unwrap_or_default() == packed.third_party,
                        ),
                    ]);
                }
            }
        }
        let differing = tables.differing(&certificates)?;
        for ((cert, rows), facts) in certificates.iter().zip(sound) {
            let indexes = TABLES.iter().filter_map(|&(table, _)| {
                let count = match table {
                    "self_facts" | "third_party" => return None,
                    SEARCHED => usize::from(T::HAS_SEARCHED),
                    "user_id" => rows.user_ids.len(),
                    "key_id" => rows.key_ids.len(),
                    "keygrip" => rows.keygrips.len(),
                    "mail" => rows.mails.len(),
                    _ => rows.issuers.len(),
                };
                Some((table, count, !differing.contains(&(table, *cert))))
            });
            for (table, rows, is_right) in facts.into_iter().chain(indexes) {
                *expected.entry(table).or_default() += rows as u64;
                if !is_right {
                    found(Finding::Rows { cert: *cert, table });
                }
            }
        }
        Ok(())
    })?;
    tables.check_search(&damaged, found)?;
    let damaged = joined(damaged.into_iter());
    for (table, cert) in TABLES.into_iter().filter(|(table, _)| T::HAS_SEARCHED || *table != SEARCHED) {
        let sql = format!("SELECT count(*) FROM {table} WHERE NOT {cert} {}", E::IN_LIST);
        let count = engine.first(&sql, &[&damaged], CHECKING, |row| row.count(0))?.unwrap_or(0);
        let expected = expected.get(table).copied().unwrap_or(0);
        if count != expected {
            found(Finding::Count { table, found: count, expected });
        }
    }
    Ok(())
}

/// Derives all rows from the bytes again, and removes rows that belong to nothing.
pub(crate) fn rebuild<T: DerivedTables>(
    engine: &impl Engine,
    tables: &mut T,
    derive: &mut Derive<'_>,
) -> Result<Rebuilt> {
    let mut proven = refuse_damaged(engine)?;
    tables.clear()?;
    let mut lost = Vec::new();
    find_lost(engine, &mut |finding| lost.push(finding))?;
    for (table, orphaned) in [("cert", LOST)].into_iter().chain(T::ORPHANED.iter().copied()).chain(ORPHANED) {
        engine.execute(&format!("DELETE FROM {table} WHERE {orphaned}"), &[], REBUILDING)?;
    }
    for CertId(id) in unreadable_verdicts(engine)? {
        engine.execute("DELETE FROM verdicts WHERE cert = ?1", &[&id], REBUILDING)?;
    }
    let (mut deferred, mut certificates) = (0, 0);
    each_batch(engine, |batch| {
        for kept in batch.iter_mut() {
            kept.proven = proven.remove(&kept.id).unwrap_or_default();
        }
        for (kept, facts) in batch.iter().zip(derive(batch)) {
            let facts = facts.map_err(|reason| underivable(engine, kept.id, reason))?;
            tables.insert(kept.id, &packed::pack(&facts, &kept.bytes), &Rows::new(&facts))?;
        }
        certificates += batch.len() as u64;
        deferred += batch.len();
        if deferred >= DEFERRED {
            deferred = 0;
            tables.flush()?;
        }
        Ok(())
    })?;
    tables.flush()?;
    Ok(Rebuilt { certificates, lost })
}

/// Refuses to derive anything from bytes that have changed: nothing would tell so afterwards. Returns what the rows that
/// are still there know to be [proven](StoredCertificate::proven).
fn refuse_damaged(engine: &impl Engine) -> Result<HashMap<CertId, Vec<u32>>> {
    let mut proven = HashMap::new();
    each_batch(engine, |batch| {
        let own: HashMap<i64, Vec<u8>> = values(engine, "facts FROM self_facts", batch)?;
        for kept in batch {
            let Some(own) = own.get(&kept.id.0) else { continue };
            if let Some(reason) = kept.damage(own) {
                return Err(underivable(engine, kept.id, reason));
            }
            kept.load_proven(own);
            if !kept.proven.is_empty() {
                proven.insert(kept.id, std::mem::take(&mut kept.proven));
            }
        }
        Ok(())
    })?;
    Ok(proven)
}

fn underivable(engine: &impl Engine, CertId(cert): CertId, reason: String) -> Error {
    Error::Underivable { path: engine.path().to_owned(), cert, reason }
}

/// Reads all certificates in order, several at a time.
fn each_batch(
    engine: &impl Engine,
    mut each: impl FnMut(&mut [StoredCertificate]) -> Result<()>,
) -> Result<()> {
    const CERTS: &str = "SELECT id, fingerprint, superseded FROM cert WHERE id > ?1 ORDER BY id LIMIT ?2";
    let mut after = i64::MIN;
    loop {
        let certs = engine.list(CERTS, &[&after, &BATCH], CHECKING, |row| {
            let id = row.get(0)?;
            let superseded = packed::unpack_positions(row.bytes(2)?);
            Ok(StoredCertificate {
                id: CertId(id),
                fingerprint: row.fingerprint(1)?,
                bytes: Vec::new(),
                superseded: superseded.map_err(|source| engine.corrupt(id, source))?,
                proven: Vec::new(),
            })
        })?;
        let Some(last) = certs.last() else { return Ok(()) };
        after = last.id.0;
        let sizes: HashMap<i64, i64> = values(engine, "CAST(length(bytes) AS bigint) FROM packets", &certs)?;
        let (mut batch, mut size) = (Vec::new(), 0);
        for kept in certs {
            let is_last = kept.id.0 == after;
            size += sizes.get(&kept.id.0).unwrap_or(&0);
            batch.push(kept);
            if size >= BATCH_BYTES || is_last {
                let mut bytes = values(engine, "bytes FROM packets", &batch)?;
                batch.retain_mut(|kept| {
                    let there = bytes.remove(&kept.id.0);
                    there.map(|bytes| kept.bytes = bytes).is_some()
                });
                each(&mut batch)?;
                batch.clear();
                size = 0;
            }
        }
    }
}

/// Returns a value of each certificate that has one, by the certificate's number; `which` says what from which table.
fn values<E: Engine, T: Column>(
    engine: &E,
    which: &str,
    certs: &[StoredCertificate],
) -> Result<HashMap<i64, T>> {
    let sql = format!("SELECT cert, {which} WHERE cert {}", E::IN_LIST);
    let ids = joined(certs.iter().map(|kept| kept.id.0));
    let pairs = engine.list(&sql, &[&ids], CHECKING, |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(pairs.into_iter().collect())
}

/// Finds the certificates whose kept verdicts cannot be read.
fn unreadable_verdicts(engine: &impl Engine) -> Result<Vec<CertId>> {
    let mut unreadable = Vec::new();
    engine.each_of_many_rows("SELECT cert, verdicts FROM verdicts ORDER BY cert", CHECKING, |row| {
        if packed::unpack_verdicts(row.bytes(1)?).is_err() {
            unreadable.push(CertId(row.get(0)?));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(unreadable)
}

/// Finds the certificates whose packets are not there.
fn find_lost(engine: &impl Engine, found: &mut dyn FnMut(Finding)) -> Result<Vec<i64>> {
    let sql = format!("SELECT id, fingerprint FROM cert WHERE {LOST} ORDER BY id");
    engine.list(&sql, &[], CHECKING, |row| {
        let id = row.get(0)?;
        found(Finding::Lost { cert: CertId(id), fingerprint: row.fingerprint(1)? });
        Ok(id)
    })
}
