//! Certificates in the DNS: records OPENPGPKEY (RFC 7929) and CERT (RFC 4398).
//!
//! Only records are taken that DNSSEC proves, from the root zone's keys on, or from those of [`DnsSettings`]. They are
//! validated here, so that neither the resolver nor the way to it has to be trusted.

use std::sync::Arc;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::dnssec::TrustAnchors;
use hickory_resolver::proto::rr::rdata::cert::CertType;
use hickory_resolver::proto::rr::{Name, RData, Record, RecordType};
use hickory_resolver::system_conf::read_system_conf;
use reqwest::Url;
use verify::naming;

use crate::client::Client;
use crate::dns_settings::DnsSettings;
use crate::error::{Error, Result};
use crate::fetched::Fetched;
use crate::limits::MAX_CERTIFICATES;
use crate::wkd::Address;

/// The bytes of the digest of a local part that are part of a name (RFC 7929, 3).
const DIGEST_LENGTH: usize = 28;

/// What a record CERT says of a key (RFC 4398, 2.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cert {
    /// The certificates themselves.
    Certificates(Fetched),
    /// A key's fingerprint, and where it is, if the record says so.
    Elsewhere {
        /// The fingerprint, in hexadecimal.
        fingerprint: String,
        /// The address of the certificate.
        url: Option<String>,
    },
}

/// Returns the certificates that a domain has for an address in records OPENPGPKEY. As in GnuPG, the local part is asked
/// for in small letters, if there is nothing for it as it was written.
///
/// # Errors
///
/// [`Error::Dns`], [`Error::NotValidated`], [`Error::DnsThroughProxy`], [`Error::Timeout`], [`Error::TooLong`],
/// [`Error::File`] for the trust anchor.
pub fn openpgpkey(client: &Client, address: &Address) -> Result<Option<Fetched>> {
    for local in spellings(address.local()) {
        let name = format!("{}._openpgpkey.{}.", digest(&local), address.domain());
        let records = records(client, &name, address.domain(), RecordType::OPENPGPKEY)?;
        let keys = records.iter().filter_map(|record| match &record.data {
            RData::OPENPGPKEY(key) => Some(key.public_key.as_slice()),
            _ => None,
        });
        let bytes: Vec<u8> = keys.flatten().copied().collect();
        if !bytes.is_empty() {
            return fetched(&name, RecordType::OPENPGPKEY, bytes).map(Some);
        }
    }
    Ok(None)
}

/// Returns what a domain has for an address in a record CERT; certificates before fingerprints.
///
/// # Errors
///
/// Those of [`openpgpkey`].
pub fn cert(client: &Client, address: &Address) -> Result<Option<Cert>> {
    // RFC 4398, 3.3: the address with a dot instead of the at sign.
    let name = format!("{}.{}.", address.local().to_ascii_lowercase(), address.domain());
    let records = records(client, &name, address.domain(), RecordType::CERT)?;
    let of_type = |wanted: CertType| {
        records.iter().find_map(move |record| match &record.data {
            RData::CERT(cert) if cert.cert_type == wanted => Some(cert.cert_data.as_slice()),
            _ => None,
        })
    };
    if let Some(bytes) = of_type(CertType::PGP) {
        return fetched(&name, RecordType::CERT, bytes.to_vec())
            .map(|fetched| Some(Cert::Certificates(fetched)));
    }
    Ok(of_type(CertType::IPGP).and_then(elsewhere))
}

/// Reads a fingerprint behind its length, and a URL (RFC 4398, 2.1, type IPGP).
fn elsewhere(data: &[u8]) -> Option<Cert> {
    let (length, rest) = data.split_first()?;
    let (fingerprint, url) = rest.split_at_checked(usize::from(*length))?;
    if !matches!(fingerprint.len(), 20 | 32) {
        return None;
    }
    let fingerprint = fingerprint.iter().map(|byte| format!("{byte:02X}")).collect();
    let url = String::from_utf8(url.to_vec()).ok()?;
    Some(Cert::Elsewhere { fingerprint, url: Some(url).filter(|url| !url.is_empty()) })
}

/// Returns a local part as it is written, and in small letters if that differs.
fn spellings(local: &str) -> Vec<String> {
    let mut spellings = vec![local.to_owned(), local.to_ascii_lowercase()];
    spellings.dedup();
    spellings
}

/// Returns the name of a local part below `_openpgpkey`.
fn digest(local: &str) -> String {
    let digest = naming::sha256(&[local.as_bytes()]);
    digest[..DIGEST_LENGTH].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn fetched(name: &str, kind: RecordType, bytes: Vec<u8>) -> Result<Fetched> {
    let url = url(name, kind)?.to_string();
    match bytes.len() > MAX_CERTIFICATES {
        true => Err(Error::TooLong { url, limit: MAX_CERTIFICATES }),
        false => Ok(Fetched { bytes, url }),
    }
}

/// Returns the address of records (RFC 4501).
fn url(name: &str, kind: RecordType) -> Result<Url> {
    let text = format!("dns:{}?type={kind}", name.trim_end_matches('.'));
    Url::parse(&text).map_err(|_| Error::Address { text, reason: "not a name in the DNS" })
}

/// Returns the records of a name, all of them proven.
fn records(client: &Client, name: &str, domain: &str, kind: RecordType) -> Result<Vec<Record>> {
    let url = url(name, kind)?;
    client.refuse_behind_proxy(domain)?;
    let settings = &client.settings().dns;
    let (config, options) = configured(settings).map_err(|error| failed(name, error))?;
    let anchors = anchors(settings)?;
    let answered = client.in_time(&url, async {
        let builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
        let resolver = builder.with_options(options).with_trust_anchor(anchors).build();
        let resolver = resolver.map_err(|error| failed(name, error))?;
        Ok(resolver.lookup(name, kind).await)
    });
    match answered? {
        Ok(lookup) => proven(name, lookup.answers(), kind),
        Err(NetError::Dns(DnsError::NoRecordsFound(_))) => Ok(Vec::new()),
        // That nothing is there need not be proven: nothing is taken.
        Err(NetError::Dns(DnsError::Nsec { proof, .. })) if !proof.is_bogus() => Ok(Vec::new()),
        Err(NetError::Dns(DnsError::Nsec { .. } | DnsError::DnssecBogus)) => {
            Err(Error::NotValidated { name: name.to_owned() })
        }
        Err(error) => Err(failed(name, error)),
    }
}

/// Returns the records of one type that a name has, if they and the aliases that lead to them are all proven. What is
/// proven of other names is of no interest: anybody can add it to an answer.
fn proven(name: &str, answers: &[Record], kind: RecordType) -> Result<Vec<Record>> {
    let counts = |record: &&Record| matches!(record.record_type(), found if found == kind || found == RecordType::CNAME);
    match answers.iter().filter(counts).all(|record| record.proof.is_secure()) {
        true => {
            let owner = Name::from_utf8(name).map_err(|error| failed(name, error.into()))?;
            let owner = aliased(owner, answers);
            let of_owner = |record: &&Record| record.record_type() == kind && record.name == owner;
            Ok(answers.iter().filter(of_owner).cloned().collect())
        }
        false => Err(Error::NotValidated { name: name.to_owned() }),
    }
}

/// Follows the aliases of an answer, each of which is used once.
fn aliased(mut owner: Name, answers: &[Record]) -> Name {
    for _ in answers {
        let alias = answers.iter().find_map(|record| match &record.data {
            RData::CNAME(alias) if record.name == owner => Some(alias.0.clone()),
            _ => None,
        });
        match alias {
            Some(alias) => owner = alias,
            None => break,
        }
    }
    owner
}

fn configured(settings: &DnsSettings) -> std::result::Result<(ResolverConfig, ResolverOpts), NetError> {
    let (config, mut options) = match settings.server {
        None => read_system_conf()?,
        Some(server) => {
            let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()];
            let connections = connections.map(|connection| with_port(connection, server.port())).to_vec();
            let server = NameServerConfig::new(server.ip(), true, connections);
            (ResolverConfig::from_parts(None, Vec::new(), vec![server]), ResolverOpts::default())
        }
    };
    options.use_hosts_file = ResolveHosts::Never;
    options.validate = true;
    Ok((config, options))
}

fn with_port(mut connection: ConnectionConfig, port: u16) -> ConnectionConfig {
    connection.port = if port == 0 { connection.port } else { port };
    connection
}

fn anchors(settings: &DnsSettings) -> Result<Arc<TrustAnchors>> {
    let Some(path) = &settings.trust_anchor else { return Ok(Arc::new(TrustAnchors::default())) };
    let failed = |error: &dyn std::fmt::Display| Error::File {
        path: path.clone(),
        source: std::io::Error::other(error.to_string()),
    };
    let anchors = TrustAnchors::from_file(path).map_err(|error| failed(&error))?;
    Ok(Arc::new(anchors))
}

fn failed(name: &str, error: NetError) -> Error {
    Error::Dns { name: name.to_owned(), source: Box::new(error) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hickory_resolver::proto::dnssec::Proof;
    use hickory_resolver::proto::rr::rdata::{CNAME, OPENPGPKEY};

    #[test]
    fn a_local_part_is_named_by_the_first_28_bytes_of_its_digest() {
        // The example of RFC 7929, 3.
        assert_eq!(digest("hugh"), "c93f1e400f26708f98cb19d936620da35eec8f72e57f9eec01c1afd6");
        assert_eq!(spellings("Hugh"), ["Hugh", "hugh"]);
        assert_eq!(spellings("hugh"), ["hugh"]);
    }

    #[test]
    fn what_is_proven_of_another_name_is_not_taken() {
        let name = |text: &str| Name::from_utf8(text).expect("a name");
        let record = |owner: &str, data: RData| {
            let mut record = Record::from_rdata(name(owner), 300, data);
            record.proof = Proof::Secure;
            record
        };
        let key = |byte: u8| RData::OPENPGPKEY(OPENPGPKEY::new(vec![byte]));
        let alias = RData::CNAME(CNAME(name("b.example.")));
        let answers =
            [record("a.example.", alias), record("evil.example.", key(1)), record("b.example.", key(2))];
        let taken = |asked: &str, answers: &[Record]| {
            let found = proven(asked, answers, RecordType::OPENPGPKEY).expect("all is proven");
            found.into_iter().map(|record| record.data).collect::<Vec<_>>()
        };
        assert_eq!(taken("a.example.", &answers), [key(2)]);
        assert_eq!(taken("c.example.", &answers), []);
        let mut unproven = answers;
        unproven[0].proof = Proof::Insecure;
        assert!(proven("a.example.", &unproven, RecordType::OPENPGPKEY).is_err());
    }

    #[test]
    fn a_fingerprint_stands_behind_its_length() {
        let data = [&[20][..], &[0xab; 20], b"https://example.org/key"].concat();
        let read = elsewhere(&data).expect("a fingerprint");
        let fingerprint = "AB".repeat(20);
        assert_eq!(read, Cert::Elsewhere { fingerprint, url: Some("https://example.org/key".to_owned()) });
        for wrong in [&[][..], &[20, 1, 2], &[0], &[3, 1, 2, 3]] {
            assert_eq!(elsewhere(wrong), None);
        }
    }
}
