//! Through which proxy requests go.
//!
//! The environment says so as for other programs: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`, in capital or small
//! letters. A proxy with the scheme `socks5h` resolves names itself, as Tor does; unless its address has a user name, each
//! key is asked for under another one, for which Tor makes another circuit (`IsolateSOCKSAuth`).

use std::env;

use reqwest::{NoProxy, Proxy, Url};

use crate::error::{Error, Result};
use crate::shown::without_user;

/// The proxies of a client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxies {
    /// For `https://`.
    https: Option<Url>,
    /// For `http://`.
    http: Option<Url>,
    /// Whether `NO_PROXY` counts.
    is_from_environment: bool,
}

impl Proxies {
    /// One for everything, as the user's configuration says.
    ///
    /// # Errors
    ///
    /// [`Error::Address`] for what is no address of a proxy.
    pub fn for_all(address: &str) -> Result<Self> {
        let proxy = parse(address)?;
        Ok(Self { https: Some(proxy.clone()), http: Some(proxy), is_from_environment: false })
    }

    /// Those of the environment.
    ///
    /// # Errors
    ///
    /// [`Error::Address`] for what is no address of a proxy.
    pub fn of_environment() -> Result<Self> {
        let all = variable("ALL_PROXY");
        // A program that a web server runs gets `HTTP_PROXY` from whoever asks the server (CVE-2016-5385).
        let http = variable("HTTP_PROXY").filter(|_| env::var_os("REQUEST_METHOD").is_none());
        let read = |address: Option<String>| address.as_deref().map(parse).transpose();
        Ok(Self {
            https: read(variable("HTTPS_PROXY").or_else(|| all.clone()))?,
            http: read(http.or(all))?,
            is_from_environment: true,
        })
    }

    /// Says whether there is one for a URL's scheme, which then resolves the names.
    pub(crate) fn is_used_for(&self, url: &Url) -> bool {
        if url.scheme() == "https" { self.https.is_some() } else { self.http.is_some() }
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
    pub(crate) fn for_client(&self, user: &str) -> reqwest::Result<Vec<Proxy>> {
        let named = |proxy: &Url| {
            let mut proxy = proxy.clone();
            if isolates(&proxy) {
                // Only an address without a host could not have them.
                let _ = proxy.set_username(user);
                let _ = proxy.set_password(Some(user));
            }
            proxy
        };
        let exceptions = || self.is_from_environment.then(NoProxy::from_env).flatten();
        let https = self.https.as_ref().map(|proxy| Proxy::https(named(proxy).as_str()));
        let http = self.http.as_ref().map(|proxy| Proxy::http(named(proxy).as_str()));
        [https, http].into_iter().flatten().map(|proxy| Ok(proxy?.no_proxy(exceptions()))).collect()
    }
}

fn isolates(proxy: &Url) -> bool {
    proxy.scheme() == "socks5h" && proxy.username().is_empty()
}

fn variable(name: &str) -> Option<String> {
    let value = env::var(name).ok().or_else(|| env::var(name.to_ascii_lowercase()).ok())?;
    Some(value).filter(|value| !value.is_empty())
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
    use super::*;

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
}
