//! A keyserver's address, and what can be asked there.

use std::fmt;
use std::str::FromStr;

use reqwest::Url;

use crate::client::{Client, HostOrigin, Receipt};
use crate::error::{Error, Result};
use crate::fetched::Fetched;
use crate::hkp::{Index, IndexedKey, Server};
use crate::search::Search;
use crate::shown::{shown, without_user};
use crate::wkd::Address;
use crate::{hkp, hkp2, vks};

/// A keyserver, as its address names it:
///
/// - `hkps://keys.example.org`, `hkp://keys.example.org` (port 11371), `https://`, `http://`: the protocol that all
///   keyservers speak; a name without a scheme is `hkps`;
/// - `vks://keys.openpgp.org`: the protocol of keys.openpgp.org, over TLS; `vks+http://` without it, on this machine
///   only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keyserver {
    /// As it was given, but for a user and a password.
    name: String,
    url: Url,
    protocol: Protocol,
    host_origin: HostOrigin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Protocol {
    Hkp,
    Vks,
}

/// A certificate that is sent to a server.
#[derive(Clone, Copy, Debug)]
pub struct Certificate<'a> {
    /// Its fingerprint, in hexadecimal.
    pub fingerprint: &'a str,
    /// Its packets.
    pub packets: &'a [u8],
    /// The same in armor.
    pub armored: &'a [u8],
}

/// What became of a certificate that was sent to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Submission {
    /// The server took it.
    Taken,
    /// The server took it; it publishes an address only once its owner has agreed. These are the addresses with their
    /// states, as the server says.
    Addresses(Vec<(String, String)>),
}

impl Keyserver {
    /// Reads the address of a keyserver that a certificate or the DNS names, not the user: it has to be public, and to
    /// speak HKP.
    ///
    /// # Errors
    ///
    /// [`Error::Address`].
    pub fn of_others(text: &str) -> Result<Self> {
        let server: Self = text.parse()?;
        match server.protocol {
            Protocol::Vks => {
                let reason = "not a keyserver that others may name";
                Err(Error::Address { text: text.to_owned(), reason })
            }
            Protocol::Hkp => Ok(Self { host_origin: HostOrigin::Others, ..server }),
        }
    }

    fn server(&self) -> Server<'_> {
        Server { url: &self.url, host_origin: self.host_origin }
    }

    /// Returns the host.
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// Says whether it is on this machine, as its address says.
    pub fn is_local(&self) -> bool {
        let host = self.host().trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
    }

    /// Returns the address of its web server.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Returns the certificates that the server has; `None` if it has none, or looks for no such thing.
    ///
    /// # Errors
    ///
    /// Those of [`Client::get`].
    pub fn get(&self, client: &Client, search: &Search) -> Result<Option<Fetched>> {
        let Self { url, .. } = self;
        match (self.protocol, search) {
            (Protocol::Hkp, search) => self.get_by_hkp(client, search),
            (Protocol::Vks, Search::Fingerprint(id)) => vks::get(client, url, "by-fingerprint", id),
            (Protocol::Vks, Search::KeyId(id)) => vks::get(client, url, "by-keyid", id),
            (Protocol::Vks, Search::Address(address)) => vks::get(client, url, "by-email", address),
            (Protocol::Vks, Search::Text(_) | Search::Exact(_)) => Ok(None),
        }
    }

    fn get_by_hkp(&self, client: &Client, search: &Search) -> Result<Option<Fetched>> {
        client.begin_key()?;
        let server = self.server();
        if let Some(fetched) = hkp2::get(client, server, search)? {
            return Ok(Some(fetched));
        }
        let found = match search {
            Search::Fingerprint(id) | Search::KeyId(id) => {
                hkp::get(client, server, &format!("0x{id}"), false)
            }
            Search::Address(text) | Search::Text(text) => hkp::get(client, server, text, false),
            Search::Exact(text) => hkp::get(client, server, text, true),
        };
        // The old paths need not have keys of version 6, and some servers do not even understand the question.
        let is_of_version_6 = matches!(search, Search::Fingerprint(id) if id.len() == 64);
        let is_refused = match &found {
            Ok(None) => true,
            // SKS says 500 to the question; these mean that the server answers nothing now.
            Err(Error::Status { status, .. }) => !matches!(*status, 429 | 502..=504),
            _ => false,
        };
        if is_refused && is_of_version_6 && client.is_silent(&self.url) {
            return Err(Error::Silent { url: shown(&self.url) });
        }
        found
    }

    /// Returns the keys that the server has for a text, as it says, with the text of its answer.
    ///
    /// # Errors
    ///
    /// Those of [`Client::get`], and [`Error::Answer`].
    pub fn index(&self, client: &Client, text: &str) -> Result<Index> {
        client.begin_key()?;
        hkp::index(client, self.server(), text)
    }

    /// Returns the keys that the server has for a text, as it says. Where it offers an index by address, that has the keys
    /// with exactly this address.
    ///
    /// # Errors
    ///
    /// Those of [`Client::get`], and [`Error::Answer`].
    pub fn search(&self, client: &Client, text: &str) -> Result<Vec<IndexedKey>> {
        if self.protocol == Protocol::Hkp && Address::parse(text).is_ok() {
            client.begin_key()?;
            if let Some(keys) = hkp2::index(client, self.server(), text)? {
                return Ok(keys);
            }
        }
        Ok(self.index(client, text)?.keys)
    }

    /// Sends a certificate, and asks for mail to those of its `addresses` that the server does not publish yet.
    ///
    /// # Errors
    ///
    /// Those of [`Client::post`], and [`Error::Status`], [`Error::Answer`].
    pub fn submit(
        &self,
        client: &Client,
        certificate: Certificate<'_>,
        addresses: &[String],
    ) -> Result<Submission> {
        let Self { url, .. } = self;
        let Certificate { fingerprint, armored, .. } = certificate;
        if self.protocol == Protocol::Hkp {
            let receipt = self.add_by_hkp(client, certificate)?;
            return match receipt.is_success() {
                true => Ok(Submission::Taken),
                false => {
                    let text = String::from_utf8_lossy(&receipt.body).into_owned();
                    Err(Error::Status { url: shown(url), status: receipt.status, text })
                }
            };
        }
        let mut upload = vks::upload(client, url, fingerprint, armored)?;
        let waits = |address: &&str| upload.status.get(*address).is_some_and(|state| state == "unpublished");
        let waiting: Vec<&str> = addresses.iter().map(String::as_str).filter(waits).collect();
        if !waiting.is_empty() {
            upload = vks::request_verification(client, url, &upload, &waiting)?;
        }
        Ok(Submission::Addresses(upload.status.into_iter().collect()))
    }

    fn add_by_hkp(&self, client: &Client, certificate: Certificate<'_>) -> Result<Receipt> {
        client.begin_key()?;
        match hkp2::add(client, self.server(), certificate.packets)? {
            Some(receipt) => Ok(receipt),
            None => hkp::add(client, self.server(), certificate.armored),
        }
    }
}

impl FromStr for Keyserver {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |reason| Error::Address { text: without_user(text), reason };
        let (scheme, rest) = text.split_once("://").unwrap_or(("hkps", text));
        let scheme = scheme.to_ascii_lowercase();
        let (protocol, scheme, port) = match scheme.as_str() {
            "hkps" | "https" => (Protocol::Hkp, "https", None),
            "hkp" => (Protocol::Hkp, "http", Some(11371)),
            "http" => (Protocol::Hkp, "http", None),
            "vks" => (Protocol::Vks, "https", None),
            "vks+http" => (Protocol::Vks, "http", None),
            _ => return Err(wrong("not a keyserver: hkps://, hkp://, https://, http:// or vks://")),
        };
        let mut url =
            Url::parse(&format!("{scheme}://{rest}")).map_err(|_| wrong("not the address of a server"))?;
        if url.host_str().is_none_or(str::is_empty) || url.query().is_some() || url.fragment().is_some() {
            return Err(wrong("not the address of a server"));
        }
        if let (Some(port), None) = (port, port_of(rest)) {
            url.set_port(Some(port)).map_err(|()| wrong("not the address of a server"))?;
        }
        let server = Self { name: without_user(text), url, protocol, host_origin: HostOrigin::User };
        if protocol == Protocol::Vks && scheme == "http" && !server.is_local() {
            return Err(wrong("without TLS only on this machine"));
        }
        Ok(server)
    }
}

/// Returns the port that an address without its scheme has, be it the usual one.
fn port_of(rest: &str) -> Option<&str> {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let after_address = host.rsplit_once(']').map_or(host, |(_, after)| after);
    after_address.rsplit_once(':').map(|(_, port)| port).filter(|port| !port.is_empty())
}

impl fmt::Display for Keyserver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> String {
        text.parse::<Keyserver>().expect("a keyserver").url.to_string()
    }

    #[test]
    fn schemes_stand_for_protocols_and_ports() {
        assert_eq!(url("hkp://127.0.0.1"), "http://127.0.0.1:11371/");
        assert_eq!(url("hkp://[::1]"), "http://[::1]:11371/");
        assert_eq!(url("hkp://k.example.org:80"), "http://k.example.org/");
        assert_eq!(url("keys.example.org"), "https://keys.example.org/");
        assert_eq!(url("HKPS://k.example.org:8443/a"), "https://k.example.org:8443/a");
        assert_eq!(url("vks://keys.openpgp.org"), "https://keys.openpgp.org/");
        assert!("ldap://k.example.org".parse::<Keyserver>().is_err());
        assert!("vks+http://k.example.org".parse::<Keyserver>().is_err());
        assert!("hkps://".parse::<Keyserver>().is_err());
    }

    #[test]
    fn only_an_address_of_this_machine_is_local() {
        let is_local = |text: &str| text.parse::<Keyserver>().expect("a keyserver").is_local();
        assert!(is_local("hkp://127.0.0.1:99") && is_local("hkp://[::1]") && is_local("http://localhost"));
        assert!(!is_local("hkp://10.0.0.1") && !is_local("localhost.example.org"));
    }
}
