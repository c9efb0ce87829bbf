//! Writing what is derived from certificates' bytes: their facts, and their rows in every index.

use std::collections::HashMap;

use super::find::{halves, searched_text};
use super::rows_out::{Encoded, Value};
use super::view::View;
use crate::packed::{self, Packed};
use crate::rows::{Rows, unrotated};
use crate::{BoundAddress, CertId, Result};

const DOING: &str = "writing";

/// Rows that are to be taken away and put in, each index's in its order: pages are touched once.
#[derive(Default)]
pub(super) struct Derived {
    own: Encoded,
    third_party: Encoded,
    user_ids: Encoded,
    deleted: Table,
    inserted: Table,
}

/// Rows of the narrow tables, each with the certificate's number.
#[derive(Default)]
struct Table {
    key_ids: Vec<(i32, i32, i64, i32)>,
    keygrips: Vec<(i64, i64)>,
    mails: Vec<(i64, i64)>,
    issuers: Vec<(i64, i64)>,
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
        self.inserted.extend(id, rows);
    }

    /// Takes away what is there of certificates, which may come back by [`Derived::insert`].
    pub(super) fn remove(&mut self, view: &View<'_>, ids: &[i64]) -> Result<()> {
        const OWN: &str = "SELECT cert, facts FROM self_facts WHERE cert = ANY ($1)";
        const OTHERS: &str = "SELECT cert, facts FROM third_party WHERE cert = ANY ($1)";
        /// Certificates that are read at once.
        const PART: usize = 500;
        if ids.is_empty() {
            return Ok(());
        }
        for part in ids.chunks(PART) {
            let own: HashMap<i64, Vec<u8>> = view.blobs(OWN, part)?;
            let others = view.blobs(OTHERS, part)?;
            for (id, own) in own {
                let facts = packed::unpack(&own, others.get(&id).map(Vec::as_slice));
                let facts = facts.map_err(|source| view.corrupt(id, source))?;
                self.deleted.extend(id, &Rows::new(&facts));
            }
        }
        for table in ["self_facts", "third_party", "user_id"] {
            view.execute(&format!("DELETE FROM {table} WHERE cert = ANY ($1)"), &[&ids], DOING)?;
        }
        Ok(())
    }

    /// Writes everything.
    pub(super) fn flush(self, view: &View<'_>) -> Result<()> {
        let Self { own, third_party, user_ids, mut deleted, mut inserted } = self;
        view.connection().copy("self_facts (cert, facts)", own, DOING)?;
        view.connection().copy("third_party (cert, facts)", third_party, DOING)?;
        view.connection().copy("user_id (cert, component, value, email, search)", user_ids, DOING)?;
        crate::rows::remove_common(&mut deleted.key_ids, &mut inserted.key_ids);
        crate::rows::remove_common(&mut deleted.keygrips, &mut inserted.keygrips);
        crate::rows::remove_common(&mut deleted.mails, &mut inserted.mails);
        crate::rows::remove_common(&mut deleted.issuers, &mut inserted.issuers);
        deleted.delete(view)?;
        inserted.insert(view)
    }
}

impl Table {
    fn extend(&mut self, id: i64, rows: &Rows) {
        self.key_ids.extend(rows.key_ids.iter().map(|&(rotated, component)| {
            let (short, high) = halves(unrotated(rotated));
            (short, high, id, component as i32)
        }));
        self.keygrips.extend(rows.keygrips.iter().map(|&hash| (hash, id)));
        self.mails.extend(rows.mails.iter().map(|&hash| (hash, id)));
        self.issuers.extend(rows.issuers.iter().map(|&issuer| (issuer, id)));
    }

    fn delete(self, view: &View<'_>) -> Result<()> {
        const KEY_ID: &str = "DELETE FROM key_id USING unnest($1::integer[], $2::bigint[], $3::integer[])
            AS gone (short, cert, component) WHERE key_id.short = gone.short AND key_id.cert = gone.cert
            AND key_id.component = gone.component";
        if !self.key_ids.is_empty() {
            let shorts: Vec<i32> = self.key_ids.iter().map(|row| row.0).collect();
            let certs: Vec<i64> = self.key_ids.iter().map(|row| row.2).collect();
            let components: Vec<i32> = self.key_ids.iter().map(|row| row.3).collect();
            view.execute(KEY_ID, &[&shorts, &certs, &components], DOING)?;
        }
        for (table, column, rows) in [
            ("keygrip", "hash", &self.keygrips),
            ("mail", "hash", &self.mails),
            ("certification", "issuer", &self.issuers),
        ] {
            if rows.is_empty() {
                continue;
            }
            let sql = format!(
                "DELETE FROM {table} USING unnest($1::bigint[], $2::bigint[]) AS gone (value, cert)
                 WHERE {table}.{column} = gone.value AND {table}.cert = gone.cert"
            );
            let (values, certs): (Vec<i64>, Vec<i64>) = rows.iter().copied().unzip();
            view.execute(&sql, &[&values, &certs], DOING)?;
        }
        Ok(())
    }

    fn insert(self, view: &View<'_>) -> Result<()> {
        let mut encoded = Encoded::default();
        for (short, high, cert, component) in self.key_ids {
            encoded.push(&[
                Value::Integer(short),
                Value::Integer(high),
                Value::Long(cert),
                Value::Integer(component),
            ]);
        }
        view.connection().copy("key_id (short, high, cert, component)", encoded, DOING)?;
        for (columns, rows) in [
            ("keygrip (hash, cert)", self.keygrips),
            ("mail (hash, cert)", self.mails),
            ("certification (issuer, cert)", self.issuers),
        ] {
            let mut encoded = Encoded::default();
            rows.iter().for_each(|&(value, cert)| encoded.push(&[Value::Long(value), Value::Long(cert)]));
            view.connection().copy(columns, encoded, DOING)?;
        }
        Ok(())
    }
}
