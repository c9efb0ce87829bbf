//! Holding rows against bytes, and deriving them again.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;

use cert::Facts;
use tokio_postgres::Row;

use super::connect::PATIENCE;
use super::derived::Derived;
use super::find::{halves, searched_text};
use super::schema;
use super::store::PostgresStore;
use super::view::View;
use super::write::WriterMode;
use crate::doctor::{Derive, Finding, Rebuilt, StoredCertificate};
use crate::rows::{Rows, parse_fingerprint, unrotated};
use crate::{BoundAddress, CertId, Error, Result, packed};

const CHECKING: &str = "checking";
const REBUILDING: &str = "deriving the rows again";

/// Certificates and bytes that are derived at once.
const BATCH: i64 = 256;
const BATCH_BYTES: i64 = 8 << 20;

/// Certificates whose index rows are deferred while everything is derived again.
const DEFERRED: usize = 20_000;

/// Checks each row against the bytes it was derived from.
pub(super) fn check(
    store: &PostgresStore,
    derive: &mut Derive<'_>,
    found: &mut dyn FnMut(Finding),
) -> Result<()> {
    const UNNAMED: &str = "SELECT id FROM cert WHERE NOT EXISTS (SELECT 1 FROM primary_key
        WHERE primary_key.fingerprint = cert.fingerprint AND primary_key.cert = id) ORDER BY id";
    let view = View::begin(store)?;
    view.each_row(UNNAMED, CHECKING, |row| {
        found(Finding::Rows { cert: CertId(view.column(row, 0)?), table: "primary_key" });
        Ok(ControlFlow::Continue(()))
    })?;
    for (table, orphaned) in ORPHANED {
        match view.number(&format!("SELECT count(*) FROM {table} WHERE {orphaned}"))? {
            0 => {}
            rows => found(Finding::Orphans { table, rows }),
        }
    }
    for cert in unreadable_verdicts(&view)? {
        found(Finding::Rows { cert, table: "verdicts" });
    }
    check_rows(&view, derive, found)
}

/// Derives all rows from the bytes again, in one transaction, and removes rows that belong to nothing.
pub(super) fn rebuild(store: &PostgresStore, derive: &mut Derive<'_>) -> Result<Rebuilt> {
    let view = View::within(store, store.server.begin(&WriterMode::Alone.begin(PATIENCE))?);
    let mut proven = refuse_damaged(&view)?;
    schema::delete_derived(view.connection(), view.path())?;
    let mut lost = Vec::new();
    find_lost(&view, &mut |finding| lost.push(finding))?;
    let delete = |table: &str, which: &str| {
        view.connection().batch(&format!("DELETE FROM {table} WHERE {which}"), REBUILDING)
    };
    delete("cert", LOST)?;
    ORPHANED.iter().try_for_each(|(table, orphaned)| delete(table, orphaned))?;
    const NAMED: &str =
        "INSERT INTO primary_key (fingerprint, cert) SELECT fingerprint, id FROM cert ON CONFLICT DO NOTHING";
    view.execute(NAMED, &[], REBUILDING)?;
    let unreadable: Vec<i64> = unreadable_verdicts(&view)?.iter().map(|id| id.0).collect();
    view.execute("DELETE FROM verdicts WHERE cert = ANY ($1)", &[&unreadable], REBUILDING)?;

    let mut derived = Derived::default();
    let (mut deferred, mut certificates) = (0, 0);
    each_batch(&view, |batch| {
        for kept in batch.iter_mut() {
            kept.proven = proven.remove(&kept.id).unwrap_or_default();
        }
        for (kept, facts) in batch.iter().zip(derive(batch)) {
            let underivable = |reason| Error::Underivable { path: view.path(), cert: kept.id.0, reason };
            let facts = facts.map_err(underivable)?;
            derived.insert(kept.id, &packed::pack(&facts, &kept.bytes), &Rows::new(&facts));
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
    view.commit()?;
    Ok(Rebuilt { certificates, lost })
}

/// Refuses to derive anything from bytes that have changed: nothing would tell so afterwards. Returns what the rows that
/// are still there know to be [proven](StoredCertificate::proven).
fn refuse_damaged(view: &View<'_>) -> Result<HashMap<CertId, Vec<u32>>> {
    let mut proven = HashMap::new();
    each_batch(view, |batch| {
        let own = own_facts(view, batch)?;
        for kept in batch {
            let Some(own) = own.get(&kept.id.0) else { continue };
            if let Some(reason) = kept.damage(own) {
                return Err(Error::Underivable { path: view.path(), cert: kept.id.0, reason });
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

/// Certificates whose packets are not there.
const LOST: &str = "id NOT IN (SELECT cert FROM packets)";

/// Tables that are not derived, and which of their rows refer to rows that are not there.
const ORPHANED: [(&str, &str); 8] = [
    (
        "primary_key",
        "NOT EXISTS (SELECT 1 FROM cert WHERE id = cert AND cert.fingerprint = primary_key.fingerprint)",
    ),
    ("packets", "NOT EXISTS (SELECT 1 FROM cert WHERE id = packets.cert)"),
    ("verdicts", "NOT EXISTS (SELECT 1 FROM cert WHERE id = verdicts.cert)"),
    ("input", "NOT EXISTS (SELECT 1 FROM cert WHERE id = input.cert)"),
    ("tofu_signature", "binding NOT IN (SELECT id FROM tofu_binding)"),
    ("tofu_encryption", "binding NOT IN (SELECT id FROM tofu_binding)"),
    ("user_id_origin", "cert NOT IN (SELECT id FROM cert UNION ALL SELECT cert FROM former)"),
    ("former", "(journal, number) NOT IN (SELECT journal, number FROM change)"),
];

/// Reads all certificates in order, several at a time.
fn each_batch(view: &View<'_>, mut each: impl FnMut(&mut [StoredCertificate]) -> Result<()>) -> Result<()> {
    const CERTS: &str = "SELECT id, fingerprint, superseded FROM cert WHERE id > $1 ORDER BY id LIMIT $2";
    const SIZES: &str = "SELECT cert, octet_length(bytes) FROM packets WHERE cert = ANY ($1)";
    let mut after = i64::MIN;
    loop {
        let rows = view.rows(CERTS, &[&after, &BATCH], CHECKING)?;
        let ids: Vec<i64> = rows.iter().map(|row| view.column(row, 0)).collect::<Result<_>>()?;
        let Some(&last) = ids.last() else { return Ok(()) };
        after = last;
        let sizes = view.rows(SIZES, &[&ids], CHECKING)?;
        let sizes: HashMap<i64, i32> = sizes
            .iter()
            .map(|row| Ok((view.column(row, 0)?, view.column(row, 1)?)))
            .collect::<Result<_>>()?;
        let (mut begin, mut bytes) = (0, 0);
        for (index, id) in ids.iter().enumerate() {
            bytes += sizes.get(id).copied().map_or(0, i64::from);
            if bytes >= BATCH_BYTES || *id == last {
                each(&mut kept(view, &rows[begin..=index], &ids[begin..=index])?)?;
                (begin, bytes) = (index + 1, 0);
            }
        }
    }
}

/// Reads the packets of certificates whose other rows were read.
fn kept(view: &View<'_>, rows: &[Row], ids: &[i64]) -> Result<Vec<StoredCertificate>> {
    const BYTES: &str = "SELECT cert, bytes FROM packets WHERE cert = ANY ($1)";
    let mut bytes = view.blobs(BYTES, ids)?;
    let mut batch = Vec::with_capacity(rows.len());
    for (row, &id) in rows.iter().zip(ids) {
        let Some(bytes) = bytes.remove(&id) else { continue };
        let superseded = view.column::<Option<&[u8]>>(row, 2)?.unwrap_or_default();
        batch.push(StoredCertificate {
            id: CertId(id),
            fingerprint: parse_fingerprint(view.column(row, 1)?),
            bytes,
            superseded: packed::unpack_positions(superseded).map_err(|source| view.corrupt(id, source))?,
            proven: Vec::new(),
        });
    }
    Ok(batch)
}

/// Finds the certificates whose kept verdicts cannot be read.
fn unreadable_verdicts(view: &View<'_>) -> Result<Vec<CertId>> {
    let mut unreadable = Vec::new();
    view.each_row("SELECT cert, verdicts FROM verdicts ORDER BY cert", CHECKING, |row| {
        if packed::unpack_verdicts(view.column(row, 1)?).is_err() {
            unreadable.push(CertId(view.column(row, 0)?));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(unreadable)
}

/// Finds the certificates whose packets are not there.
fn find_lost(view: &View<'_>, found: &mut dyn FnMut(Finding)) -> Result<Vec<i64>> {
    let mut lost = Vec::new();
    let sql = format!("SELECT id, fingerprint FROM cert WHERE {LOST} ORDER BY id");
    for row in view.rows(&sql, &[], CHECKING)? {
        let id = view.column(&row, 0)?;
        lost.push(id);
        found(Finding::Lost { cert: CertId(id), fingerprint: parse_fingerprint(view.column(&row, 1)?) });
    }
    Ok(lost)
}

fn own_facts(view: &View<'_>, batch: &[StoredCertificate]) -> Result<HashMap<i64, Vec<u8>>> {
    let ids: Vec<i64> = batch.iter().map(|kept| kept.id.0).collect();
    view.own(&ids)
}

/// Every derived table.
const TABLES: [&str; 7] =
    ["self_facts", "third_party", "user_id", "key_id", "keygrip", "mail", "certification"];

fn check_rows(view: &View<'_>, derive: &mut Derive<'_>, found: &mut dyn FnMut(Finding)) -> Result<()> {
    let mut expected = BTreeMap::new();
    let mut damaged = find_lost(view, found)?;
    each_batch(view, |batch| {
        let own = own_facts(view, batch)?;
        for kept in batch.iter_mut() {
            own.get(&kept.id.0).into_iter().for_each(|own| kept.load_proven(own));
        }
        let mut sound = Vec::with_capacity(batch.len());
        for (kept, facts) in batch.iter().zip(derive(batch)) {
            let own = own.get(&kept.id.0);
            let damage = own.and_then(|own| kept.damage(own));
            let others = match (own, &facts) {
                (Some(own), Ok(facts)) if kept.was_too_much(own, facts) => {
                    view.third_party(&[kept.id.0])?.remove(&kept.id.0)
                }
                _ => None,
            };
            let own = own.map(Vec::as_slice);
            let facts = facts.map(|facts| kept.comparable(facts, own, others.as_deref()));
            match facts.and_then(|facts| damage.map_or(Ok(facts), Err)) {
                Err(reason) => {
                    damaged.push(kept.id.0);
                    found(Finding::Bytes { cert: kept.id, reason });
                }
                Ok(facts) => sound.push((kept, facts)),
            }
        }
        check_batch(view, &sound, &own, &mut expected, found)
    })?;
    for table in TABLES {
        let sql = format!("SELECT count(*) FROM {table} WHERE NOT cert = ANY ($1)");
        let row = view.connection().row(&sql, &[&damaged], CHECKING)?;
        let count = row.map_or(Ok(0), |row| view.column::<i64>(&row, 0))?.unsigned_abs();
        let expected = expected.get(table).copied().unwrap_or(0);
        if count != expected {
            found(Finding::Count { table, found: count, expected });
        }
    }
    Ok(())
}

/// Looks for every row that the facts ask for, and counts them.
fn check_batch(
    view: &View<'_>,
    batch: &[(&StoredCertificate, Facts)],
    own: &HashMap<i64, Vec<u8>>,
    expected: &mut BTreeMap<&'static str, u64>,
    found: &mut dyn FnMut(Finding),
) -> Result<()> {
    let ids: Vec<i64> = batch.iter().map(|(kept, _)| kept.id.0).collect();
    let others = view.third_party(&ids)?;
    let user_ids = user_id_rows(view, &ids)?;
    let rows: Vec<Rows> = batch.iter().map(|(_, facts)| Rows::new(facts)).collect();
    let missing = Missing::find(view, &ids, &rows)?;
    for ((kept, facts), rows) in batch.iter().zip(&rows) {
        let id = kept.id.0;
        let mut table = |table: &'static str, rows: usize, right: bool| {
            *expected.entry(table).or_default() += rows as u64;
            if !right {
                found(Finding::Rows { cert: kept.id, table });
            }
        };
        table("packets", 0, kept.fingerprint == Some(facts.primary().fingerprint));
        let packed = packed::pack(facts, &kept.bytes);
        table("self_facts", 1, own.get(&id).is_some_and(|own| packed::is_same(own, &packed.own)));
        let has_others = !packed.third_party.is_empty();
        let right = others.get(&id).map_or(!has_others, |others| *others == packed.third_party);
        table("third_party", usize::from(has_others), right);
        let wanted: Vec<UserIdRow> =
            rows.user_ids.iter().map(|(place, value)| user_id_row(*place, value)).collect();
        let there = user_ids.get(&id).map(Vec::as_slice).unwrap_or_default();
        table("user_id", wanted.len(), there == wanted);
        table("key_id", rows.key_ids.len(), !missing.key_ids.contains(&id));
        table("keygrip", rows.keygrips.len(), !missing.keygrips.contains(&id));
        table("mail", rows.mails.len(), !missing.mails.contains(&id));
        table("certification", rows.issuers.len(), !missing.issuers.contains(&id));
    }
    Ok(())
}

/// A user ID with everything it is found by.
type UserIdRow = (i64, Vec<u8>, Vec<u8>, String);

fn user_id_row(component: i64, value: &[u8]) -> UserIdRow {
    let address = BoundAddress::of_user_id(value).as_bytes().to_vec();
    (component, value.to_vec(), address, searched_text(value))
}

fn user_id_rows(view: &View<'_>, ids: &[i64]) -> Result<HashMap<i64, Vec<UserIdRow>>> {
    const SQL: &str = "SELECT cert, component, value, email, search FROM user_id WHERE cert = ANY ($1)
        ORDER BY cert, component";
    let mut rows: HashMap<i64, Vec<UserIdRow>> = HashMap::new();
    for row in view.rows(SQL, &[&ids], CHECKING)? {
        let component = i64::from(view.column::<i32>(&row, 1)?);
        let user_id = (component, view.column(&row, 2)?, view.column(&row, 3)?, view.column(&row, 4)?);
        rows.entry(view.column(&row, 0)?).or_default().push(user_id);
    }
    Ok(rows)
}

/// Certificates that lack rows in an index.
struct Missing {
    key_ids: HashSet<i64>,
    keygrips: HashSet<i64>,
    mails: HashSet<i64>,
    issuers: HashSet<i64>,
}

impl Missing {
    fn find(view: &View<'_>, ids: &[i64], rows: &[Rows]) -> Result<Self> {
        Ok(Self {
            key_ids: missing_key_ids(view, ids, rows)?,
            keygrips: missing(view, "keygrip", "hash", ids, rows, |rows| &rows.keygrips)?,
            mails: missing(view, "mail", "hash", ids, rows, |rows| &rows.mails)?,
            issuers: missing(view, "certification", "issuer", ids, rows, |rows| &rows.issuers)?,
        })
    }
}

fn missing(
    view: &View<'_>,
    table: &str,
    column: &str,
    ids: &[i64],
    rows: &[Rows],
    values: fn(&Rows) -> &Vec<i64>,
) -> Result<HashSet<i64>> {
    let sql = format!(
        "SELECT wanted.cert FROM unnest($1::bigint[], $2::bigint[]) AS wanted (value, cert)
         WHERE NOT EXISTS (SELECT 1 FROM {table} WHERE {table}.{column} = wanted.value
            AND {table}.cert = wanted.cert)"
    );
    let pairs = ids.iter().zip(rows).flat_map(|(id, rows)| values(rows).iter().map(|value| (*value, *id)));
    let (values, certs): (Vec<i64>, Vec<i64>) = pairs.unzip();
    let rows = view.rows(&sql, &[&values, &certs], CHECKING)?;
    rows.iter().map(|row| view.column(row, 0)).collect()
}

fn missing_key_ids(view: &View<'_>, ids: &[i64], rows: &[Rows]) -> Result<HashSet<i64>> {
    const SQL: &str =
        "SELECT wanted.cert FROM unnest($1::integer[], $2::integer[], $3::bigint[], $4::integer[])
            AS wanted (short, high, cert, component)
        WHERE NOT EXISTS (SELECT 1 FROM key_id WHERE key_id.short = wanted.short AND key_id.high = wanted.high
            AND key_id.cert = wanted.cert AND key_id.component = wanted.component)";
    let (mut shorts, mut highs, mut certs, mut components) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (id, rows) in ids.iter().zip(rows) {
        for &(rotated, component) in &rows.key_ids {
            let (short, high) = halves(unrotated(rotated));
            shorts.push(short);
            highs.push(high);
            certs.push(*id);
            components.push(component as i32);
        }
    }
    let rows = view.rows(SQL, &[&shorts, &highs, &certs, &components], CHECKING)?;
    rows.iter().map(|row| view.column(row, 0)).collect()
}
