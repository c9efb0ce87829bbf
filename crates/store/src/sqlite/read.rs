//! What a view answers.

use std::ops::ControlFlow;

use cert::facts::SignatureFacts;
use cert::{Fingerprint, KeyId, Timestamp};
use rusqlite::{MAIN_DB, Row};

use super::error::Context;
use super::view::View;
use super::{certifications, find, provenance};
use crate::rows::{parse_fingerprint, rotated};
use crate::{
    CertId, Certifications, Detail, Facts, KeyHit, Origin, Query, ReadCertificates, ReadTrust, Record,
    Result, Selection, VisitCertified, packed,
};

impl View<'_> {
    fn record(&self, row: &Row<'_>, detail: Detail) -> Result<Record> {
        let id: i64 = self.column(row, 0)?;
        let blob = |index| {
            row.get_ref(index)
                .and_then(|value| Ok(value.as_blob_or_null()?))
                .context(self.path(), "reading a row")
        };
        let fingerprint = blob(1)?.and_then(parse_fingerprint);
        let facts = match detail {
            Detail::Name => None,
            Detail::Own => Some(packed::unpack(blob(8)?.unwrap_or_default(), None)),
            Detail::Full | Detail::Verdicts | Detail::Bytes => {
                Some(packed::unpack(blob(8)?.unwrap_or_default(), blob(9)?))
            }
        };
        let bytes = if detail == Detail::Bytes { blob(10)?.map(<[u8]>::to_vec) } else { None };
        let verdicts = match detail {
            Detail::Verdicts => packed::unpack_verdicts(blob(10)?.unwrap_or_default()),
            _ => Ok(Vec::new()),
        };
        Ok(Record {
            id: CertId(id),
            fingerprint: fingerprint.ok_or_else(|| self.corrupt(id, packed::Error::FINGERPRINT))?,
            first_seen: Timestamp(self.column(row, 2)?),
            changed: Timestamp(self.column(row, 3)?),
            generation: self.column(row, 4)?,
            origin: Origin {
                kind: self.column(row, 5)?,
                updated: self.column::<Option<u32>>(row, 6)?.map(Timestamp),
                url: self.column(row, 7)?,
            },
            facts: facts.transpose().map_err(|source| self.corrupt(id, source))?,
            verdicts: verdicts.map_err(|source| self.corrupt(id, source))?,
            bytes,
        })
    }
}

macro_rules! select_records {
    ($columns:literal, $tables:literal, $rest:literal) => {
        concat!(
            "SELECT id, fingerprint, first_seen, changed, generation, origin_kind, origin_updated, origin_url",
            $columns,
            " FROM cert ",
            $tables,
            $rest
        )
    };
    ($detail:expr, $rest:literal) => {
        match $detail {
            Detail::Name => select_records!("", "", $rest),
            Detail::Own => {
                select_records!(", self_facts.facts", "JOIN self_facts ON self_facts.cert = id", $rest)
            }
            Detail::Full => select_records!(
                ", self_facts.facts, third_party.facts",
                "JOIN self_facts ON self_facts.cert = id LEFT JOIN third_party ON third_party.cert = id",
                $rest
            ),
            Detail::Verdicts => select_records!(
                ", self_facts.facts, third_party.facts, verdicts",
                "JOIN self_facts ON self_facts.cert = id LEFT JOIN third_party ON third_party.cert = id
                 LEFT JOIN verdicts ON verdicts.cert = id",
                $rest
            ),
            Detail::Bytes => select_records!(
                ", self_facts.facts, third_party.facts, packets.bytes",
                "JOIN self_facts ON self_facts.cert = id LEFT JOIN third_party ON third_party.cert = id
                 JOIN packets ON packets.cert = id",
                $rest
            ),
        }
    };
}

impl ReadCertificates for View<'_> {
    fn visit(
        &self,
        selection: Selection<'_>,
        detail: Detail,
        visit: &mut dyn FnMut(Record) -> ControlFlow<()>,
    ) -> Result<()> {
        const DOING: &str = "reading certificates";
        let mut each = |row: &Row<'_>| Ok(visit(self.record(row, detail)?));
        match selection {
            Selection::All => self.rows(select_records!(detail, " ORDER BY id"), [], DOING, each),
            Selection::Ids(ids) => {
                let sql = select_records!(detail, " WHERE id = ?1");
                let mut ids = ids.to_vec();
                ids.sort_unstable();
                ids.dedup();
                let mut statement = self.connection().prepare_cached(sql).context(self.path(), DOING)?;
                for id in ids {
                    let mut rows = statement.query([id.0]).context(self.path(), DOING)?;
                    if let Some(row) = rows.next().context(self.path(), DOING)?
                        && each(row)?.is_break()
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
        self.rows(sql, [id], "reading certifications", |row| {
            packed::third_party(self.blob(row, 0)?, |_| true, |_, signature| visit(&signature))
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
        let mut keys = Vec::new();
        self.rows("SELECT cert, facts FROM self_facts ORDER BY cert", [], "reading keys", |row| {
            let id: i64 = self.column(row, 0)?;
            keys.clear();
            packed::fingerprints(self.blob(row, 1)?, |_, fingerprint| keys.push(fingerprint))
                .map_err(|source| self.corrupt(id, source))?;
            visit(CertId(id), &keys);
            Ok(ControlFlow::Continue(()))
        })
    }

    fn certified_by(&self, issuer: KeyId) -> Result<Vec<CertId>> {
        find::certs(self, "SELECT cert FROM certification WHERE issuer = ?1", [issuer.0 as i64])
    }

    fn certified_by_few(&self, issuer: KeyId, most: usize) -> Result<Option<Vec<CertId>>> {
        const SQL: &str = "SELECT cert FROM certification WHERE issuer = ?1 LIMIT ?2";
        let found = find::certs(self, SQL, [issuer.0 as i64, most as i64 + 1])?;
        Ok(Some(found).filter(|found| found.len() <= most))
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
        self.number("SELECT count(*) FROM cert", [])
    }

    fn has_user_id_origins(&self) -> Result<bool> {
        self.exists("SELECT 1 FROM user_id_origin", [])
    }

    fn user_id_origins(&self, id: CertId) -> Result<Vec<(Vec<u8>, Origin)>> {
        provenance::user_id_origins(self, id)
    }

    fn trust(&self) -> Option<&dyn ReadTrust> {
        Some(self)
    }
}
