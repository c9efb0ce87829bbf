//! Writing what is derived from certificates' bytes: their facts, and their rows in every index.

use super::rows_out::{Encoded, Value};
use super::search::{halves, searched_text};
use super::view::View;
use crate::engine::Engine;
use crate::packed::{self, Packed};
use crate::rows::{IndexRows, Rows, unrotated};
use crate::{BoundAddress, CertId, Result};

const DOING: &str = "writing";

/// Rows that are to be taken away and put in, each index's in its order: pages are touched once.
#[derive(Default)]
pub(super) struct Derived {
    own: Encoded,
    third_party: Encoded,
    user_ids: Encoded,
    deleted: IndexRows,
    inserted: IndexRows,
}

impl Derived {
    /// Adds what is derived from a certificate.
    pub(super) fn insert(&mut self, CertId(id): CertId, packed: &Packed, rows: &Rows) {
        self.own.push(&[Value::Long(id), Value::Bytes(&packed.own)]);
        if !packed.third_party.is_empty() {
            self.third_party.push(&[Value::Long(id), Value::Bytes(&packed.third_party)]);
        }
        for (component, value) in &rows.user_ids {
            self.user_ids.push(&[
                Value::Long(id),
                Value::Integer(*component as i32),
                Value::Bytes(value),
                Value::Bytes(BoundAddress::of_user_id(value).as_bytes()),
                Value::Bytes(searched_text(value).as_bytes()),
            ]);
        }
        self.inserted.extend(CertId(id), rows);
    }

    /// Takes away what is there of certificates, which may come back by [`Derived::insert`].
    pub(super) fn remove(&mut self, view: &View<'_>, ids: &[i64]) -> Result<()> {
        /// Certificates that are read at once.
        const PART: usize = 500;
        if ids.is_empty() {
            return Ok(());
        }
        for part in ids.chunks(PART) {
            let others = view.third_party(part)?;
            for (id, own) in view.own(part)? {
                let facts = packed::unpack(&own, others.get(&id).map(Vec::as_slice));
                let facts = facts.map_err(|source| view.corrupt(id, source))?;
                self.deleted.extend(CertId(id), &Rows::new(&facts));
            }
        }
        for table in ["self_facts", "third_party", "user_id"] {
            view.connection().execute(
                &format!("DELETE FROM {table} WHERE cert = ANY ($1)"),
                &[&ids],
                DOING,
            )?;
        }
        Ok(())
    }

    /// Writes everything.
    pub(super) fn flush(self, view: &View<'_>) -> Result<()> {
        let Self { own, third_party, user_ids, mut deleted, mut inserted } = self;
        view.connection().copy("self_facts (cert, facts)", own, DOING)?;
        view.connection().copy("third_party (cert, facts)", third_party, DOING)?;
        view.connection().copy("user_id (cert, component, value, email, search)", user_ids, DOING)?;
        deleted.remove_common(&mut inserted);
        delete(&deleted, view)?;
        insert(&inserted, view)
    }
}

fn delete(rows: &IndexRows, view: &View<'_>) -> Result<()> {
    const KEY_ID: &str = "DELETE FROM key_id USING unnest($1::integer[], $2::bigint[], $3::integer[])
        AS gone (short, cert, component) WHERE key_id.short = gone.short AND key_id.cert = gone.cert
        AND key_id.component = gone.component";
    if !rows.key_ids.is_empty() {
        let shorts: Vec<i32> = rows.key_ids.iter().map(|row| halves(unrotated(row[0])).0).collect();
        let certs: Vec<i64> = rows.key_ids.iter().map(|row| row[1]).collect();
        let components: Vec<i32> = rows.key_ids.iter().map(|row| row[2] as i32).collect();
        view.connection().execute(KEY_ID, &[&shorts, &certs, &components], DOING)?;
    }
    for (table, column, rows) in [
        ("keygrip", "hash", &rows.keygrips),
        ("mail", "hash", &rows.mails),
        ("certification", "issuer", &rows.issuers),
    ] {
        if rows.is_empty() {
            continue;
        }
        let sql = format!(
            "DELETE FROM {table} USING unnest($1::bigint[], $2::bigint[]) AS gone (value, cert)
             WHERE {table}.{column} = gone.value AND {table}.cert = gone.cert"
        );
        let (values, certs): (Vec<i64>, Vec<i64>) = rows.iter().map(|&[value, cert]| (value, cert)).unzip();
        view.connection().execute(&sql, &[&values, &certs], DOING)?;
    }
    Ok(())
}

fn insert(rows: &IndexRows, view: &View<'_>) -> Result<()> {
    let mut encoded = Encoded::default();
    for &[rotated, cert, component] in &rows.key_ids {
        let (short, high) = halves(unrotated(rotated));
        encoded.push(&[
            Value::Integer(short),
            Value::Integer(high),
            Value::Long(cert),
            Value::Integer(component as i32),
        ]);
    }
    view.connection().copy("key_id (short, high, cert, component)", encoded, DOING)?;
    for (columns, rows) in [
        ("keygrip (hash, cert)", &rows.keygrips),
        ("mail (hash, cert)", &rows.mails),
        ("certification (issuer, cert)", &rows.issuers),
    ] {
        let mut encoded = Encoded::default();
        rows.iter().for_each(|row| encoded.push(&row.map(Value::Long)));
        view.connection().copy(columns, encoded, DOING)?;
    }
    Ok(())
}
