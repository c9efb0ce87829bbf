//! Finding certificates: an index finds candidates, and the stored values are compared.

use std::ops::ControlFlow;

use cert::{Fingerprint, KeyId, mailbox};

use crate::engine::{Engine, Parameters, joined};
use crate::rows::{keygrip_hash, mail_hash, rotated};
use crate::{CertId, KeyHit, MOST_KEYS, Query, Result, packed};

const DOING: &str = "searching";

/// Finds the certificates that match, in the order of listings.
pub(crate) fn find<E: Engine>(engine: &E, query: &Query) -> Result<Vec<CertId>> {
    const MAIL: &str = "SELECT cert FROM mail WHERE hash = ?1";
    const KEYGRIP: &str = "SELECT cert FROM keygrip WHERE hash = ?1";
    let by_key_id = |key_id| certs(engine, E::BY_KEY_ID, &[&rotated(key_id)]);
    let by_mail = |address: &[u8]| certs(engine, MAIL, &[&mail_hash(address)]);
    let mut found = match query {
        Query::All => certs(engine, "SELECT id FROM cert", &[])?,
        Query::ShortKeyId(short) => certs(engine, E::BY_SHORT_KEY_ID, &[&i64::from(*short)])?,
        Query::KeyId(key_id) => by_key_id(*key_id)?,
        Query::Fingerprint(fingerprint) => among(engine, query, &by_key_id(fingerprint.key_id())?)?,
        Query::Keygrip(keygrip) => among(engine, query, &certs(engine, KEYGRIP, &[&keygrip_hash(keygrip)])?)?,
        Query::Exact(name) => match mailbox::mail_address(name) {
            Some(address) => among_user_ids(engine, query, &by_mail(address)?)?,
            None => engine.find_text(query, name)?,
        },
        Query::Mail(address) => among_user_ids(engine, query, &by_mail(address)?)?,
        Query::MailPart(part) | Query::Substring(part) => engine.find_text(query, part)?,
    };
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Finds the keys behind a key ID, [`MOST_KEYS`] at most.
pub(crate) fn keys<E: Engine>(engine: &E, key_id: KeyId) -> Result<Vec<KeyHit>> {
    let mut hits = Vec::new();
    engine.stream(E::KEYS, &[&rotated(key_id), &(MOST_KEYS as i64)], DOING, |row| {
        let (cert, component) = (row.get(0)?, row.count(1)?);
        let mut keys = Vec::new();
        packed::fingerprints(row.bytes(2)?, |number, fingerprint| keys.push((number as u64, fingerprint)))
            .map_err(|source| engine.corrupt(cert, source))?;
        let Some(&(_, primary)) = keys.first() else { return Ok(()) };
        let named = |(number, key): &(u64, Fingerprint)| *number == component && key.key_id() == key_id;
        let key = keys.into_iter().filter(named);
        hits.extend(key.map(|(_, fingerprint)| KeyHit { cert: CertId(cert), fingerprint, primary }));
        Ok(())
    })?;
    Ok(hits)
}

/// Finds the primary keys behind a key ID.
pub(crate) fn primaries<E: Engine>(engine: &E, key_id: KeyId) -> Result<Vec<(CertId, Fingerprint)>> {
    let primaries = engine.list(E::PRIMARIES, &[&rotated(key_id)], DOING, |row| {
        let fingerprint = row.fingerprint(1)?;
        Ok(Some(CertId(row.get(0)?)).zip(fingerprint.filter(|it| it.key_id() == key_id)))
    })?;
    Ok(primaries.into_iter().flatten().collect())
}

/// Returns the certificates whose numbers a query finds.
pub(crate) fn certs(engine: &impl Engine, sql: &str, parameters: Parameters<'_>) -> Result<Vec<CertId>> {
    let mut certs = Vec::new();
    engine.stream(sql, parameters, DOING, |row| {
        certs.push(CertId(row.get(0)?));
        Ok(())
    })?;
    Ok(certs)
}

/// Finds the certificates with a signature by another key that names this key ID.
pub(crate) fn certified_by(engine: &impl Engine, issuer: KeyId) -> Result<Vec<CertId>> {
    const SQL: &str = "SELECT cert FROM certification WHERE issuer = ?1 ORDER BY cert";
    certs(engine, SQL, &[&issuer.0.cast_signed()])
}

/// Finds the same certificates, unless there are more than `most`.
pub(crate) fn certified_by_few(
    engine: &impl Engine,
    issuer: KeyId,
    most: usize,
) -> Result<Option<Vec<CertId>>> {
    const SQL: &str = "SELECT cert FROM certification WHERE issuer = ?1 LIMIT ?2";
    let found = certs(engine, SQL, &[&issuer.0.cast_signed(), &(most as i64 + 1)])?;
    Ok(Some(found).filter(|found| found.len() <= most))
}

/// Hands the fingerprints of each certificate's keys to `visit`.
pub(crate) fn visit_keys(engine: &impl Engine, visit: &mut dyn FnMut(CertId, &[Fingerprint])) -> Result<()> {
    const SQL: &str = "SELECT cert, facts FROM self_facts ORDER BY cert";
    let mut keys = Vec::new();
    engine.each_of_many_rows(SQL, "reading keys", |row| {
        let id: i64 = row.get(0)?;
        keys.clear();
        packed::fingerprints(row.bytes(1)?, |_, fingerprint| keys.push(fingerprint))
            .map_err(|source| engine.corrupt(id, source))?;
        visit(CertId(id), &keys);
        Ok(ControlFlow::Continue(()))
    })
}

/// Keeps those of `proposed` that are answers.
fn among<E: Engine>(engine: &E, query: &Query, proposed: &[CertId]) -> Result<Vec<CertId>> {
    let sql = format!("SELECT cert, facts FROM self_facts WHERE cert {}", E::IN_LIST);
    let mut found = Vec::new();
    engine.stream(&sql, &[&joined(proposed.iter().map(|id| id.0))], DOING, |row| {
        let cert = row.get(0)?;
        let facts = packed::unpack(row.bytes(1)?, None).map_err(|source| engine.corrupt(cert, source))?;
        if query.matches(&facts) {
            found.push(CertId(cert));
        }
        Ok(())
    })?;
    Ok(found)
}

/// Keeps those of `proposed` that are answers by one of their user IDs.
pub(crate) fn among_user_ids<E: Engine>(
    engine: &E,
    query: &Query,
    proposed: &[CertId],
) -> Result<Vec<CertId>> {
    if proposed.is_empty() {
        return Ok(Vec::new());
    }
    let sql = format!("SELECT cert, value FROM user_id WHERE cert {}", E::IN_LIST);
    decided(engine, query, &sql, &[&joined(proposed.iter().map(|id| id.0))])
}

/// Keeps the certificates of those user IDs that are answers.
pub(crate) fn decided(
    engine: &impl Engine,
    query: &Query,
    sql: &str,
    parameters: Parameters<'_>,
) -> Result<Vec<CertId>> {
    let mut found = Vec::new();
    engine.stream(sql, parameters, DOING, |row| {
        if query.matches_user_id(row.bytes(1)?) {
            found.push(CertId(row.get(0)?));
        }
        Ok(())
    })?;
    Ok(found)
}
