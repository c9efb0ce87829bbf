//! The protocol that all keyservers speak: the old paths (draft-gallagher-openpgp-hkp, "legacy").

use percent_encoding::{NON_ALPHANUMERIC, percent_decode, utf8_percent_encode};
use reqwest::Url;

use crate::client::{Client, HostOrigin, Receipt};
use crate::error::{Error, Result};
use crate::fetched::Fetched;
use crate::limits::{MAX_CERTIFICATES, MAX_INDEX, MAX_RECEIPT};
use crate::shown::shown;

/// A keyserver's web server, and who named it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Server<'a> {
    pub(crate) url: &'a Url,
    pub(crate) host_origin: HostOrigin,
}

impl Server<'_> {
    /// Returns the address of a path.
    pub(crate) fn at(self, path: &str) -> Url {
        let mut url = self.url.clone();
        url.set_path(&format!("{}/{path}", self.url.path().trim_end_matches('/')));
        url
    }
}

/// The answer to a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// The answer as it came, for machines.
    pub text: Vec<u8>,
    /// The keys in it.
    pub keys: Vec<IndexedKey>,
}

/// A key in the answer to a search: what the server says of it, not verified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexedKey {
    /// Its fingerprint or key ID, in hexadecimal.
    pub id: String,
    /// Its algorithm, a number of RFC 9580.
    pub algorithm: Option<u8>,
    /// Its length in bits.
    pub bits: Option<u32>,
    /// When it was made, in seconds since 1970.
    pub created: Option<u64>,
    /// When it expires.
    pub expires: Option<u64>,
    /// Whether the server says that it is revoked.
    pub is_revoked: bool,
    /// Whether the server says that it is disabled.
    pub is_disabled: bool,
    /// Whether the server says that it has expired.
    pub is_expired: bool,
    /// Its user IDs.
    pub user_ids: Vec<IndexedUserId>,
}

/// A user ID in the answer to a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexedUserId {
    /// Its bytes.
    pub value: Vec<u8>,
    /// When it was made, in seconds since 1970.
    pub created: Option<u64>,
}

/// Returns the certificates that a server has for `0x` and a fingerprint or key ID, or for a text.
pub(crate) fn get(client: &Client, server: Server<'_>, search: &str, exact: bool) -> Result<Option<Fetched>> {
    let url = lookup(server, "get", search, exact);
    let bytes = client.get(&url, server.host_origin, MAX_CERTIFICATES)?;
    Ok(bytes.map(|bytes| Fetched { bytes, url: shown(&url) }))
}

/// Returns the keys whose user IDs contain a text, as the server says.
pub(crate) fn index(client: &Client, server: Server<'_>, search: &str) -> Result<Index> {
    let url = lookup(server, "index", search, false);
    match client.get(&url, server.host_origin, MAX_INDEX)? {
        Some(text) => match parse_index(&text) {
            Some(keys) => Ok(Index { text, keys }),
            None => Err(Error::Answer { url: shown(&url), expected: "a keyserver to a search" }),
        },
        None => Ok(Index::default()),
    }
}

/// Sends an armored certificate.
pub(crate) fn add(client: &Client, server: Server<'_>, armored: &[u8]) -> Result<Receipt> {
    let url = server.at("pks/add");
    let armored = String::from_utf8_lossy(armored);
    let body = format!("keytext={}", utf8_percent_encode(&armored, NON_ALPHANUMERIC));
    client.post(&url, server.host_origin, "application/x-www-form-urlencoded", body.into_bytes(), MAX_RECEIPT)
}

fn lookup(server: Server<'_>, operation: &str, search: &str, exact: bool) -> Url {
    let mut url = server.at("pks/lookup");
    let search = utf8_percent_encode(search, NON_ALPHANUMERIC);
    // Without this, old servers name keys by key IDs, of which there can be several.
    let by_fingerprint = if operation == "index" { "&fingerprint=on" } else { "" };
    let exact = if exact { "&exact=on" } else { "" };
    url.set_query(Some(&format!("op={operation}&options=mr{by_fingerprint}&search={search}{exact}")));
    url
}

/// Reads a machine-readable index; `None` if it is none, such as a page for people.
fn parse_index(answer: &[u8]) -> Option<Vec<IndexedKey>> {
    let mut keys: Vec<IndexedKey> = Vec::new();
    let mut is_index = false;
    for line in answer.split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let fields: Vec<&[u8]> = line.split(|&byte| byte == b':').collect();
        let text = |number: usize| {
            fields.get(number).map(|field| String::from_utf8_lossy(field)).unwrap_or_default()
        };
        match fields[0] {
            b"info" => is_index = true,
            b"pub" if is_key_name(&text(1)) => {
                is_index = true;
                let flags = text(6);
                keys.push(IndexedKey {
                    id: text(1).to_ascii_uppercase(),
                    algorithm: text(2).parse().ok(),
                    bits: text(3).parse().ok(),
                    created: text(4).parse().ok(),
                    expires: text(5).parse().ok(),
                    is_revoked: flags.contains('r'),
                    is_disabled: flags.contains('d'),
                    is_expired: flags.contains('e'),
                    user_ids: Vec::new(),
                });
            }
            b"uid" => {
                let value = percent_decode(fields.get(1).copied().unwrap_or_default()).collect();
                let user_id = IndexedUserId { value, created: text(2).parse().ok() };
                if let Some(key) = keys.last_mut() {
                    key.user_ids.push(user_id);
                }
            }
            _ => {}
        }
    }
    is_index.then_some(keys)
}

/// Says whether a text is a fingerprint or a key ID.
fn is_key_name(text: &str) -> bool {
    matches!(text.len(), 8 | 16 | 32 | 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_for_machines_is_read() {
        let answer = b"info:1:2\r\npub:0123456789abcdef0123456789abcdef01234567:22:256:1600000000::\r\nuid:A%3AB <a@b.c>:1600000001::\r\n\
            pub:FEDCBA9876543210:1:4096:1500000000:1700000000:re\nuid:%e4:::\npub:nonsense:1:1:::\n";
        let keys = parse_index(answer).expect("an index");
        assert_eq!(keys.len(), 2);
        assert_eq!(keys[0].id, "0123456789ABCDEF0123456789ABCDEF01234567");
        assert_eq!(
            (keys[0].algorithm, keys[0].bits, keys[0].created, keys[0].expires),
            (Some(22), Some(256), Some(1_600_000_000), None)
        );
        assert_eq!(
            keys[0].user_ids,
            [IndexedUserId { value: b"A:B <a@b.c>".to_vec(), created: Some(1_600_000_001) }]
        );
        assert!(keys[1].is_revoked && keys[1].is_expired && !keys[1].is_disabled);
        assert_eq!(keys[1].user_ids[0].value, b"\xe4");
    }

    #[test]
    fn a_page_for_people_is_no_index() {
        assert_eq!(parse_index(b"<html><body>pub: nothing</body></html>"), None);
        assert_eq!(parse_index(b""), None);
        assert_eq!(parse_index(b"info:1:0\n"), Some(Vec::new()));
    }

    #[test]
    fn questions_are_asked_as_the_draft_says() {
        let url = Url::parse("http://127.0.0.1:11371").expect("a URL");
        assert_eq!(
            lookup(Server { url: &url, host_origin: HostOrigin::User }, "get", "0xABCD", false).as_str(),
            "http://127.0.0.1:11371/pks/lookup?op=get&options=mr&search=0xABCD"
        );
        let url = Url::parse("https://keys.example.org/some/").expect("a URL");
        assert_eq!(
            lookup(Server { url: &url, host_origin: HostOrigin::User }, "get", "a&b@c.d", true).as_str(),
            "https://keys.example.org/some/pks/lookup?op=get&options=mr&search=a%26b%40c%2Ed&exact=on"
        );
    }
}
