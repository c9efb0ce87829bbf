//! Requests with limits: of time, size and redirects, and to public addresses only.
//!
//! - A request as a whole takes no longer than [`Settings::timeout`], connecting no longer than ten seconds of that.
//! - An answer that is longer than the caller's limit is an error, when the limit is passed.
//! - A redirect goes to `https://` only, at most [`MAX_REDIRECTS`] times, and never after something was sent.
//! - A connection goes to a public address, which is checked after the name was resolved. Other addresses have to be
//!   the user's own wish: written as a number or as `localhost` in a URL that the user gave ([`HostOrigin::User`]), or given
//!   for a name in the settings ([`Settings::addresses`]), which no redirect to another host leads to. Proxies may be
//!   anywhere; unless they are `socks5://`, they resolve names themselves.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error as _;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, ALLOW, CONTENT_TYPE, LOCATION};
use reqwest::redirect::Policy;
use reqwest::{Method, Response, StatusCode, Url};
use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::runtime::{Builder, Runtime};

use crate::dns_settings::DnsSettings;
use crate::error::{Error, Result};
use crate::fetched::Fetched;
use crate::fixed_address::FixedAddress;
use crate::limits::{MAX_CERTIFICATES, MAX_REDIRECTS};
use crate::proxy::Proxies;
use crate::public_address::is_public;
use crate::resolver::{NotPublic, Resolver};
use crate::shown::{shown, without_user};

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a server may take to say which paths it offers.
const OFFER_TIMEOUT: Duration = Duration::from_secs(5);
/// How much of a refusal's text is kept, in bytes.
const MAX_REFUSAL: usize = 4 << 10;

/// What a user can do who means a private address.
const ADDRESSES: &str = "if it is meant, enter it under [network.addresses] in config.toml";
/// Nothing but what the user names leads to a private address.
const NO_REDIRECT: &str = "redirects there are not followed";
/// What the HTTP client says if a proxy would not connect, or not find the name. It passes on the text only: an answer
/// to CONNECT other than 200, and the replies 1 and 4 of RFC 1928.
const NOT_CONNECTED: [&str; 3] =
    ["tunnel error: unsuccessful", "SOCKS error: general server failure", "SOCKS error: host unreachable"];

/// What a client is told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long a request may take as a whole.
    pub timeout: Duration,
    /// The proxies.
    pub proxies: Proxies,
    /// Addresses that are taken for names, whatever they are, instead of what the system's resolver says.
    pub addresses: BTreeMap<String, FixedAddress>,
    /// How records of the DNS are asked for.
    pub dns: DnsSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            proxies: Proxies::default(),
            addresses: BTreeMap::new(),
            dns: DnsSettings::default(),
        }
    }
}

/// Who named the host of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostOrigin {
    /// The user: it may be this machine, or in a private network.
    User,
    /// Somebody else: it has to be public.
    Others,
}

/// An answer to an upload.
#[derive(Clone, Debug)]
pub struct Receipt {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

impl Receipt {
    /// Returns whether the server accepted what was sent.
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Makes requests, one after the other, over connections that are kept.
pub struct Client {
    settings: Settings,
    resolver: Resolver,
    tls: ClientConfig,
    http: RefCell<reqwest::Client>,
    /// What servers said of their paths: which media types they take there, if they offer them.
    offers: RefCell<BTreeMap<String, Option<String>>>,
    /// Servers, as origins of URLs, that did not answer the question what they offer.
    silent: RefCell<BTreeSet<String>>,
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Client").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Client {
    /// Makes a client. Nothing is sent.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`], for one if the system has no certificates.
    pub fn new(settings: Settings) -> Result<Self> {
        let resolver = Resolver::new(settings.addresses.clone(), settings.proxies.hosts());
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_platform_verifier())
            .map_err(|error| Error::Setup(error.into()))?
            .with_no_client_auth();
        let http = RefCell::new(http_client(&settings, &resolver, &tls)?);
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = Some(runtime.map_err(|error| Error::Setup(error.into()))?);
        let (offers, silent) = (RefCell::default(), RefCell::default());
        Ok(Self { settings, resolver, tls, http, offers, silent, runtime })
    }

    /// Begins with another key: through Tor, what follows goes over another circuit.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`].
    pub(crate) fn begin_key(&self) -> Result<()> {
        if self.settings.proxies.is_isolating() {
            *self.http.borrow_mut() = http_client(&self.settings, &self.resolver, &self.tls)?;
        }
        Ok(())
    }

    /// Returns the certificates at a URL that the user names; through Tor, over a circuit of its own.
    ///
    /// # Errors
    ///
    /// Those of [`Client::get`], and [`Error::Setup`].
    pub fn fetch(&self, url: &Url) -> Result<Option<Fetched>> {
        self.begin_key()?;
        let bytes = self.get(url, HostOrigin::User, MAX_CERTIFICATES)?;
        Ok(bytes.map(|bytes| Fetched { bytes, url: shown(url) }))
    }

    /// Returns what is at a URL, at most `limit` bytes; `None` if there is nothing (HTTP 404 and 410).
    ///
    /// # Errors
    ///
    /// All but [`Error::Setup`] and [`Error::File`].
    pub fn get(&self, url: &Url, host_origin: HostOrigin, limit: usize) -> Result<Option<Vec<u8>>> {
        self.in_time(url, async {
            let (mut target, mut host_origin) = (url.clone(), host_origin);
            for _ in 0..=MAX_REDIRECTS {
                self.check_host(&target, host_origin)?;
                let advice = if target.host() == url.host() { ADDRESSES } else { NO_REDIRECT };
                if advice == NO_REDIRECT {
                    self.check_fixed(&target)?;
                }
                let request = self.http.borrow().get(target.clone());
                let response = request.send().await.map_err(|error| failed(&target, error, advice))?;
                if !response.status().is_redirection() {
                    return found(&target, response, limit).await;
                }
                (target, host_origin) = (redirected(&target, &response)?, HostOrigin::Others);
            }
            Err(Error::Redirect {
                url: shown(url),
                target: shown(&target),
                reason: "redirected more than 4 times",
            })
        })
    }

    /// Sends `body` to a URL.
    ///
    /// # Errors
    ///
    /// All but [`Error::Setup`] and [`Error::File`].
    pub fn post(
        &self,
        url: &Url,
        host_origin: HostOrigin,
        kind: &str,
        body: Vec<u8>,
        limit: usize,
    ) -> Result<Receipt> {
        self.in_time(url, async {
            self.check_host(url, host_origin)?;
            let request = self.http.borrow().post(url.clone()).header(CONTENT_TYPE, kind).body(body);
            let response = request.send().await.map_err(|error| failed(url, error, ADDRESSES))?;
            let status = response.status();
            if status.is_redirection() {
                let target = shown(&redirected(url, &response)?);
                let reason = "an upload is not redirected";
                return Err(Error::Redirect { url: shown(url), target, reason });
            }
            Ok(Receipt { status: status.as_u16(), body: read(url, response, limit).await? })
        })
    }

    /// Returns the media types that a server takes at a path, if it offers a method there. It is asked once, with OPTIONS,
    /// and about no other path if it [does not answer](Client::is_silent).
    ///
    /// # Errors
    ///
    /// [`Error::NotPublic`]; a server that makes no sense of the question, or says nothing in time, offers nothing.
    pub(crate) fn offer(&self, url: &Url, host_origin: HostOrigin, method: &str) -> Result<Option<String>> {
        if let Some(known) = self.offers.borrow().get(url.as_str()) {
            return Ok(known.clone());
        }
        if self.is_silent(url) {
            return Ok(None);
        }
        let asked = self.within(OFFER_TIMEOUT.min(self.settings.timeout), url, async {
            self.check_host(url, host_origin)?;
            let request = self.http.borrow().request(Method::OPTIONS, url.clone());
            request.send().await.map_err(|error| failed(url, error, ADDRESSES))
        });
        let offer = match asked {
            Ok(response) => offered(&response, method),
            Err(error @ Error::NotPublic { .. }) => return Err(error),
            // The question that follows says what is wrong.
            Err(_) => {
                self.silent.borrow_mut().insert(url.origin().ascii_serialization());
                return Ok(None);
            }
        };
        self.offers.borrow_mut().insert(url.to_string(), offer.clone());
        Ok(offer)
    }

    /// Says whether a URL's server did not answer the question what it offers.
    pub(crate) fn is_silent(&self, url: &Url) -> bool {
        self.silent.borrow().contains(&url.origin().ascii_serialization())
    }

    /// Says whether a URL's name exists; `None` if a proxy resolves it.
    ///
    /// # Errors
    ///
    /// [`Error::Resolve`] and [`Error::Timeout`].
    pub(crate) fn resolves(&self, url: &Url) -> Result<Option<bool>> {
        if self.settings.proxies.resolve(url) {
            return Ok(None);
        }
        let host = url.host_str().unwrap_or_default();
        self.in_time(url, async {
            let resolved = self.resolver.resolves(host).await;
            resolved.map(Some).map_err(|source| Error::Resolve { host: host.to_owned(), source })
        })
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Refuses to ask the DNS about a domain whose names a proxy resolves: the system's resolver is to hear nothing of
    /// it.
    pub(crate) fn refuse_behind_proxy(&self, domain: &str) -> Result<()> {
        let is_behind =
            Url::parse(&format!("https://{domain}/")).is_ok_and(|url| self.settings.proxies.resolve(&url));
        if is_behind { Err(Error::DnsThroughProxy { domain: domain.to_owned() }) } else { Ok(()) }
    }

    /// Waits for the end, but no longer than a request may take.
    pub(crate) fn in_time<T>(&self, url: &Url, request: impl Future<Output = Result<T>>) -> Result<T> {
        self.within(self.settings.timeout, url, request)
    }

    fn within<T>(&self, timeout: Duration, url: &Url, request: impl Future<Output = Result<T>>) -> Result<T> {
        let runtime = self.runtime.as_ref().expect("the runtime lasts until the client is dropped");
        let limited = runtime.block_on(async { tokio::time::timeout(timeout, request).await });
        limited.unwrap_or_else(|_| Err(Error::Timeout { url: shown(url), seconds: timeout.as_secs() }))
    }

    /// Refuses a URL whose host is written as an address that is not public, unless the user wrote it.
    fn check_host(&self, url: &Url, host_origin: HostOrigin) -> Result<()> {
        let host = url.host_str().unwrap_or_default().trim_end_matches('.');
        let is_this_machine = host == "localhost" || host.ends_with(".localhost");
        let literal = host.trim_start_matches('[').trim_end_matches(']').parse().ok();
        let literal = literal.or(is_this_machine.then_some(IpAddr::from([127, 0, 0, 1])));
        match literal {
            Some(address) if host_origin == HostOrigin::Others && !is_public(address) => {
                Err(Error::NotPublic { url: shown(url), host: host.to_owned(), address, advice: NO_REDIRECT })
            }
            _ => Ok(()),
        }
    }

    /// Refuses a URL that a redirect leads to if the user gave its host an address that is not public: that was meant
    /// for the user's own requests.
    fn check_fixed(&self, url: &Url) -> Result<()> {
        let host = url.host_str().unwrap_or_default().trim_end_matches('.').to_ascii_lowercase();
        match self.settings.addresses.get(&host) {
            Some(FixedAddress::At(address)) if !is_public(address.ip()) => {
                Err(Error::NotPublic { url: shown(url), host, address: address.ip(), advice: NO_REDIRECT })
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // A name that is still being resolved would be waited for.
            runtime.shutdown_background();
        }
    }
}

fn http_client(settings: &Settings, resolver: &Resolver, tls: &ClientConfig) -> Result<reqwest::Client> {
    let setup = |error: reqwest::Error| Error::Setup(error.into());
    let user = random_name().map_err(|error| Error::Setup(error.to_string().into()))?;
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls.clone())
        .http1_only()
        .connect_timeout(CONNECT_TIMEOUT.min(settings.timeout))
        .redirect(Policy::none())
        .referer(false)
        .no_proxy()
        .dns_resolver(Arc::new(resolver.clone()))
        .proxy(settings.proxies.for_client(&user))
        .build()
        .map_err(setup)
}

/// Returns a name that was never used.
fn random_name() -> std::result::Result<String, getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns the media types that an answer to OPTIONS names, if it allows a method.
fn offered(response: &Response, method: &str) -> Option<String> {
    let values = |name| {
        let values = response.headers().get_all(name).iter().filter_map(|value| value.to_str().ok());
        values.collect::<Vec<_>>().join(",")
    };
    let is_allowed = values(ALLOW).split(',').any(|allowed| allowed.trim().eq_ignore_ascii_case(method));
    (response.status() == StatusCode::OK && is_allowed).then(|| values(ACCEPT))
}

/// Returns where an answer redirects to.
fn redirected(url: &Url, response: &Response) -> Result<Url> {
    let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
    let refused =
        |target: &str, reason| Error::Redirect { url: shown(url), target: without_user(target), reason };
    let location = location.ok_or_else(|| refused("", "there is no address"))?;
    let target = url.join(location).map_err(|_| refused(location, "not an address"))?;
    match target.scheme() {
        "https" => Ok(target),
        _ => Err(refused(target.as_str(), "redirects are followed to https:// only")),
    }
}

/// Returns the body of an answer to a question; `None` if it says that there is nothing.
async fn found(url: &Url, mut response: Response, limit: usize) -> Result<Option<Vec<u8>>> {
    match response.status() {
        StatusCode::OK => read(url, response, limit).await.map(Some),
        StatusCode::NOT_FOUND | StatusCode::GONE => Ok(None),
        status => {
            let mut text = Vec::new();
            while let Ok(Some(chunk)) = response.chunk().await {
                text.extend_from_slice(&chunk[..chunk.len().min(MAX_REFUSAL - text.len())]);
                if text.len() == MAX_REFUSAL {
                    break;
                }
            }
            let text = String::from_utf8_lossy(&text).into_owned();
            Err(Error::Status { url: shown(url), status: status.as_u16(), text })
        }
    }
}

/// Returns the body of an answer.
async fn read(url: &Url, mut response: Response, limit: usize) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failed(url, error, ADDRESSES))? {
        if body.len() + chunk.len() > limit {
            return Err(Error::TooLong { url: shown(url), limit });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Returns the error for a request that failed. The HTTP client's own would name the URL again.
/// `advice` is for a name at an address that is not public.
fn failed(url: &Url, error: reqwest::Error, advice: &'static str) -> Error {
    let error = error.without_url();
    let mut cause = error.source();
    while let Some(current) = cause {
        let inner = current.downcast_ref::<std::io::Error>().and_then(|error| error.get_ref());
        let refused = current.downcast_ref().or_else(|| inner.and_then(|inner| inner.downcast_ref()));
        if let Some(NotPublic { host, address }) = refused {
            return Error::NotPublic { url: shown(url), host: host.clone(), address: *address, advice };
        }
        if NOT_CONNECTED.contains(&current.to_string().as_str()) {
            return Error::NotConnected { url: shown(url), source: error.into() };
        }
        cause = current.source();
    }
    match error.is_timeout() {
        true => Error::Timeout { url: shown(url), seconds: CONNECT_TIMEOUT.as_secs() },
        false => Error::Unreachable { url: shown(url), source: error.into() },
    }
}
