//! Reading signatures by other keys without the rest of the certificates.

use std::ops::ControlFlow;

use cert::KeyId;
use rusqlite::{Connection, OptionalExtension, params};

use super::error::Context;
use super::view::View;
use crate::engine::{Engine, Row};
use crate::{CertId, Certifications, Fingerprint, Proven, Result, packed};

const DOING: &str = "reading certifications";

/// Hands out the certificates that name a key ID as the issuer of a signature, in order of arrival, with what is proven
/// of the signatures.
pub(super) fn visit_proven(
    view: &View<'_>,
    issuer: KeyId,
    visit: &mut dyn FnMut(CertId, Option<&Proven>),
) -> Result<()> {
    const SQL: &str = "SELECT cert, proven FROM certification WHERE issuer = ?1";
    let mut proven = Proven { issuer: Fingerprint::V4([0; 20]), signatures: Vec::new() };
    view.each_row(SQL, &[&(issuer.0 as i64)], DOING, |row| {
        let id = CertId(row.get(0)?);
        match row.optional_bytes(1)? {
            Some(blob) => {
                packed::unpack_proven(blob, &mut proven).map_err(|source| view.corrupt(id.0, source))?;
                visit(id, Some(&proven));
            }
            None => visit(id, None),
        }
        Ok(ControlFlow::Continue(()))
    })
}

/// A row of `certification` that is to hold what is proven: the issuer, the certificate, and that.
pub(super) type ProvenRow = (i64, i64, Option<Vec<u8>>);

/// Works out what is proven about a certificate by all whom some verdict is about.
pub(super) fn proven_rows(
    connection: &Connection,
    id: CertId,
) -> rusqlite::Result<packed::Result<Vec<ProvenRow>>> {
    Ok(judged(connection, id)?.map_or_else(|| Ok(Vec::new()), |judged| judged.proven_rows()))
}

/// A certificate on which there are verdicts, packed as it is stored.
pub(super) struct VerdictRow {
    id: i64,
    own: Vec<u8>,
    third_party: Vec<u8>,
    verdicts: Vec<u8>,
}

/// Reads a certificate if there are verdicts on it.
pub(super) fn judged(connection: &Connection, CertId(id): CertId) -> rusqlite::Result<Option<VerdictRow>> {
    const SQL: &str = "SELECT self_facts.facts, third_party.facts, verdicts FROM verdicts
        JOIN third_party USING (cert) JOIN self_facts USING (cert) WHERE cert = ?1";
    let mut statement = connection.prepare_cached(SQL)?;
    let judged = statement.query_row([id], |row| {
        Ok(VerdictRow { id, own: row.get(0)?, third_party: row.get(1)?, verdicts: row.get(2)? })
    });
    judged.optional()
}

impl VerdictRow {
    /// Works out what is proven about it by all whom some verdict is about.
    pub(super) fn proven_rows(&self) -> packed::Result<Vec<ProvenRow>> {
        let facts = packed::unpack(&self.own, Some(&self.third_party))?;
        let verdicts = packed::unpack_verdicts(&self.verdicts)?;
        let proven = packed::pack_proven(&facts, &verdicts).into_iter();
        Ok(proven.map(|(issuer, proven)| (issuer.0 as i64, self.id, proven)).collect())
    }
}

/// Writes what is proven, in the order of the table.
pub(super) fn write_proven(connection: &Connection, mut rows: Vec<ProvenRow>) -> rusqlite::Result<()> {
    const SQL: &str =
        "UPDATE certification SET proven = ?3 WHERE issuer = ?1 AND cert = ?2 AND proven IS NOT ?3";
    rows.sort_unstable();
    let mut statement = connection.prepare_cached(SQL)?;
    for (issuer, cert, proven) in rows {
        statement.execute(params![issuer, cert, proven])?;
    }
    Ok(())
}

/// Hands out the signatures by some other keys on some certificates, and the verdicts about these keys.
pub(super) fn visit_by(
    view: &View<'_>,
    ids: &[CertId],
    by: &dyn Fn(KeyId) -> bool,
    visit: &mut dyn FnMut(&Certifications) -> ControlFlow<()>,
) -> Result<()> {
    const SQL: &str = "SELECT third_party.facts, verdicts, self_facts.facts FROM third_party
        JOIN self_facts USING (cert) LEFT JOIN verdicts USING (cert) WHERE cert = ?1";
    let mut statement = view.connection().prepare_cached(SQL).context(view.path(), DOING)?;
    for &id in ids {
        let mut rows = statement.query([id.0]).context(view.path(), DOING)?;
        let Some(row) = rows.next().context(view.path(), DOING)? else { continue };
        let row = Row::sqlite(row, view.path());
        let (third_party, verdicts, own) = (row.bytes(0)?, row.bytes(1)?, row.bytes(2)?);
        let found = unpacked(id, own, third_party, verdicts, by);
        if visit(&found.map_err(|source| view.corrupt(id.0, source))?).is_break() {
            break;
        }
    }
    Ok(())
}

fn unpacked(
    id: CertId,
    own: &[u8],
    third_party: &[u8],
    verdicts: &[u8],
    by: &dyn Fn(KeyId) -> bool,
) -> packed::Result<Certifications> {
    let own = packed::unpack(own, None)?;
    let mut found = Certifications { id, own, signatures: Vec::new(), verdicts: Vec::new() };
    packed::third_party(third_party, by, |component, facts| found.signatures.push((component, facts)))?;
    packed::unpack_wanted_verdicts(verdicts, by, &mut found.verdicts)?;
    Ok(found)
}
