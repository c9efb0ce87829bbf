//! Holding rows against bytes, and deriving them again.

mod trigrams;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;

use cert::Facts;
use rusqlite::params;
use trigrams::Trigrams;

use super::derived::Derived;
use super::error::Context;
use super::store::SqliteStore;
use super::view::{View, list};
use super::{certifications, schema, wal, write_lock};
use crate::doctor::{Derive, Finding, Rebuilt, StoredCertificate};
use crate::rows::{Rows, parse_fingerprint};
use crate::{CertId, Error, Result, packed};

/// Certificates and bytes that are derived at once.
const BATCH: usize = 256;
const BATCH_BYTES: usize = 8 << 20;

/// Certificates whose index rows are deferred while everything is derived again.
const DEFERRED: usize = 20_000;

const CHECKING: &str = "checking";
const REBUILDING: &str = "deriving the rows again";

/// Checks everything: SQLite's structures, then each row against the bytes it was derived from.
pub(super) fn check(
    store: &SqliteStore,
    derive: &mut Derive<'_>,
    found: &mut dyn FnMut(Finding),
) -> Result<()> {
    let view = View::begin(store)?;
    let mut sound = true;
    view.rows("PRAGMA integrity_check", [], CHECKING, |row| {
        let words: String = view.column(row, 0)?;
        if words != "ok" {
            sound = false;
            found(Finding::Structure(words));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    // Rows cannot be looked up in a broken index.
    if sound {
        check_orphans(&view, found)?;
        for cert in unreadable_verdicts(&view)? {
            found(Finding::Rows { cert, table: "verdicts" });
        }
        check_rows(&view, derive, found)?;
    }
    Ok(())
}

/// Derives all rows from the bytes again, in one transaction, and removes rows that belong to nothing.
pub(super) fn rebuild(store: &SqliteStore, derive: &mut Derive<'_>) -> Result<Rebuilt> {
    let connection = store.take()?;
    let needs_wal = wal::begin_writing(&connection, &store.path, &store.access, store.is_read())?;
    let view = View::within(store, connection);
    super::schema::check_version(view.connection(), view.path())?;
    let mut proven = refuse_damaged(&view)?;
    let tables = [schema::DROP_DERIVED, schema::CREATE_DERIVED];
    tables
        .iter()
        .try_for_each(|sql| view.connection().execute_batch(sql))
        .context(&store.path, REBUILDING)?;

    let mut lost = Vec::new();
    check_lost(&view, &mut |finding| lost.push(finding))?;
    for (table, orphaned) in std::iter::once(("cert", LOST)).chain(ORPHANED) {
        let sql = format!("DELETE FROM {table} WHERE {orphaned}");
        view.connection().execute_batch(&sql).context(&store.path, REBUILDING)?;
    }
    for CertId(id) in unreadable_verdicts(&view)? {
        view.execute("DELETE FROM verdicts WHERE cert = ?1", [id], REBUILDING)?;
    }
    let mut derived = Derived::default();
    let (mut deferred, mut certificates) = (0, 0);
    each_batch(&view, |batch| {
        for kept in batch.iter_mut() {
            kept.proven = proven.remove(&kept.id).unwrap_or_default();
        }
        for (kept, facts) in batch.iter().zip(derive(batch)) {
            let id = kept.id;
            let path = || store.path.clone();
            let facts = facts.map_err(|reason| Error::Underivable { path: path(), cert: id.0, reason })?;
            derived.insert(&view, id, &packed::pack(&facts, &kept.bytes), &Rows::new(&facts))?;
            derived.prove(&view, id)?;
        }
        certificates += batch.len() as u64;
        deferred += batch.len();
        if deferred >= DEFERRED {
            deferred = 0;
            std::mem::take(&mut derived).flush(&view)?;
        }
        Ok(())
    })?;
    derived.flush(&view)?;
    write_lock::commit(view.connection(), &store.path)?;
    if needs_wal {
        wal::enable_wal(view.connection());
    }
    Ok(Rebuilt { certificates, lost })
}

/// Reads all certificates in order, several at a time.
fn each_batch(view: &View<'_>, mut each: impl FnMut(&mut [StoredCertificate]) -> Result<()>) -> Result<()> {
    const SQL: &str =
        "SELECT id, fingerprint, superseded, bytes FROM cert JOIN packets ON cert = id ORDER BY id";
    let mut batch: Vec<StoredCertificate> = Vec::new();
    let mut size = 0;
    view.rows(SQL, [], CHECKING, |row| {
        let id: i64 = view.column(row, 0)?;
        let superseded: Option<Vec<u8>> = view.column(row, 2)?;
        let superseded = packed::unpack_positions(&superseded.unwrap_or_default());
        let bytes: Vec<u8> = view.column(row, 3)?;
        size += bytes.len();
        batch.push(StoredCertificate {
            id: CertId(id),
            fingerprint: parse_fingerprint(view.blob(row, 1)?),
            bytes,
            superseded: superseded.map_err(|source| view.corrupt(id, source))?,
            proven: Vec::new(),
        });
        if batch.len() >= BATCH || size >= BATCH_BYTES {
            each(&mut batch)?;
            batch.clear();
            size = 0;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if batch.is_empty() { Ok(()) } else { each(&mut batch) }
}

/// Refuses to derive anything from bytes that have changed: nothing would tell so afterwards. Returns what the rows that
/// are still there know to be [proven](StoredCertificate::proven).
fn refuse_damaged(view: &View<'_>) -> Result<HashMap<CertId, Vec<u32>>> {
    let mut proven = HashMap::new();
    each_batch(view, |batch| {
        for kept in batch {
            let Some(own) = view.own(kept.id.0)? else { continue };
            if let Some(reason) = kept.damage(&own) {
                return Err(Error::Underivable { path: view.path().to_owned(), cert: kept.id.0, reason });
            }
            kept.load_proven(&own);
            if !kept.proven.is_empty() {
                proven.insert(kept.id, std::mem::take(&mut kept.proven));
            }
        }
        Ok(())
    })?;
    Ok(proven)
}

/// Certificates whose packets are not there.
const LOST: &str = "id NOT IN (SELECT cert FROM packets)";

/// Tables that are not derived, and which of their rows refer to rows that are not there.
const ORPHANED: [(&str, &str); 7] = [
    ("packets", "cert NOT IN (SELECT id FROM cert)"),
    ("verdicts", "cert NOT IN (SELECT id FROM cert)"),
    ("input", "cert NOT IN (SELECT id FROM cert)"),
    ("tofu_signature", "binding NOT IN (SELECT id FROM tofu_binding)"),
    ("tofu_encryption", "binding NOT IN (SELECT id FROM tofu_binding)"),
    ("user_id_origin", "cert NOT IN (SELECT id FROM cert UNION ALL SELECT cert FROM former)"),
    ("former", "(journal, number) NOT IN (SELECT journal, number FROM change)"),
];

fn check_orphans(view: &View<'_>, found: &mut dyn FnMut(Finding)) -> Result<()> {
    for (table, orphaned) in ORPHANED {
        match view.number(&format!("SELECT count(*) FROM {table} WHERE {orphaned}"), [])? {
            0 => {}
            rows => found(Finding::Orphans { table, rows }),
        }
    }
    Ok(())
}

/// Finds the certificates whose kept verdicts cannot be read.
fn unreadable_verdicts(view: &View<'_>) -> Result<Vec<CertId>> {
    let mut unreadable = Vec::new();
    view.rows("SELECT cert, verdicts FROM verdicts", [], CHECKING, |row| {
        if packed::unpack_verdicts(view.blob(row, 1)?).is_err() {
            unreadable.push(CertId(view.column(row, 0)?));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(unreadable)
}

/// Finds the certificates whose packets are not there.
fn check_lost(view: &View<'_>, found: &mut dyn FnMut(Finding)) -> Result<Vec<i64>> {
    view.list(&format!("SELECT id, fingerprint FROM cert WHERE {LOST}"), [], CHECKING, |row| {
        let id = view.column(row, 0)?;
        found(Finding::Lost { cert: CertId(id), fingerprint: parse_fingerprint(view.blob(row, 1)?) });
        Ok(id)
    })
}

fn check_rows(view: &View<'_>, derive: &mut Derive<'_>, found: &mut dyn FnMut(Finding)) -> Result<()> {
    let mut expected = BTreeMap::new();
    let mut trigrams = Trigrams::new();
    let mut damaged: HashSet<i64> = check_lost(view, found)?.into_iter().collect();
    each_batch(view, |batch| {
        for kept in batch.iter_mut() {
            if let Some(own) = view.own(kept.id.0)? {
                kept.load_proven(&own);
            }
        }
        for (kept, facts) in batch.iter().zip(derive(batch)) {
            let own = view.own(kept.id.0)?;
            let damage = own.as_ref().and_then(|own| kept.damage(own));
            let others = view.third_party(kept.id.0)?;
            let facts = facts.map(|facts| kept.comparable(facts, own.as_deref(), others.as_deref()));
            match facts.and_then(|facts| damage.map_or(Ok(facts), Err)) {
                Err(reason) => {
                    damaged.insert(kept.id.0);
                    found(Finding::Bytes { cert: kept.id, reason });
                }
                Ok(facts) => {
                    let rows = Rows::new(&facts);
                    trigrams.expect(kept.id.0, &rows.user_ids);
                    check_certificate(view, kept, &facts, &rows, &mut expected, found)?;
                }
            }
        }
        Ok(())
    })?;
    for cert in trigrams.differing(view, &damaged)? {
        found(Finding::Rows { cert: CertId(cert), table: SEARCHED });
    }
    let damaged = list(damaged.into_iter());
    for (table, cert) in TABLES {
        let sql =
            format!("SELECT count(*) FROM {table} WHERE {cert} NOT IN (SELECT value FROM json_each(?1))");
        let count = view.number(&sql, [&damaged])?;
        let expected = expected.get(table).copied().unwrap_or(0);
        if count != expected {
            found(Finding::Count { table, found: count, expected });
        }
    }
    Ok(())
}

/// The search's own list of what it knows.
const SEARCHED: &str = "user_id_search_docsize";

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

/// Looks for every row that the facts ask for, and counts them.
fn check_certificate(
    view: &View<'_>,
    kept: &StoredCertificate,
    facts: &Facts,
    rows: &Rows,
    expected: &mut BTreeMap<&'static str, u64>,
    found: &mut dyn FnMut(Finding),
) -> Result<()> {
    let id = kept.id.0;
    let mut table = |table: &'static str, rows: usize, right: bool| {
        *expected.entry(table).or_default() += rows as u64;
        if !right {
            found(Finding::Rows { cert: kept.id, table });
        }
    };
    table("packets", 0, kept.fingerprint == Some(facts.primary().fingerprint));
    let packed = packed::pack(facts, &kept.bytes);
    let own = view.own(id)?;
    table("self_facts", 1, own.is_some_and(|own| packed::is_same(&own, &packed.own)));
    let others = view.third_party(id)?;
    table(
        "third_party",
        usize::from(!packed.third_party.is_empty()),
        others.unwrap_or_default() == packed.third_party,
    );

    table("user_id", rows.user_ids.len(), view.user_ids(id)? == rows.user_ids);
    table(SEARCHED, 1, true);
    const KEY_ID: &str = "SELECT 1 FROM key_id WHERE key_id = ?1 AND cert = ?2 AND component = ?3";
    let mut there = true;
    for (key_id, component) in &rows.key_ids {
        there &= view.exists(KEY_ID, [key_id, &id, component])?;
    }
    table("key_id", rows.key_ids.len(), there);
    let mut index = |name, sql: &str, values: &[i64]| -> Result<()> {
        let mut there = true;
        for value in values {
            there &= view.exists(sql, params![value, id])?;
        }
        table(name, values.len(), there);
        Ok(())
    };
    index("keygrip", "SELECT 1 FROM keygrip WHERE hash = ?1 AND cert = ?2", &rows.keygrips)?;
    index("mail", "SELECT 1 FROM mail WHERE hash = ?1 AND cert = ?2", &rows.mails)?;
    index("certification", "SELECT 1 FROM certification WHERE issuer = ?1 AND cert = ?2", &rows.issuers)?;
    if !is_proven(view, kept.id, &rows.issuers)? {
        found(Finding::Rows { cert: kept.id, table: "certification" });
    }
    Ok(())
}

/// Says whether the rows of those who certified a certificate hold exactly what the kept verdicts prove.
fn is_proven(view: &View<'_>, id: CertId, issuers: &[i64]) -> Result<bool> {
    const SQL: &str = "SELECT proven FROM certification WHERE issuer = ?1 AND cert = ?2";
    // What cannot be read was found already.
    let proven = certifications::proven_rows(view.connection(), id).context(view.path(), CHECKING)?;
    let Ok(proven) = proven else { return Ok(true) };
    let proven: HashMap<i64, Option<Vec<u8>>> =
        proven.into_iter().map(|(issuer, _, proven)| (issuer, proven)).collect();
    let mut is_right = true;
    for issuer in issuers {
        view.rows(SQL, [*issuer, id.0], CHECKING, |row| {
            is_right &= view.column::<Option<Vec<u8>>>(row, 0)? == *proven.get(issuer).unwrap_or(&None);
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(is_right)
}
