//! Through which proxy requests go.
//!
//! The environment says so as for other programs: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`, in capital or
//! small letters. A proxy with the scheme `socks5h` resolves names itself, as Tor does; unless its address has a user
//! name, each key is asked for under another one, for which Tor makes another circuit (`IsolateSOCKSAuth`). With the
//! scheme `socks5` names are resolved here.

use std::ffi::OsString;
use std::fmt;
use std::net::IpAddr;

use reqwest::{Proxy, Url};

use crate::error::{Error, Result};
use crate::shown::{shown, without_user};

/// Returns what a variable of the environment is.
pub type Environment<'a> = &'a dyn Fn(&str) -> Option<OsString>;

/// The proxies of a client.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Proxies {
    /// For `https://`.
    https: Option<Url>,
    /// For `http://`.
    http: Option<Url>,
    /// Which hosts are reached without one.
    exceptions: Vec<Exception>,
}

/// Hosts that are reached without a proxy, as one part of `NO_PROXY` names them.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Exception {
    /// `*`.
    All,
    /// Addresses whose first bits are these.
    Network(IpAddr, u32),
    /// A domain, in lower case, and all below it.
    Domain(String),
}

/// Leaves out users and passwords.
impl fmt::Debug for Proxies {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [https, http] = [&self.https, &self.http].map(|proxy| proxy.as_ref().map(shown));
        formatter
            .debug_struct("Proxies")
            .field("https", &https)
            .field("http", &http)
            .field("exceptions", &self.exceptions)
            .finish()
    }
}

impl Proxies {
    /// One for everything, as the user's configuration says.
    ///
    /// # Errors
    ///
    /// [`Error::Address`] for what is no address of a proxy.
    pub fn for_all(address: &str) -> Result<Self> {
        let proxy = parse(address)?;
        Ok(Self { https: Some(proxy.clone()), http: Some(proxy), exceptions: Vec::new() })
    }

    /// Those of the environment.
    ///
    /// # Errors
    ///
    /// [`Error::Address`] for what is no address of a proxy; [`Error::Variable`].
    pub fn of_environment(environment: Environment<'_>) -> Result<Self> {
        let all = variable(environment, "ALL_PROXY")?;
        // A program that a web server runs gets `HTTP_PROXY` from whoever asks the server (CVE-2016-5385).
        let is_served = environment("REQUEST_METHOD").is_some();
        let http = if is_served { None } else { variable(environment, "HTTP_PROXY")? };
        let https = variable(environment, "HTTPS_PROXY")?;
        let read = |address: Option<String>| address.as_deref().map(parse).transpose();
        let exceptions = variable(environment, "NO_PROXY")?.unwrap_or_default();
        Ok(Self {
            https: read(https.or_else(|| all.clone()))?,
            http: read(http.or(all))?,
            exceptions: exceptions.split(',').filter_map(Exception::parse).collect(),
        })
    }

    /// Returns the one that a URL is asked for through.
    fn of(&self, url: &Url) -> Option<&Url> {
        let proxy = if url.scheme() == "https" { &self.https } else { &self.http };
        let host = url.host_str().unwrap_or_default();
        proxy.as_ref().filter(|_| !self.exceptions.iter().any(|exception| exception.covers(host)))
    }

    /// Says whether a proxy resolves a URL's name.
    pub(crate) fn resolve(&self, url: &Url) -> bool {
        self.of(url).is_some_and(|proxy| proxy.scheme() != "socks5")
    }

    /// Says whether each key is asked for under a user name of its own.
    pub(crate) fn is_isolating(&self) -> bool {
        [&self.https, &self.http].into_iter().flatten().any(isolates)
    }

    /// Returns the names of their hosts.
    pub(crate) fn hosts(&self) -> Vec<String> {
        let proxies = [&self.https, &self.http].into_iter().flatten();
        proxies.filter_map(Url::host_str).map(str::to_ascii_lowercase).collect()
    }

    /// Returns them for the HTTP client; `user` is the name for the one who isolates.
    pub(crate) fn for_client(&self, user: &str) -> Proxy {
        let (proxies, user) = (self.clone(), user.to_owned());
        Proxy::custom(move |url| {
            let mut proxy = proxies.of(url)?.clone();
            if isolates(&proxy) {
                // Only an address without a host could not have them.
                let _ = proxy.set_username(&user);
                let _ = proxy.set_password(Some(&user));
            }
            Some(proxy)
        })
    }
}

impl Exception {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text == "*" {
            return Some(Self::All);
        }
        if let Ok(address) = text.trim_matches(['[', ']']).parse() {
            return Some(Self::Network(address, width(address)));
        }
        if let Some((address, bits)) = text.split_once('/')
            && let (Ok(address), Ok(bits)) = (address.parse(), bits.parse())
        {
            return (bits <= width(address)).then_some(Self::Network(address, bits));
        }
        let domain = text.trim_start_matches('.').to_ascii_lowercase();
        (!domain.is_empty()).then_some(Self::Domain(domain))
    }

    fn covers(&self, host: &str) -> bool {
        let host = host.trim_matches(['[', ']']).trim_end_matches('.').to_ascii_lowercase();
        match (self, host.parse::<IpAddr>()) {
            (Self::All, _) => true,
            (Self::Network(network, bits), Ok(address)) => has_prefix(address, *network, *bits),
            (Self::Domain(domain), Err(_)) => host
                .strip_suffix(domain.as_str())
                .is_some_and(|below| below.is_empty() || below.ends_with('.')),
            _ => false,
        }
    }
}

/// Returns how many bits an address has.
fn width(address: IpAddr) -> u32 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn has_prefix(address: IpAddr, network: IpAddr, bits: u32) -> bool {
    let number = |address| match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    };
    let rest = width(network) - bits;
    let shifted = |address| number(address).checked_shr(rest).unwrap_or(0);
    address.is_ipv4() == network.is_ipv4() && shifted(address) == shifted(network)
}

fn isolates(proxy: &Url) -> bool {
    proxy.scheme() == "socks5h" && proxy.username().is_empty()
}

/// Returns a variable's value, in capital or small letters; an empty one is none.
fn variable(environment: Environment<'_>, name: &str) -> Result<Option<String>> {
    let small = name.to_ascii_lowercase();
    for name in [name, small.as_str()] {
        if let Some(value) = environment(name).filter(|value| !value.is_empty()) {
            let value = value.into_string();
            return value.map(Some).map_err(|_| Error::Variable { name: name.to_owned() });
        }
    }
    Ok(None)
}

fn parse(address: &str) -> Result<Url> {
    let wrong = |reason| Error::Address { text: without_user(address), reason };
    let with_scheme = if address.contains("://") { address.to_owned() } else { format!("http://{address}") };
    let url = Url::parse(&with_scheme).map_err(|_| wrong("not the address of a proxy"))?;
    match (url.scheme(), url.host_str()) {
        ("http" | "https" | "socks5" | "socks5h", Some(host)) if !host.is_empty() => Ok(url),
        _ => Err(wrong("not the address of a proxy: http://, https://, socks5:// or socks5h://")),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a URL")
    }

    #[test]
    fn only_a_socks_proxy_that_resolves_names_and_has_no_user_is_given_one() {
        let isolating = |address| Proxies::for_all(address).expect("a proxy").is_isolating();
        assert!(isolating("socks5h://127.0.0.1:9050"));
        assert!(!isolating("socks5h://me:secret@127.0.0.1:9050"));
        assert!(!isolating("socks5://127.0.0.1:9050"));
        assert!(!isolating("proxy.example.org:3128"));
        assert!(Proxies::for_all("ftp://example.org").is_err());
        assert!(Proxies::for_all("socks5h://").is_err());
    }

    #[test]
    fn names_are_resolved_here_for_socks5_alone() {
        let resolves =
            |address| Proxies::for_all(address).expect("a proxy").resolve(&url("https://example.org"));
        assert!(!resolves("socks5://127.0.0.1:9050"));
        assert!(resolves("socks5h://127.0.0.1:9050"));
        assert!(resolves("http://proxy.example.org:3128"));
        assert!(!Proxies::default().resolve(&url("https://example.org")));
    }

    #[test]
    fn exceptions_are_domains_addresses_networks_or_everything() {
        let is_direct = |exceptions: &str, host: &str| {
            let environment = |name: &str| match name {
                "ALL_PROXY" => Some(OsString::from("http://proxy.example.org")),
                "NO_PROXY" => Some(OsString::from(exceptions)),
                _ => None,
            };
            let proxies = Proxies::of_environment(&environment).expect("proxies");
            let target = url(&format!("https://{host}/"));
            assert_eq!(proxies.of(&target).is_some(), proxies.resolve(&target));
            proxies.of(&target).is_none()
        };
        assert!(is_direct("a.example, .Example.ORG", "example.org"));
        assert!(is_direct("example.org", "openpgpkey.example.org"));
        assert!(!is_direct("example.org", "badexample.org"));
        assert!(is_direct("10.0.0.0/8,::1", "10.1.2.3") && is_direct("10.0.0.0/8,::1", "[::1]"));
        assert!(!is_direct("10.0.0.0/8", "11.1.2.3") && is_direct("0.0.0.0/0", "11.1.2.3"));
        assert!(is_direct("*", "example.org") && !is_direct("", "example.org"));
    }

    #[test]
    fn passwords_are_not_printed() {
        let proxies = Proxies::for_all("http://user:secret@proxy.example.org:3128").expect("a proxy");
        let settings = crate::Settings { proxies, ..crate::Settings::default() };
        let printed = format!("{settings:?} {:?}", crate::Client::new(settings.clone()).expect("a client"));
        assert!(printed.contains("proxy.example.org"), "{printed}");
        assert!(!printed.contains("secret") && !printed.contains("user"), "{printed}");
    }

    #[test]
    fn a_variable_that_is_not_utf_8_is_an_error() {
        for wrong in ["HTTPS_PROXY", "http_proxy", "ALL_PROXY", "NO_PROXY"] {
            let environment = |name: &str| (name == wrong).then(|| OsString::from_vec(vec![b'h', 0xff]));
            let read = Proxies::of_environment(&environment);
            assert!(matches!(read, Err(Error::Variable { name }) if name == wrong));
        }
        let environment = |name: &str| (name == "https_proxy").then(|| OsString::from("p.example.org:1"));
        let read = Proxies::of_environment(&environment).expect("a proxy");
        assert!(read.resolve(&url("https://example.org")) && !read.resolve(&url("http://example.org")));
    }
}
