//! The paths of version 2 of the keyservers' protocol, where a server offers them (draft-ietf-openpgp-hkp, before it
//! draft-gallagher-openpgp-hkp): certificates as they are, without armor, and of version 6 too.
//!
//! A server is asked once, with OPTIONS, whether it offers a path. What it does not offer, or does not find in this way,
//! it is asked for by the old paths ([`hkp`](crate::hkp)).

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::client::{Client, Receipt};
use crate::error::{Error, Result};
use crate::fetched::Fetched;
use crate::hkp::{IndexedKey, IndexedUserId, Server};
use crate::limits::{MAX_CERTIFICATES, MAX_INDEX, MAX_RECEIPT};
use crate::search::Search;
use crate::shown::shown;

/// How certificates are sent, by what a server says it takes: the draft's media type, and Hockeypuck's.
const MEDIA_TYPES: [(&str, &str); 2] =
    [("application/pgp-keys", "application/pgp-keys;armor=no"), ("application/pgp", "application/pgp")];

/// Returns the certificates that a server has; `None` if it has none, does not offer the path, or refuses it.
pub(crate) fn get(client: &Client, server: Server<'_>, search: &Search) -> Result<Option<Fetched>> {
    let Some((category, identifiers)) = path(search) else { return Ok(None) };
    let category = format!("pks/v2/certs/{category}");
    if client.offer(&server.at(&category), server.host_origin, "GET")?.is_none() {
        return Ok(None);
    }
    for identifier in identifiers {
        let url = server.at(&format!("{category}/{identifier}"));
        match client.get(&url, server.host_origin, MAX_CERTIFICATES) {
            Ok(Some(bytes)) => return Ok(Some(Fetched { bytes, url: shown(&url) })),
            Ok(None) | Err(Error::Status { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Returns the keys that a server has for exactly this address; `None` if it does not offer the path, or refuses it.
pub(crate) fn index(client: &Client, server: Server<'_>, address: &str) -> Result<Option<Vec<IndexedKey>>> {
    if client.offer(&server.at("pks/v2/index"), server.host_origin, "GET")?.is_none() {
        return Ok(None);
    }
    let url = server.at(&format!("pks/v2/index/{}", utf8_percent_encode(address, NON_ALPHANUMERIC)));
    match client.get(&url, server.host_origin, MAX_INDEX) {
        Ok(Some(answer)) => Ok(parse_index(&answer)),
        Ok(None) | Err(Error::Status { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Sends a certificate; `None` if the server does not offer the path, or takes nothing in a form that is known here.
pub(crate) fn add(client: &Client, server: Server<'_>, packets: &[u8]) -> Result<Option<Receipt>> {
    let url = server.at("pks/v2/certs");
    let Some(accepted) = client.offer(&url, server.host_origin, "POST")? else { return Ok(None) };
    let accepted: Vec<&str> = accepted.split(',').map(str::trim).collect();
    let Some((_, kind)) = MEDIA_TYPES.into_iter().find(|(name, _)| accepted.contains(name)) else {
        return Ok(None);
    };
    client.post(&url, server.host_origin, kind, packets.to_vec(), MAX_RECEIPT).map(Some)
}

/// Returns a category, and the forms of the identifier in it.
fn path(search: &Search) -> Option<(&'static str, Vec<String>)> {
    let text = |text: &str| vec![utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()];
    match search {
        Search::Fingerprint(digits) => {
            let version = match digits.len() {
                40 => "04",
                64 => "06",
                _ => return None,
            };
            let digits = digits.to_ascii_lowercase();
            // The version was a part of the number in earlier drafts, and is one of the path now.
            let forms = [format!("{version}/{digits}"), format!("{version}{digits}")];
            Some(("by-vfingerprint", forms.to_vec()))
        }
        Search::KeyId(digits) if digits.len() == 16 => Some(("by-keyid", vec![digits.to_ascii_lowercase()])),
        Search::Address(address) => Some(("by-identity", text(address))),
        Search::KeyId(_) | Search::Text(_) | Search::Exact(_) => None,
    }
}

/// Reads an index; `None` if it is none.
fn parse_index(answer: &[u8]) -> Option<Vec<IndexedKey>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Key {
        fingerprint: String,
        creation: Option<String>,
        expiration: Option<String>,
        #[serde(default)]
        is_revoked: bool,
        #[serde(default)]
        algorithm: Algorithm,
        #[serde(default, rename = "userIDs")]
        user_ids: Vec<UserId>,
    }
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Algorithm {
        code: Option<u8>,
        bit_length: Option<u32>,
    }
    #[derive(Deserialize)]
    struct UserId {
        // Hockeypuck names it otherwise.
        #[serde(rename = "uidString", alias = "keywords", default)]
        text: String,
    }
    let keys: Vec<Key> = serde_json::from_slice(answer).ok()?;
    let read = keys.into_iter().filter(|key| is_fingerprint(&key.fingerprint)).map(|key| IndexedKey {
        id: key.fingerprint.to_ascii_uppercase(),
        algorithm: key.algorithm.code,
        bits: key.algorithm.bit_length,
        created: key.creation.as_deref().and_then(seconds),
        expires: key.expiration.as_deref().and_then(seconds),
        is_revoked: key.is_revoked,
        is_disabled: false,
        is_expired: false,
        user_ids: key
            .user_ids
            .into_iter()
            .map(|user_id| IndexedUserId { value: user_id.text.into_bytes(), created: None })
            .collect(),
    });
    Some(read.collect())
}

fn is_fingerprint(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns a time as seconds since 1970.
fn seconds(text: &str) -> Option<u64> {
    OffsetDateTime::parse(text, &Rfc3339).ok().and_then(|time| u64::try_from(time.unix_timestamp()).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_of_the_draft_and_one_of_hockeypuck_are_read() {
        let fingerprint = "0123456789abcdef0123456789abcdef01234567";
        for name in ["uidString", "keywords"] {
            let answer = format!(
                r#"[{{"version": 4, "fingerprint": "{fingerprint}", "creation": "2020-09-13T12:26:40Z",
                    "neverExpires": true, "algorithm": {{"code": 22, "name": "EdDSA", "bitLength": 256}},
                    "userIDs": [{{"{name}": "A <a@b.c>", "isRevoked": false}}], "subKeys": []}},
                   {{"version": 4, "fingerprint": "nonsense"}}]"#
            );
            let keys = parse_index(answer.as_bytes()).expect("an index");
            assert_eq!(keys.len(), 1);
            assert_eq!(keys[0].id, fingerprint.to_ascii_uppercase());
            assert_eq!((keys[0].algorithm, keys[0].bits), (Some(22), Some(256)));
            assert_eq!((keys[0].created, keys[0].expires), (Some(1_600_000_000), None));
            assert_eq!(keys[0].user_ids[0].value, b"A <a@b.c>");
        }
        assert_eq!(parse_index(b"<html>"), None);
        assert_eq!(parse_index(b"[]"), Some(Vec::new()));
    }

    #[test]
    fn only_exact_questions_have_paths() {
        let fingerprint = "AB".repeat(20);
        let forms = path(&Search::Fingerprint(fingerprint.clone())).expect("a path").1;
        let digits = fingerprint.to_ascii_lowercase();
        assert_eq!(forms, [format!("04/{digits}"), format!("04{digits}")]);
        assert_eq!(path(&Search::Address("a@b.c".to_owned())).expect("a path").1, ["a%40b%2Ec"]);
        assert!(path(&Search::KeyId("01234567".to_owned())).is_none());
        assert!(path(&Search::Text("a".to_owned())).is_none());
    }
}
