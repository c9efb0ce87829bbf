//! The Web Key Directory: a domain's own keys, by mail address (draft-koch-openpgp-webkey-service).

use std::fmt;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Url;
use verify::naming;

use crate::client::{Client, HostOrigin};
use crate::error::{Error, Result};
use crate::fetched::Fetched;
use crate::limits::MAX_CERTIFICATES;
use crate::shown::shown;

/// The place of the directory on a web server.
pub const WELL_KNOWN: &str = ".well-known/openpgpkey";

/// A mail address that can have keys in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    local: String,
    /// In lower case, with its international labels encoded.
    domain: String,
}

impl Address {
    /// Reads an address without a name around it: `someone@example.org`.
    ///
    /// # Errors
    ///
    /// [`Error::Address`].
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = || Error::Address { text: text.to_owned(), reason: "not a mail address" };
        let (local, domain) = text.rsplit_once('@').ok_or_else(wrong)?;
        if local.is_empty() || is_strange(local) {
            return Err(wrong());
        }
        let domain = encoded_domain(domain).ok_or_else(wrong)?;
        Ok(Self { local: local.to_owned(), domain })
    }

    /// Says whether it is the same address as another one, but for the case of ASCII letters.
    pub fn is_same(&self, other: &Self) -> bool {
        self.domain == other.domain && self.local.eq_ignore_ascii_case(&other.local)
    }

    /// Returns the part before the at sign, as it was written.
    pub fn local(&self) -> &str {
        &self.local
    }

    /// Returns the domain.
    pub fn domain(&self) -> &str {
        &self.domain
    }

    /// Returns the name of the local part in a directory.
    pub fn hash(&self) -> String {
        let local = self.local.to_ascii_lowercase();
        zbase32(&naming::sha1(&[local.as_bytes()]))
    }

    /// Returns where a web server at `openpgpkey.` has the keys.
    fn advanced(&self) -> Result<Url> {
        let Self { domain, .. } = self;
        self.url(&format!("https://openpgpkey.{domain}/{WELL_KNOWN}/{domain}"))
    }

    /// Returns where the domain's own web server has the keys.
    fn direct(&self) -> Result<Url> {
        self.url(&format!("https://{}/{WELL_KNOWN}", self.domain))
    }

    fn url(&self, directory: &str) -> Result<Url> {
        let local = utf8_percent_encode(&self.local, NON_ALPHANUMERIC);
        let url = format!("{directory}/hu/{}?l={local}", self.hash());
        Url::parse(&url).map_err(|_| Error::Address { text: self.to_string(), reason: "not a mail address" })
    }
}

/// Returns a domain in lower case, with its international labels encoded (RFC 5891); `None` if it is none.
pub fn encoded_domain(text: &str) -> Option<String> {
    if text.is_empty() || is_strange(text) || text.contains(['/', ':', '?', '#', '@', '[', '\\', '%']) {
        return None;
    }
    let url = Url::parse(&format!("https://{text}/")).ok()?;
    // A number is no domain.
    let domain = url.domain()?.trim_end_matches('.');
    (domain.contains('.') || domain == "localhost").then(|| domain.to_owned())
}

/// Says whether a text has characters that no part of an address has.
fn is_strange(text: &str) -> bool {
    text.chars().any(|character| character.is_control() || character == ' ')
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}@{}", self.local, self.domain)
    }
}

/// Returns the keys that a domain has for an address: from the server `openpgpkey.` of the domain, or from the domain
/// itself if that name does not exist; none if neither exists. Where a proxy resolves names, the name counts as one
/// that does not exist if the proxy does not connect to it; any other failure is an error.
///
/// # Errors
///
/// Those of [`Client::get`].
pub fn get(client: &Client, address: &Address) -> Result<Option<Fetched>> {
    client.begin_key()?;
    let advanced = address.advanced()?;
    let fetched = |url: &Url| {
        let bytes = client.get(url, HostOrigin::Others, MAX_CERTIFICATES)?;
        Ok(bytes.map(|bytes| Fetched { bytes, url: shown(url) }))
    };
    match client.resolves(&advanced)? {
        Some(true) => fetched(&advanced),
        Some(false) => {
            let direct = address.direct()?;
            if client.resolves(&direct)? == Some(false) { Ok(None) } else { fetched(&direct) }
        }
        None => match fetched(&advanced) {
            Err(Error::NotConnected { .. }) => fetched(&address.direct()?),
            answer => answer,
        },
    }
}

/// Encodes 20 bytes with Zooko's base 32 (RFC 6189, 5.1.6), five bits to the letter.
fn zbase32(bytes: &[u8; 20]) -> String {
    const LETTERS: &[u8; 32] = b"ybndrfg8ejkmcpqxot1uwisza345h769";
    let groups =
        bytes.chunks(5).map(|group| group.iter().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte)));
    let letters =
        groups.flat_map(|bits| (0..8).rev().map(move |letter| (bits >> (5 * letter) & 31) as usize));
    letters.map(|letter| char::from(LETTERS[letter])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_urls_are_those_of_the_draft() {
        let address = Address::parse("Joe.Doe@Example.ORG").expect("an address");
        let hash = "iy9q119eutrkn8s1mk4r39qejnbu3n5q";
        assert_eq!(
            address.advanced().expect("a URL").as_str(),
            format!(
                "https://openpgpkey.example.org/.well-known/openpgpkey/example.org/hu/{hash}?l=Joe%2EDoe"
            )
        );
        assert_eq!(
            address.direct().expect("a URL").as_str(),
            format!("https://example.org/.well-known/openpgpkey/hu/{hash}?l=Joe%2EDoe")
        );
        assert_eq!(address.to_string(), "Joe.Doe@example.org");
    }

    #[test]
    fn what_could_lead_to_another_server_is_no_address() {
        let wrong = [
            "a",
            "a@",
            "@b.c",
            "a@b.c/d",
            "a@b.c:80",
            "a@b c.d",
            "a@127.0.0.1",
            "a@[::1]",
            "a@b.c?d",
            "a@2130706433",
            "a\nb@c.d",
        ];
        for text in wrong {
            assert!(Address::parse(text).is_err(), "{text}");
        }
        // International labels are encoded.
        let address = Address::parse("x@b\u{fc}cher.example").expect("an address");
        assert_eq!(address.domain(), "xn--bcher-kva.example");
        let encoded = Address::parse("X@XN--BCHER-KVA.example").expect("an address");
        assert!(address.is_same(&encoded));
        assert!(!address.is_same(&Address::parse("y@xn--bcher-kva.example").expect("an address")));
    }
}
