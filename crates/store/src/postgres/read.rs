//! Reading certificates, trust and the journal through a view.
//!
//! Certificates are read in parts, all tables of a part in one round trip. So memory does not grow with their number, and
//! a visitor may run other queries.

use std::collections::HashMap;
use std::ops::{ControlFlow, RangeInclusive};

use cert::facts::SignatureFacts;
use cert::{Fingerprint, KeyId};
use tokio_postgres::Row;

use super::connect::Parameters;
use super::search;
use super::view::View;
use crate::engine::{self, Engine};
use crate::find;
use crate::rows::stored_fingerprint;
use crate::{
    CertId, Detail, KeyHit, Origin, Query, ReadCertificates, ReadTrust, Record, Result, Selection, packed,
    provenance,
};

const DOING: &str = "reading certificates";

/// Certificates that are read at once in the beginning, and at most.
const FIRST_PART: i64 = 32;
const LARGEST_PART: i64 = 8192;

/// Bytes that are to be read at once.
const PART_BYTES: usize = 2 << 20;

impl View<'_> {
    /// Reads the numbered certificates.
    fn part(&self, which: Which<'_>, detail: Detail) -> Result<Vec<Record>> {
        let (first, last, ids);
        let parameters: Parameters<'_> = match &which {
            Which::Range(range) => {
                (first, last) = (*range.start(), *range.end());
                &[&first, &last]
            }
            Which::Ids(list) => {
                ids = *list;
                &[&ids]
            }
        };
        let tables: &[&str] = match detail {
            Detail::Name => &["cert"],
            Detail::Own => &["cert", "self_facts"],
            Detail::Full => &["cert", "self_facts", "third_party"],
            Detail::Verdicts => &["cert", "self_facts", "third_party", "verdicts"],
            Detail::Bytes => &["cert", "self_facts", "third_party", "packets"],
        };
        let sqls: Vec<String> = tables.iter().map(|table| which.select(table)).collect();
        let queries: Vec<(&str, Parameters<'_>)> =
            sqls.iter().map(|sql| (sql.as_str(), parameters)).collect();
        let mut answers = self.connection().rows_of_all(&queries, DOING)?.into_iter();
        let certs = answers.next().unwrap_or_default();
        let blobs: Vec<Vec<Row>> = answers.collect();
        let mut by_id: Vec<HashMap<i64, &[u8]>> = Vec::with_capacity(blobs.len());
        for rows in &blobs {
            let pairs = rows.iter().map(|row| Ok((self.column(row, 0)?, self.column(row, 1)?)));
            by_id.push(pairs.collect::<Result<_>>()?);
        }
        let mut records = Vec::with_capacity(certs.len());
        for row in &certs {
            records.extend(self.record(row, detail, &by_id)?);
        }
        records.sort_unstable_by_key(|record| record.id);
        Ok(records)
    }

    fn record(&self, row: &Row, detail: Detail, blobs: &[HashMap<i64, &[u8]>]) -> Result<Option<Record>> {
        let id: i64 = self.column(row, 0)?;
        let blob = |table: usize| blobs.get(table).and_then(|blobs| blobs.get(&id)).copied();
        let facts = match (detail, blob(0)) {
            (Detail::Name, _) => None,
            (_, None) if self.lacks_facts(id)? => return Err(self.corrupt(id, packed::Error::MISSING)),
            (_, None) => return Ok(None),
            (_, Some(own)) => Some(packed::unpack(own, blob(1)).map_err(|source| self.corrupt(id, source))?),
        };
        let bytes = match (detail, blob(2)) {
            (Detail::Bytes, None) => return Ok(None),
            (Detail::Bytes, bytes) => bytes.map(<[u8]>::to_vec),
            _ => None,
        };
        let verdicts = match detail {
            Detail::Verdicts => packed::unpack_verdicts(blob(2).unwrap_or_default()),
            _ => Ok(Vec::new()),
        };
        let row = engine::Row::postgres(row, self.path());
        let fingerprint = row.fingerprint(1)?;
        Ok(Some(Record {
            id: CertId(id),
            fingerprint: fingerprint.ok_or_else(|| self.corrupt(id, packed::Error::FINGERPRINT))?,
            first_seen: row.time(2)?,
            changed: row.time(3)?,
            generation: row.get(4)?,
            origin: row.origin(5)?,
            facts,
            verdicts: verdicts.map_err(|source| self.corrupt(id, source))?,
            bytes,
        }))
    }

    /// Says whether a certificate has no facts. One statement tells: between two, a writer's view may see others
    /// remove the certificate.
    fn lacks_facts(&self, id: i64) -> Result<bool> {
        const SQL: &str =
            "SELECT 1 FROM cert WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM self_facts WHERE cert = ?1)";
        Ok(self.first(SQL, &[&id], DOING, |_| Ok(()))?.is_some())
    }

    fn visit_all(&self, detail: Detail, visit: &mut dyn FnMut(Record) -> ControlFlow<()>) -> Result<()> {
        // The last number of the next part.
        const NEXT: &str = "SELECT max(id) FROM
            (SELECT id FROM cert WHERE id > ?1 ORDER BY id LIMIT ?2) AS part";
        let (mut after, mut size) = (i64::MIN, FIRST_PART);
        loop {
            let last = self.first(NEXT, &[&after, &size], DOING, |row| row.get::<Option<i64>>(0))?;
            let Some(last) = last.flatten() else { return Ok(()) };
            let records = self.part(Which::Range(after + 1..=last), detail)?;
            size = next_size(size, &records);
            for record in records {
                if visit(record).is_break() {
                    return Ok(());
                }
            }
            after = last;
        }
    }

    fn visit_ids(
        &self,
        ids: &[CertId],
        detail: Detail,
        visit: &mut dyn FnMut(Record) -> ControlFlow<()>,
    ) -> Result<()> {
        let mut ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut rest = &ids[..];
        let mut size = FIRST_PART;
        while !rest.is_empty() {
            let (part, later) = rest.split_at(rest.len().min(size as usize));
            let records = self.part(Which::Ids(part), detail)?;
            size = next_size(size, &records);
            for record in records {
                if visit(record).is_break() {
                    return Ok(());
                }
            }
            rest = later;
        }
        Ok(())
    }
}

/// Which certificates a part holds.
enum Which<'a> {
    Range(RangeInclusive<i64>),
    Ids(&'a [i64]),
}

impl Which<'_> {
    /// Returns the query for them.
    fn select(&self, table: &str) -> String {
        let (columns, id) = match table {
            "cert" => (
                "id, fingerprint, first_seen, changed, generation, origin_kind, origin_updated, origin_url",
                "id",
            ),
            "packets" => ("cert, bytes", "cert"),
            "verdicts" => ("cert, verdicts", "cert"),
            _ => ("cert, facts", "cert"),
        };
        let which = match self {
            Self::Range(_) => "BETWEEN $1 AND $2",
            Self::Ids(_) => "= ANY ($1)",
        };
        format!("SELECT {columns} FROM {table} WHERE {id} {which}")
    }
}

/// Returns how many certificates to read next, after these.
fn next_size(size: i64, read: &[Record]) -> i64 {
    let bytes: usize = read
        .iter()
        .map(|record| {
            let facts = record.facts.as_ref().map_or(0, |facts| {
                let certifications: usize = facts.components.iter().map(|it| it.signatures.len()).sum();
                64 * (facts.components.len() + certifications)
            });
            128 + facts + record.bytes.as_ref().map_or(0, Vec::len)
        })
        .sum();
    let each = bytes / read.len().max(1);
    let wanted = PART_BYTES / each.max(1);
    i64::try_from(wanted).unwrap_or(LARGEST_PART).min(size * 4).clamp(1, LARGEST_PART)
}

impl ReadCertificates for View<'_> {
    fn visit(
        &self,
        selection: Selection<'_>,
        detail: Detail,
        visit: &mut dyn FnMut(Record) -> ControlFlow<()>,
    ) -> Result<()> {
        match selection {
            Selection::All => self.visit_all(detail, visit),
            Selection::Ids(ids) => self.visit_ids(ids, detail, visit),
        }
    }

    fn bytes(&self, CertId(id): CertId) -> Result<Option<Vec<u8>>> {
        self.first("SELECT bytes FROM packets WHERE cert = ?1", &[&id], DOING, |row| row.get(0))
    }

    fn first_bytes(&self, CertId(id): CertId, most: usize) -> Result<Option<Vec<u8>>> {
        const SQL: &str = "SELECT substring(bytes FROM 1 FOR ?2) FROM packets WHERE cert = ?1";
        let most = i32::try_from(most).unwrap_or(i32::MAX);
        self.first(SQL, &[&id, &most], DOING, |row| row.get(0))
    }

    fn some_user_ids(&self, part: &[u8], most: usize) -> Result<Vec<Vec<u8>>> {
        if self.store.shape.search_index { search::some(self, part, most) } else { Ok(Vec::new()) }
    }

    fn find(&self, query: &Query) -> Result<Vec<CertId>> {
        find::find(self, query)
    }

    fn keys_by_id(&self, key_id: KeyId) -> Result<Vec<KeyHit>> {
        find::keys(self, key_id)
    }

    fn primaries_by_id(&self, key_id: KeyId) -> Result<Vec<(CertId, Fingerprint)>> {
        find::primaries(self, key_id)
    }

    fn visit_third_party(&self, CertId(id): CertId, visit: &mut dyn FnMut(&SignatureFacts)) -> Result<()> {
        let blobs = self.third_party(&[id])?;
        match blobs.get(&id) {
            Some(blob) => packed::third_party(blob, |_| true, |_, signature| visit(&signature))
                .map_err(|source| self.corrupt(id, source)),
            None => Ok(()),
        }
    }

    fn visit_keys(&self, visit: &mut dyn FnMut(CertId, &[Fingerprint])) -> Result<()> {
        find::visit_keys(self, visit)
    }

    fn certified_by(&self, issuer: KeyId) -> Result<Vec<CertId>> {
        find::certified_by(self, issuer)
    }

    fn certified_by_few(&self, issuer: KeyId, most: usize) -> Result<Option<Vec<CertId>>> {
        find::certified_by_few(self, issuer, most)
    }

    fn by_fingerprint(&self, fingerprints: &[Fingerprint]) -> Result<Vec<Option<CertId>>> {
        const SQL: &str = "SELECT fingerprint, cert FROM primary_key WHERE fingerprint = ANY ($1)";
        let stored: Vec<Vec<u8>> = fingerprints.iter().map(stored_fingerprint).collect();
        let asked: Vec<&[u8]> = stored.iter().map(Vec::as_slice).collect();
        self.lookup(SQL, &asked, "looking up fingerprints")
    }

    fn count(&self) -> Result<u64> {
        self.number("SELECT count(*) FROM cert")
    }

    fn has_user_id_origins(&self) -> Result<bool> {
        Ok(!self.connection().rows("SELECT 1 FROM user_id_origin LIMIT 1", &[], DOING)?.is_empty())
    }

    fn user_id_origins(&self, id: CertId) -> Result<Vec<(Vec<u8>, Origin)>> {
        provenance::user_id_origins(self, id)
    }

    fn trust(&self) -> Option<&dyn ReadTrust> {
        Some(self)
    }
}
