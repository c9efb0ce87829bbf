//! Finding certificates: an index proposes, the bytes decide.

use cert::{Fingerprint, KeyId, mailbox};

use super::connect::Parameters;
use super::view::View;
use crate::rows::{self, parse_fingerprint};
use crate::{CertId, Error, KeyHit, MOST_KEYS, Query, Result, packed};

const DOING: &str = "searching";

/// User IDs that are read at most where no index proposes any.
const SCANNED: i64 = 2_000_000;

/// Stands for NUL, which text cannot hold.
const NUL: char = '\u{100}';

/// Returns the text that a user ID is searched by: each byte as the character of the same number, ASCII letters in
/// lower case. So the server's idea of letters does not matter.
pub(super) fn searched_text(user_id: &[u8]) -> String {
    user_id.iter().map(|&byte| character(byte)).collect()
}

fn character(byte: u8) -> char {
    match byte {
        0 => NUL,
        byte => char::from(byte.to_ascii_lowercase()),
    }
}

/// Returns the pattern of LIKE for texts that contain a part.
fn pattern(part: &[u8]) -> String {
    let mut pattern = String::with_capacity(part.len() + 2);
    pattern.push('%');
    for &byte in part {
        if matches!(byte, b'%' | b'_' | b'\\') {
            pattern.push('\\');
        }
        pattern.push(character(byte));
    }
    pattern.push('%');
    pattern
}

/// Finds the certificates that match, in the order of listings.
pub(super) fn find(view: &View<'_>, query: &Query) -> Result<Vec<CertId>> {
    const MAILS: &str = "SELECT cert FROM mail WHERE hash = $1";
    const KEYS: &str = "SELECT cert FROM key_id WHERE short = $1 AND high = $2";
    let by_mail = |address: &[u8]| certs(view, MAILS, &[&rows::mail_hash(address)]);
    let by_key_id = |key_id| {
        let (short, high) = halves(key_id);
        certs(view, KEYS, &[&short, &high])
    };
    let mut found = match query {
        Query::All => certs(view, "SELECT id FROM cert", &[])?,
        Query::ShortKeyId(short) => {
            certs(view, "SELECT cert FROM key_id WHERE short = $1", &[&short.cast_signed()])?
        }
        Query::KeyId(key_id) => by_key_id(*key_id)?,
        Query::Fingerprint(fingerprint) => among(view, query, by_key_id(fingerprint.key_id())?)?,
        Query::Keygrip(keygrip) => {
            const SQL: &str = "SELECT cert FROM keygrip WHERE hash = $1";
            among(view, query, certs(view, SQL, &[&rows::keygrip_hash(keygrip)])?)?
        }
        Query::Exact(name) => match mailbox::mail_address(name) {
            Some(address) => among_user_ids(view, query, by_mail(address)?)?,
            None => by_text(view, query, name)?,
        },
        Query::Mail(address) => among_user_ids(view, query, by_mail(address)?)?,
        Query::MailPart(part) | Query::Substring(part) => by_text(view, query, part)?,
    };
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Finds the keys behind a key ID, [`MOST_KEYS`] at most.
pub(super) fn keys(view: &View<'_>, key_id: KeyId) -> Result<Vec<KeyHit>> {
    const SQL: &str = "SELECT cert, component, facts FROM key_id JOIN self_facts USING (cert)
        WHERE short = $1 AND high = $2 ORDER BY cert, component LIMIT $3";
    let (short, high) = halves(key_id);
    let mut hits = Vec::new();
    view.connection().each_row(SQL, &[&short, &high, &(MOST_KEYS as i64)], DOING, |row| {
        let (cert, component): (i64, i32) = (view.column(row, 0)?, view.column(row, 1)?);
        let mut keys = Vec::new();
        packed::fingerprints(view.column(row, 2)?, |number, fingerprint| keys.push((number, fingerprint)))
            .map_err(|source| view.corrupt(cert, source))?;
        let Some(&(_, primary)) = keys.first() else { return Ok(()) };
        let named =
            |(number, key): &(usize, Fingerprint)| *number == component as usize && key.key_id() == key_id;
        let key = keys.into_iter().filter(named);
        hits.extend(key.map(|(_, fingerprint)| KeyHit { cert: CertId(cert), fingerprint, primary }));
        Ok(())
    })?;
    Ok(hits)
}

/// Finds the primary keys behind a key ID.
pub(super) fn primaries(view: &View<'_>, key_id: KeyId) -> Result<Vec<(CertId, Fingerprint)>> {
    const SQL: &str = "SELECT id, fingerprint FROM cert WHERE id = ANY
        (ARRAY(SELECT cert FROM key_id WHERE short = $1 AND high = $2 AND component = 0)) ORDER BY id";
    let (short, high) = halves(key_id);
    let mut primaries = Vec::new();
    for row in view.rows(SQL, &[&short, &high], DOING)? {
        let fingerprint = parse_fingerprint(view.column(&row, 1)?);
        if let Some(primary) = fingerprint.filter(|fingerprint| fingerprint.key_id() == key_id) {
            primaries.push((CertId(view.column(&row, 0)?), primary));
        }
    }
    Ok(primaries)
}

/// Returns the two halves of a key ID as they are stored; the second is the short key ID.
pub(super) fn halves(key_id: KeyId) -> (i32, i32) {
    (key_id.short().cast_signed(), ((key_id.0 >> 32) as u32).cast_signed())
}

pub(super) fn certs(view: &View<'_>, sql: &str, parameters: Parameters<'_>) -> Result<Vec<CertId>> {
    let mut certs = Vec::new();
    view.connection().each_row(sql, parameters, DOING, |row| {
        certs.push(CertId(view.column(row, 0)?));
        Ok(())
    })?;
    Ok(certs)
}

/// Keeps those of `proposed` that are answers.
fn among(view: &View<'_>, query: &Query, proposed: Vec<CertId>) -> Result<Vec<CertId>> {
    const FACTS: &str = "SELECT cert, facts FROM self_facts WHERE cert = ANY ($1)";
    let mut found = Vec::new();
    let ids: Vec<i64> = proposed.iter().map(|id| id.0).collect();
    view.connection().each_row(FACTS, &[&ids], DOING, |row| {
        let cert: i64 = view.column(row, 0)?;
        let facts =
            packed::unpack(view.column(row, 1)?, None).map_err(|source| view.corrupt(cert, source))?;
        if query.matches(&facts) {
            found.push(CertId(cert));
        }
        Ok(())
    })?;
    Ok(found)
}

/// Keeps those of `proposed` that are answers by one of their user IDs.
fn among_user_ids(view: &View<'_>, query: &Query, proposed: Vec<CertId>) -> Result<Vec<CertId>> {
    const SQL: &str = "SELECT cert, value FROM user_id WHERE cert = ANY ($1)";
    let ids: Vec<i64> = proposed.iter().map(|id| id.0).collect();
    if ids.is_empty() { Ok(Vec::new()) } else { decided(view, query, SQL, &[&ids]) }
}

/// Finds user IDs that contain `part` and are answers: by the index, or by a scan where `part` is too short for it.
fn by_text(view: &View<'_>, query: &Query, part: &[u8]) -> Result<Vec<CertId>> {
    const SQL: &str = "SELECT cert, value FROM user_id WHERE search LIKE $1";
    const MORE: &str = "SELECT 1 FROM user_id OFFSET $1 LIMIT 1";
    if !view.store.shape.search_index && !view.rows(MORE, &[&SCANNED], DOING)?.is_empty() {
        return Err(Error::Unindexed { path: view.path(), limit: SCANNED });
    }
    decided(view, query, SQL, &[&pattern(part)])
}

/// Keeps the certificates of those user IDs that are answers.
fn decided(view: &View<'_>, query: &Query, sql: &str, parameters: Parameters<'_>) -> Result<Vec<CertId>> {
    let mut found = Vec::new();
    view.connection().each_row(sql, parameters, DOING, |row| {
        if query.matches_user_id(view.column(row, 1)?) {
            found.push(CertId(view.column(row, 0)?));
        }
        Ok(())
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_its_bytes() {
        assert_eq!(pattern(b"50%_A\\\0\xff"), "%50\\%\\_a\\\\\u{100}\u{ff}%");
        assert_eq!(searched_text(b"Ann \xc4\0"), "ann \u{c4}\u{100}");
    }

    #[test]
    fn a_key_id_has_two_halves() {
        assert_eq!(halves(KeyId(0x0000_0001_ffff_ffff)), (-1, 1));
    }
}
