//! `--locate-keys`, `--locate-external-keys`, and the recipients of messages: keys of mail addresses, here or in the
//! network.

use std::cmp::Reverse;

use engine::cert::Fingerprint;
use engine::fetch::RequestedCertificates;
use engine::foreign_text::shown;
use engine::import::key_origin as kind;
use engine::network::dns::{self, Cert};
use engine::network::wkd::{self, Address};
use engine::network::{Client, Fetched, Search, without_user};
use engine::recipients::{self, RecipientSelection};
use engine::store::{Detail, Origin, Query, Selection};

use super::answers;
use super::servers;
use crate::code::Code;
use crate::commands::import::{Downloads, import_downloads};
use crate::commands::list;
use crate::failure::{CodedFailure, Failure};
use crate::keyrings::Keyrings;
use crate::names;
use crate::settings::{Mechanism, Settings};
use crate::streams::Streams;
use crate::trust;

/// Lists the key of each name: one that is here, unless `is_external`, or one from the places of `--auto-key-locate`.
pub(crate) fn run(
    arguments: &[Vec<u8>],
    settings: &Settings,
    streams: &mut Streams,
    is_external: bool,
) -> anyhow::Result<()> {
    list::write_trust_record(settings, streams)?;
    for name in arguments {
        match locate(name, is_external, settings, streams).map_err(Failure::coded) {
            Ok(Some(key)) => list::list_named(&[key.to_string().into_bytes()], settings, streams)?,
            Ok(None) => {}
            Err(failure) => streams.error(format_args!("error reading key: {}", failure?.code)),
        }
    }
    Ok(())
}

/// Finds the key that a name stands for; `None` if there is none.
fn locate(
    name: &[u8],
    is_external: bool,
    settings: &Settings,
    streams: &mut Streams,
) -> Result<Option<Fingerprint>, Failure> {
    let places = &settings.network.locate;
    let here = !is_external && !places.contains(&Mechanism::NoDefault);
    if here && let Some(key) = find_here(name, settings, streams)? {
        return Ok(Some(key));
    }
    let Some(address) = address(name) else { return Ok(None) };
    let mut last = None;
    for place in places {
        if *place == Mechanism::Local {
            if !is_external && let Some(key) = find_here(name, settings, streams)? {
                return Ok(Some(key));
            }
            continue;
        }
        match find_at(place, &address, settings, streams) {
            Ok(Some(key)) => return Ok(Some(key)),
            Ok(None) => {}
            Err(failure) => {
                let failure = failure.coded()?;
                let place = without_user(place.name());
                streams.info(format_args!(
                    "error retrieving '{}' via {place}: {}",
                    shown(name),
                    failure.code
                ));
                last = Some(failure);
            }
        }
    }
    last.map_or(Ok(None), |failure| Err(failure.into()))
}

/// Looks for keys of recipients that are not here, where `--auto-key-locate` says so. Returns what went wrong for those
/// that were not found there either.
pub(crate) fn recipients<'n>(
    names: impl Iterator<Item = &'n [u8]>,
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<Vec<(Vec<u8>, CodedFailure)>> {
    let is_local = |place: &Mechanism| matches!(place, Mechanism::Local | Mechanism::NoDefault);
    if settings.network.locate.iter().all(is_local) {
        return Ok(Vec::new());
    }
    let mut missing = Vec::new();
    for name in names.filter(|name| address(name).is_some()) {
        if let Err(failure) = locate(name, false, settings, streams).map(drop) {
            missing.push((name.to_vec(), failure.coded()?));
        }
    }
    Ok(missing)
}

impl Mechanism {
    fn name(&self) -> &str {
        match self {
            Self::Local | Self::NoDefault => "Local",
            Self::Wkd => "WKD",
            Self::Dane => "DANE",
            Self::Cert => "DNS CERT",
            Self::Keyserver => "keyserver",
            Self::Server(server) => server,
            Self::Unsupported(name) => name,
        }
    }
}

/// Returns the address that a name is, with or without angle brackets; only for such a name the network is asked.
fn address(name: &[u8]) -> Option<Address> {
    let text = std::str::from_utf8(name).ok()?;
    let inner = text.strip_prefix('<').and_then(|text| text.strip_suffix('>')).unwrap_or(text);
    Address::parse(inner).ok()
}

/// Finds the key that is here: for an address the most valid one that can be encrypted to, else one that could be before it
/// expired; else the first one.
fn find_here(
    name: &[u8],
    settings: &Settings,
    streams: &mut Streams,
) -> Result<Option<Fingerprint>, Failure> {
    let keyrings = Keyrings::open(settings, streams)?;
    let snapshots = keyrings.snapshots()?;
    let sources = snapshots.sources()?;
    let Ok(parsed) = names::parsed(name, Code::NO_PUBLIC_KEY, settings.compat) else { return Ok(None) };
    if address(name).is_some() {
        let mut candidates = Vec::new();
        for source in 0..sources.certificates.len() {
            candidates.extend(recipients::named(&sources, source, &parsed, &trust::settings(settings))?);
        }
        let encrypting = candidates.iter().filter(|candidate| candidate.newest.is_some());
        let unusable = encrypting.min_by_key(|candidate| Reverse((candidate.validity, candidate.newest)));
        let unusable = unusable.map(|candidate| candidate.fingerprint);
        if let RecipientSelection::Recipient(best) = recipients::select(&parsed, true, true, candidates) {
            return Ok(Some(best.fingerprint));
        }
        if unusable.is_some() {
            return Ok(unusable);
        }
    }
    let mut first = None;
    for (_, snapshot) in snapshots.iter() {
        let ids = snapshot.find(&parsed.query)?;
        snapshot.visit(Selection::Ids(&ids), Detail::Name, &mut |record| {
            first = first.or(Some(record.fingerprint));
            std::ops::ControlFlow::Break(())
        })?;
    }
    Ok(first)
}

/// What a place answered.
struct Found {
    fetched: Option<Fetched>,
    asked: RequestedCertificates,
    origin: Origin,
}

/// Asks a place for an address, and imports what it has.
pub(super) fn find_at(
    place: &Mechanism,
    address: &Address,
    settings: &Settings,
    streams: &mut Streams,
) -> Result<Option<Fingerprint>, Failure> {
    if let Mechanism::Unsupported(_) = place {
        return Err(Code::NOT_SUPPORTED.into());
    }
    let client = servers::client(settings)?;
    let Some(found) = ask(place, address, &client, settings, streams)? else { return Ok(None) };
    let Found { fetched, asked, origin } = found;
    if fetched.is_none() && matches!(place, Mechanism::Dane | Mechanism::Cert) {
        return Err(servers::of_dirmngr(Code::NO_NAME).into());
    }
    let Some(answer) = fetched.and_then(|fetched| answers::download(&fetched, asked)) else {
        return Err(servers::of_dirmngr(Code::NO_DATA).into());
    };
    let command = format!("gpg-keyhoard --auto-key-locate {} {address}", without_user(place.name()));
    let downloads = Downloads { answers: vec![answer], import: &settings.network.import, origin, command };
    let imported = import_downloads(downloads, settings, streams)?;
    match imported.first() {
        Some(key) => Ok(Some(*key)),
        None => Err(servers::of_dirmngr(Code::NO_DATA).into()),
    }
}

/// Asks a place for an address; `None` where there is nobody to ask.
fn ask(
    place: &Mechanism,
    address: &Address,
    client: &Client,
    settings: &Settings,
    streams: &mut Streams,
) -> Result<Option<Found>, Failure> {
    let query = || Query::Mail(address.to_string().into_bytes());
    let of_domain = |fetched, kind| Found {
        fetched,
        asked: RequestedCertificates { query: query(), only_address: true },
        origin: Origin { kind, updated: Some(settings.now), url: None },
    };
    let mut failed = |error| servers::failure(&error, settings, streams);
    let server = match place {
        Mechanism::Wkd => {
            let fetched = wkd::get(client, address).map_err(&mut failed)?;
            return Ok(Some(of_domain(fetched, kind::WKD)));
        }
        Mechanism::Dane => {
            let fetched = dns::openpgpkey(client, address).map_err(&mut failed)?;
            return Ok(Some(of_domain(fetched, kind::DANE)));
        }
        Mechanism::Cert => {
            let cert = dns::cert(client, address).map_err(&mut failed)?;
            return of_cert(cert, query(), client, settings, streams).map(Some);
        }
        Mechanism::Keyserver => servers::keyserver(settings)?,
        Mechanism::Server(server) => server.parse()?,
        Mechanism::Unsupported(_) | Mechanism::Local | Mechanism::NoDefault => return Ok(None),
    };
    let fetched = server.get(client, &Search::Exact(address.to_string())).map_err(failed)?;
    let asked = RequestedCertificates { query: query(), only_address: false };
    Ok(Some(Found { fetched, asked, origin: answers::origin_of(&server, settings) }))
}

/// Returns the certificates of a record CERT, or those of the keyserver that it names, else of the usual one.
fn of_cert(
    cert: Option<Cert>,
    query: Query,
    client: &Client,
    settings: &Settings,
    streams: &mut Streams,
) -> Result<Found, Failure> {
    let of_dns = |fetched| Found {
        fetched,
        asked: RequestedCertificates { query: query.clone(), only_address: false },
        origin: Origin { kind: kind::DANE, updated: Some(settings.now), url: None },
    };
    let (fingerprint, url) = match cert {
        None => return Ok(of_dns(None)),
        Some(Cert::Certificates(fetched)) => return Ok(of_dns(Some(fetched))),
        Some(Cert::Elsewhere { fingerprint, url }) => (fingerprint, url),
    };
    let server = match url.and_then(|url| answers::named_by_others(url.as_bytes())) {
        Some(server) => server,
        None => servers::keyserver(settings)?,
    };
    let (search, query) = answers::of_key(fingerprint.as_bytes()).ok_or(Code::NO_NAME)?;
    let fetched = server.get(client, &search).map_err(|error| servers::failure(&error, settings, streams))?;
    let origin = answers::origin_of(&server, settings);
    Ok(Found { fetched, asked: RequestedCertificates { query, only_address: false }, origin })
}
