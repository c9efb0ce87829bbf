//! The sources that are asked for certificates, one after the other.

use std::fmt;
use std::fs::File;
use std::io::Read;

use cert::Origin;
use network::limits::MAX_CERTIFICATES;
use network::{Client, Fetched, Keyserver, dns, wkd};
use store::{Store, Timestamp};

use super::answer::{Answer, RequestedCertificates, Taken, take};
use super::request::Request;
use crate::Result;
use crate::import::key_origin as kind;

/// A source of certificates.
#[derive(Clone, Copy, Debug)]
pub enum FetchSource<'a> {
    /// The Web Key Directory of an address's domain.
    Wkd,
    /// Records OPENPGPKEY of the address's domain.
    Dns,
    /// A keyserver.
    Keyserver(&'a Keyserver),
    /// The place that the request itself names.
    Named,
}

/// The result of asking one source.
#[derive(Debug)]
pub enum FetchOutcome {
    /// It has nothing.
    Nothing,
    /// It could not be asked.
    Failed(network::Error),
    /// It answered; what was taken of that.
    Answer {
        /// The address that was asked.
        url: String,
        /// What was taken.
        taken: Taken,
    },
}

impl FetchSource<'_> {
    /// Returns where a request is looked for: a URL or a file there; an address at its domain first, where `wkd` and
    /// `dns` say so, then on the keyservers.
    pub fn of<'a>(
        request: &Request,
        wkd: bool,
        dns: bool,
        keyservers: &'a [Keyserver],
    ) -> Vec<FetchSource<'a>> {
        let domain = match request {
            Request::Url(_) | Request::File(_) => return vec![FetchSource::Named],
            Request::Address(_) => [wkd.then_some(FetchSource::Wkd), dns.then_some(FetchSource::Dns)],
            Request::Key(_) => [None, None],
        };
        domain.into_iter().flatten().chain(keyservers.iter().map(FetchSource::Keyserver)).collect()
    }

    /// Says whether the place is the address's own domain, which vouches for no other address.
    fn is_domain(self) -> bool {
        matches!(self, Self::Wkd | Self::Dns)
    }

    /// Asks for a request's bytes.
    pub(super) fn ask(self, client: &Client, request: &Request) -> network::Result<Option<Fetched>> {
        match (self, request) {
            (Self::Keyserver(server), request) => match request.search() {
                Some(search) => server.get(client, &search),
                None => Ok(None),
            },
            (Self::Wkd, Request::Address(address)) => wkd::get(client, address),
            (Self::Dns, Request::Address(address)) => dns::openpgpkey(client, address),
            (Self::Wkd | Self::Dns, _) => Ok(None),
            (Self::Named, Request::Url(url)) => client.fetch(url),
            (Self::Named, Request::File(path)) => {
                let failed = |source| network::Error::File { path: path.clone(), source };
                let mut bytes = Vec::new();
                let file = File::open(path).map_err(failed)?;
                file.take(MAX_CERTIFICATES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
                let url = format!("file:{}", path.display());
                if bytes.len() > MAX_CERTIFICATES {
                    return Err(network::Error::TooLong { url, limit: MAX_CERTIFICATES });
                }
                Ok(Some(Fetched { bytes, url }))
            }
            (Self::Named, Request::Address(_) | Request::Key(_)) => Ok(None),
        }
    }

    /// Returns where a certificate comes from that this place has. As in GnuPG, of a keyserver that is the server
    /// alone. Of a directory it is the address that was asked for, which a refresh asks for again; GnuPG notes none.
    pub(super) fn origin(self, request: &Request, url: &str, now: Timestamp) -> Origin {
        let (kind, url) = match self {
            Self::Keyserver(server) => (kind::KEYSERVER, Some(server.to_string())),
            Self::Wkd => (kind::WKD, Some(request.to_string())),
            Self::Dns => (kind::DANE, Some(request.to_string())),
            Self::Named if url.starts_with("file:") => (kind::FILE, Some(url.to_owned())),
            Self::Named => (kind::URL, Some(url.to_owned())),
        };
        Origin { kind, updated: Some(now), url }
    }
}

impl fmt::Display for FetchSource<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wkd => formatter.write_str("Web Key Directory"),
            Self::Dns => formatter.write_str("DNS"),
            Self::Keyserver(server) => server.fmt(formatter),
            Self::Named => formatter.write_str("there"),
        }
    }
}

/// Asks for a request at one place after the other until something is taken, and says of each what came. Returns
/// whether something that was asked for is now here.
///
/// # Errors
///
/// The database's errors. What goes wrong in the network is [`FetchOutcome::Failed`].
pub fn fetch(
    store: &dyn Store,
    client: &Client,
    request: &Request,
    sources: &[FetchSource<'_>],
    command: &str,
    now: Timestamp,
    on_outcome: &mut dyn FnMut(FetchSource<'_>, &FetchOutcome) -> Result<()>,
) -> Result<bool> {
    for &source in sources {
        let outcome = match source.ask(client, request) {
            Ok(None) => FetchOutcome::Nothing,
            Err(error) => FetchOutcome::Failed(error),
            Ok(Some(Fetched { bytes, url })) => {
                let asked =
                    RequestedCertificates { query: request.query(), only_address: source.is_domain() };
                let origin = source.origin(request, &url, now);
                let answer = Answer { bytes: &bytes, asked: &asked, origin: &origin };
                let taken = take(store, answer, &format!("{command} (from {url})"), now)?;
                FetchOutcome::Answer { url, taken }
            }
        };
        on_outcome(source, &outcome)?;
        if matches!(&outcome, FetchOutcome::Answer { taken, .. } if taken.is_something()) {
            return Ok(true);
        }
    }
    Ok(false)
}
