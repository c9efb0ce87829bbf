//! Comparing rows with the packets that they are derived from, and deriving them again.

use std::collections::{HashMap, HashSet};

use super::connect::SERVER_TIMEOUT;
use super::derived::Derived;
use super::schema;
use super::search::{halves, searched_text};
use super::store::PostgresStore;
use super::view::View;
use super::write::WriterMode;
use crate::doctor::derived::{self, DerivedTables};
use crate::doctor::{Derive, Finding, Rebuilt};
use crate::engine::Engine;
use crate::packed::Packed;
use crate::rows::{Rows, unrotated};
use crate::{BoundAddress, CertId, Result};

const CHECKING: &str = "checking";
const REBUILDING: &str = "deriving the rows again";

/// Checks each row against the bytes it was derived from.
pub(super) fn check(
    store: &PostgresStore,
    derive: &mut Derive<'_>,
    found: &mut dyn FnMut(Finding),
) -> Result<()> {
    const UNNAMED: &str = "SELECT id FROM cert WHERE NOT EXISTS (SELECT 1 FROM primary_key
        WHERE primary_key.fingerprint = cert.fingerprint AND primary_key.cert = id) ORDER BY id";
    let view = View::begin(store)?;
    for cert in view.list(UNNAMED, &[], CHECKING, |row| row.get(0).map(CertId))? {
        found(Finding::Rows { cert, table: "primary_key" });
    }
    let mut tables = Tables { view: &view, derived: Derived::default() };
    derived::check(&view, &mut tables, derive, found)
}

/// Derives all rows from the bytes again, in one transaction, and removes rows that belong to nothing.
pub(super) fn rebuild(store: &PostgresStore, derive: &mut Derive<'_>) -> Result<Rebuilt> {
    const NAMED: &str =
        "INSERT INTO primary_key (fingerprint, cert) SELECT fingerprint, id FROM cert ON CONFLICT DO NOTHING";
    let view = View::within(store, store.server.begin(&WriterMode::Exclusive.begin(SERVER_TIMEOUT))?);
    let mut tables = Tables { view: &view, derived: Derived::default() };
    let rebuilt = derived::rebuild(&view, &mut tables, derive)?;
    view.execute(NAMED, &[], REBUILDING)?;
    view.commit()?;
    Ok(rebuilt)
}

struct Tables<'v, 's> {
    view: &'v View<'s>,
    derived: Derived,
}

impl DerivedTables for Tables<'_, '_> {
    const HAS_SEARCHED: bool = false;
    const ORPHANED: &'static [(&'static str, &'static str)] = &[(
        "primary_key",
        "NOT EXISTS (SELECT 1 FROM cert WHERE id = cert AND cert.fingerprint = primary_key.fingerprint)",
    )];

    fn differing(&mut self, certificates: &[(CertId, Rows)]) -> Result<HashSet<(&'static str, CertId)>> {
        let ids: Vec<i64> = certificates.iter().map(|(id, _)| id.0).collect();
        let mut user_ids = user_id_rows(self.view, &ids)?;
        let others = certificates.iter().filter(|(id, rows)| {
            let there = user_ids.remove(&id.0).unwrap_or_default();
            !there
                .into_iter()
                .eq(rows.user_ids.iter().map(|(component, value)| user_id_row(*component, value)))
        });
        let mut differing: HashSet<_> = others.map(|(id, _)| ("user_id", *id)).collect();
        differing.extend(missing_key_ids(self.view, certificates)?);
        differing.extend(missing(self.view, "keygrip", "hash", certificates, |rows| &rows.keygrips)?);
        differing.extend(missing(self.view, "mail", "hash", certificates, |rows| &rows.mails)?);
        differing.extend(missing(self.view, "certification", "issuer", certificates, |rows| &rows.issuers)?);
        Ok(differing)
    }

    fn clear(&mut self) -> Result<()> {
        schema::delete_derived(self.view.connection(), self.view.path())
    }

    fn insert(&mut self, id: CertId, packed: &Packed, rows: &Rows) -> Result<()> {
        self.derived.insert(id, packed, rows);
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        std::mem::take(&mut self.derived).flush(self.view)
    }
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
    for row in view.connection().rows(SQL, &[&ids], CHECKING)? {
        let component = i64::from(view.column::<i32>(&row, 1)?);
        let user_id = (component, view.column(&row, 2)?, view.column(&row, 3)?, view.column(&row, 4)?);
        rows.entry(view.column(&row, 0)?).or_default().push(user_id);
    }
    Ok(rows)
}

/// Certificates that lack rows in a table.
type Missing = Result<Vec<(&'static str, CertId)>>;

fn missing(
    view: &View<'_>,
    table: &'static str,
    column: &str,
    certificates: &[(CertId, Rows)],
    values: fn(&Rows) -> &Vec<i64>,
) -> Missing {
    let sql = format!(
        "SELECT wanted.cert FROM unnest($1::bigint[], $2::bigint[]) AS wanted (value, cert)
         WHERE NOT EXISTS (SELECT 1 FROM {table} WHERE {table}.{column} = wanted.value
            AND {table}.cert = wanted.cert)"
    );
    let pairs = certificates.iter().flat_map(|(id, rows)| values(rows).iter().map(|value| (*value, id.0)));
    let (values, certs): (Vec<i64>, Vec<i64>) = pairs.unzip();
    let rows = view.connection().rows(&sql, &[&values, &certs], CHECKING)?;
    rows.iter().map(|row| Ok((table, CertId(view.column(row, 0)?)))).collect()
}

fn missing_key_ids(view: &View<'_>, certificates: &[(CertId, Rows)]) -> Missing {
    const SQL: &str =
        "SELECT wanted.cert FROM unnest($1::integer[], $2::integer[], $3::bigint[], $4::integer[])
            AS wanted (short, high, cert, component)
        WHERE NOT EXISTS (SELECT 1 FROM key_id WHERE key_id.short = wanted.short AND key_id.high = wanted.high
            AND key_id.cert = wanted.cert AND key_id.component = wanted.component)";
    let (mut shorts, mut highs, mut certs, mut components) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (id, rows) in certificates {
        for &(rotated, component) in &rows.key_ids {
            let (short, high) = halves(unrotated(rotated));
            shorts.push(short);
            highs.push(high);
            certs.push(id.0);
            components.push(component as i32);
        }
    }
    let rows = view.connection().rows(SQL, &[&shorts, &highs, &certs, &components], CHECKING)?;
    rows.iter().map(|row| Ok(("key_id", CertId(view.column(row, 0)?)))).collect()
}
