//! Finding certificates: an index proposes, the bytes decide.

use std::ops::ControlFlow;

use cert::{Fingerprint, KeyId, mailbox};
use rusqlite::{Params, params};

use super::search;
use super::view::{PRIMARIES, View};
use crate::rows;
use crate::rows::parse_fingerprint;
use crate::{CertId, KeyHit, MOST_KEYS, Query, Result, packed};

const DOING: &str = "searching";
const KEYGRIP: &str = "SELECT cert FROM keygrip WHERE hash = ?1";

/// Finds the certificates that match, in order of arrival.
pub(super) fn find(view: &View<'_>, query: &Query) -> Result<Vec<CertId>> {
    let mut found = match query {
        Query::All => certs(view, "SELECT id FROM cert", [])?,
        Query::ShortKeyId(short) => {
            let (first, last) = rows::rotated_range(*short);
            certs(view, "SELECT cert FROM key_id WHERE key_id BETWEEN ?1 AND ?2", [first, last])?
        }
        Query::KeyId(key_id) => by_key_id(view, *key_id)?,
        Query::Fingerprint(fingerprint) => among(view, query, by_key_id(view, fingerprint.key_id())?)?,
        Query::Keygrip(keygrip) => among(view, query, certs(view, KEYGRIP, [rows::keygrip_hash(keygrip)])?)?,
        Query::Exact(name) => match mailbox::mail_address(name) {
            Some(address) => among_user_ids(view, query, by_mail_hash(view, address)?)?,
            None => by_text(view, query, name)?,
        },
        Query::Mail(address) => among_user_ids(view, query, by_mail_hash(view, address)?)?,
        Query::MailPart(part) | Query::Substring(part) => by_text(view, query, part)?,
    };
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Finds the keys behind a key ID, [`MOST_KEYS`] at most.
pub(super) fn keys(view: &View<'_>, key_id: KeyId) -> Result<Vec<KeyHit>> {
    const SQL: &str =
        "SELECT cert, component FROM key_id WHERE key_id = ?1 ORDER BY cert, component LIMIT ?2";
    let places = view.list(SQL, [rows::rotated(key_id), MOST_KEYS as i64], DOING, |row| {
        Ok((view.column::<i64>(row, 0)?, view.column::<i64>(row, 1)?))
    })?;
    let mut hits = Vec::with_capacity(places.len());
    for (cert, component) in places {
        let keys = view.fingerprints(cert)?;
        let Some(&(_, primary)) = keys.first() else { continue };
        let key = keys
            .into_iter()
            .filter(|(number, fingerprint)| *number == component && fingerprint.key_id() == key_id);
        hits.extend(key.map(|(_, fingerprint)| KeyHit { cert: CertId(cert), fingerprint, primary }));
    }
    Ok(hits)
}

/// Finds the primary keys behind a key ID.
pub(super) fn primaries(view: &View<'_>, key_id: KeyId) -> Result<Vec<(CertId, Fingerprint)>> {
    let primaries = view.list(PRIMARIES, [rows::rotated(key_id)], DOING, |row| {
        let fingerprint = parse_fingerprint(view.blob(row, 1)?);
        Ok(Some(CertId(view.column(row, 0)?)).zip(fingerprint.filter(|it| it.key_id() == key_id)))
    })?;
    Ok(primaries.into_iter().flatten().collect())
}

pub(super) fn certs(view: &View<'_>, sql: &str, parameters: impl Params) -> Result<Vec<CertId>> {
    view.list(sql, parameters, DOING, |row| view.column(row, 0).map(CertId))
}

fn by_key_id(view: &View<'_>, key_id: KeyId) -> Result<Vec<CertId>> {
    certs(view, "SELECT cert FROM key_id WHERE key_id = ?1", [rows::rotated(key_id)])
}

fn by_mail_hash(view: &View<'_>, address: &[u8]) -> Result<Vec<CertId>> {
    certs(view, "SELECT cert FROM mail WHERE hash = ?1", [rows::mail_hash(address)])
}

/// Keeps those of `proposed` that are answers.
fn among(view: &View<'_>, query: &Query, proposed: Vec<CertId>) -> Result<Vec<CertId>> {
    let mut found = Vec::new();
    for cert in proposed {
        let Some(own) = view.own(cert.0)? else { continue };
        let facts = packed::unpack(&own, None).map_err(|source| view.corrupt(cert.0, source))?;
        if query.matches(&facts) {
            found.push(cert);
        }
    }
    Ok(found)
}

/// Keeps those of `proposed` that are answers by one of their user IDs.
fn among_user_ids(view: &View<'_>, query: &Query, proposed: Vec<CertId>) -> Result<Vec<CertId>> {
    let mut found = Vec::new();
    for cert in proposed {
        scan(view, "SELECT cert, value FROM user_id WHERE cert = ?1", [cert.0], query, &mut found)?;
    }
    Ok(found)
}

/// Finds user IDs that contain `part` and are answers: by trigrams, or by a scan where `part` is too short for one.
fn by_text(view: &View<'_>, query: &Query, part: &[u8]) -> Result<Vec<CertId>> {
    let trigrams = search::trigrams(part);
    if trigrams.is_empty() {
        let mut found = Vec::new();
        scan(view, "SELECT cert, value FROM user_id ORDER BY cert", [], query, &mut found)?;
        return Ok(found);
    }
    among_user_ids(view, query, by_trigrams(view, trigrams)?)
}

/// Proposes the certificates that have the rarest of the trigrams.
fn by_trigrams(view: &View<'_>, trigrams: Vec<String>) -> Result<Vec<CertId>> {
    const SQL: &str = "SELECT rowid FROM user_id_search WHERE user_id_search MATCH ?1 LIMIT ?2";
    let mut ranked = Vec::with_capacity(trigrams.len());
    for trigram in trigrams {
        let sample = certs(view, SQL, params![trigram, search::SAMPLE])?;
        match sample.last() {
            Some(last) if sample.len() == search::SAMPLE as usize => ranked.push((last.0, trigram)),
            _ => return Ok(sample),
        }
    }
    certs(view, SQL, params![search::rarest(ranked), -1])
}

fn scan(
    view: &View<'_>,
    sql: &str,
    parameters: impl Params,
    query: &Query,
    found: &mut Vec<CertId>,
) -> Result<()> {
    view.rows(sql, parameters, DOING, |row| {
        let value = view.blob(row, 1)?;
        if query.matches_user_id(value) {
            let cert = CertId(view.column(row, 0)?);
            if found.last() != Some(&cert) {
                found.push(cert);
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(())
}
