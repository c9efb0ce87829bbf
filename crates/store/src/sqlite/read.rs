//! Reading certificates, trust and the journal through a view.

use std::ops::ControlFlow;

use cert::facts::SignatureFacts;
use cert::{Fingerprint, KeyId};
use rusqlite::MAIN_DB;

use super::certifications;
use super::error::Context;
use super::search;
use super::view::View;
use crate::engine::{Engine, Row};
use crate::rows::rotated;
use crate::{
    CertId, Certifications, Detail, Facts, KeyHit, Origin, Query, ReadCertificates, ReadTrust, Record,
    Result, Selection, VisitCertified, find, packed, provenance,
};

impl View<'_> {
    fn record(&self, row: Row<'_>, detail: Detail) -> Result<Record> {
        let id: i64 = row.get(0)?;
        let facts = match detail {
            Detail::Name => None,
            Detail::Own => Some(packed::unpack(row.bytes(8)?, None)),
            Detail::Full | Detail::Verdicts | Detail::Bytes => {
                Some(packed::unpack(row.bytes(8)?, row.optional_bytes(9)?))
            }
        };
        let bytes = if detail == Detail::Bytes { Some(row.get(10)?) } else { None };
        let verdicts = match detail {
            Detail::Verdicts => packed::unpack_verdicts(row.bytes(10)?),
            _ => Ok(Vec::new()),
        };
        let fingerprint = row.fingerprint(1)?;
        Ok(Record {
            id: CertId(id),
            fingerprint: fingerprint.ok_or_else(|| self.corrupt(id, packed::Error::FINGERPRINT))?,
            first_seen: row.time(2)?,
            changed: row.time(3)?,
            generation: row.get(4)?,
            origin: row.origin(5)?,
            facts: facts.transpose().map_err(|source| self.corrupt(id, source))?,
            verdicts: verdicts.map_err(|source| self.corrupt(id, source))?,
            bytes,
        })
    }
}

/// Returns the query for certificates in the columns of [`View::record`]; `rest` says which.
fn select(detail: Detail, rest: &str) -> String {
    const OWN: &str = "JOIN self_facts ON self_facts.cert = id";
    const OTHERS: &str = "LEFT JOIN third_party ON third_party.cert = id";
    let (columns, tables) = match detail {
        Detail::Name => ("", [""; 3]),
        Detail::Own => (", self_facts.facts", [OWN, "", ""]),
        Detail::Full => (", self_facts.facts, third_party.facts", [OWN, OTHERS, ""]),
        Detail::Verdicts => (
            ", self_facts.facts, third_party.facts, verdicts",
            [OWN, OTHERS, "LEFT JOIN verdicts ON verdicts.cert = id"],
        ),
        Detail::Bytes => (
            ", self_facts.facts, third_party.facts, packets.bytes",
            [OWN, OTHERS, "JOIN packets ON packets.cert = id"],
        ),
    };
    format!(
        "SELECT id, fingerprint, first_seen, changed, generation, origin_kind, origin_updated, origin_url{columns}
        FROM cert {} {rest}",
        tables.join(" ")
    )
}

impl ReadCertificates for View<'_> {
    fn visit(
        &self,
        selection: Selection<'_>,
        detail: Detail,
        visit: &mut dyn FnMut(Record) -> ControlFlow<()>,
    ) -> Result<()> {
        const DOING: &str = "reading certificates";
        let mut each = |row: Row<'_>| Ok(visit(self.record(row, detail)?));
        match selection {
            Selection::All => self.each_row(&select(detail, "ORDER BY id"), &[], DOING, each),
            Selection::Ids(ids) => {
                let sql = &select(detail, "WHERE id = ?1");
                let mut ids = ids.to_vec();
                ids.sort_unstable();
                ids.dedup();
                let mut statement = self.connection().prepare_cached(sql).context(self.path(), DOING)?;
                for id in ids {
                    let mut rows = statement.query([id.0]).context(self.path(), DOING)?;
                    if let Some(row) = rows.next().context(self.path(), DOING)?
                        && each(Row::sqlite(row, self.path()))?.is_break()
                    {
                        break;
                    }
                }
                self.store.check_unchanged()
            }
        }
    }

    fn bytes(&self, CertId(id): CertId) -> Result<Option<Vec<u8>>> {
        self.value("SELECT bytes FROM packets WHERE cert = ?1", id)
    }

    fn first_bytes(&self, CertId(id): CertId, most: usize) -> Result<Option<Vec<u8>>> {
        let read = || {
            let blob = self.connection().blob_open(MAIN_DB, "packets", "bytes", id, true)?;
            let mut bytes = vec![0; most.min(blob.len())];
            blob.read_at_exact(&mut bytes, 0).map(|()| bytes)
        };
        match read() {
            Ok(bytes) => self.store.check_unchanged().map(|()| Some(bytes)),
            // Read the other way it tells whether it is not there, or what is wrong.
            Err(_) => Ok(self.bytes(CertId(id))?.map(|mut bytes| {
                bytes.truncate(most);
                bytes
            })),
        }
    }

    fn some_user_ids(&self, part: &[u8], most: usize) -> Result<Vec<Vec<u8>>> {
        search::some(self, part, most)
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
        self.enlarge_cache()?;
        let sql = "SELECT facts FROM third_party WHERE cert = ?1";
        self.each_row(sql, &[&id], "reading certifications", |row| {
            packed::third_party(row.bytes(0)?, |_| true, |_, signature| visit(&signature))
                .map_err(|source| self.corrupt(id, source))?;
            Ok(ControlFlow::Continue(()))
        })
    }

    fn own_facts(&self, CertId(id): CertId) -> Result<Option<Facts>> {
        let own = self.own(id)?;
        own.map(|own| packed::unpack(&own, None).map_err(|source| self.corrupt(id, source))).transpose()
    }

    fn visit_certifications(
        &self,
        ids: &[CertId],
        by: &dyn Fn(KeyId) -> bool,
        visit: &mut dyn FnMut(&Certifications) -> ControlFlow<()>,
    ) -> Result<()> {
        certifications::visit_by(self, ids, by, visit)?;
        self.store.check_unchanged()
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

    fn visit_certified_by_any(
        &self,
        issuers: &[KeyId],
        visitors: &mut [&mut VisitCertified<'_>],
    ) -> Result<()> {
        self.share(issuers, visitors)
    }

    fn by_fingerprint(&self, fingerprints: &[Fingerprint]) -> Result<Vec<Option<CertId>>> {
        // In the order of the index: neighbours share a page.
        let mut order: Vec<usize> = (0..fingerprints.len()).collect();
        order.sort_by_cached_key(|&number| rotated(fingerprints[number].key_id()));
        let mut found = vec![None; fingerprints.len()];
        for number in order {
            found[number] = self.primary(&fingerprints[number])?;
        }
        Ok(found)
    }

    fn count(&self) -> Result<u64> {
        self.number("SELECT count(*) FROM cert")
    }

    fn has_user_id_origins(&self) -> Result<bool> {
        self.exists("SELECT 1 FROM user_id_origin", &[])
    }

    fn user_id_origins(&self, id: CertId) -> Result<Vec<(Vec<u8>, Origin)>> {
        provenance::user_id_origins(self, id)
    }

    fn trust(&self) -> Option<&dyn ReadTrust> {
        Some(self)
    }
}
