//! The address of a server, and the methods of offering articles.

use std::fmt;

use clap::ValueEnum;

/// A host and perhaps a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Server {
    pub(crate) host: String,
    port: Option<u16>,
}

/// How articles are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Method {
    /// The first of the others that the server allows.
    Auto,
    /// CHECK and TAKETHIS (RFC 4644): many at a time, for feeds.
    Stream,
    /// IHAVE (RFC 3977, section 6.3.2): one at a time, for feeds.
    Ihave,
    /// POST (RFC 3977, section 6.3.1), as a newsreader does.
    Post,
}

impl Server {
    /// Reads `HOST`, `HOST:PORT`, `[ADDRESS]` or `[ADDRESS]:PORT`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let bracketed = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let (host, port) = match bracketed {
            Some((host, rest)) => (host, rest.strip_prefix(':').or((!rest.is_empty()).then_some(rest))),
            None if text.matches(':').count() > 1 => (text, None),
            None => text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
        };
        if host.is_empty() || host.contains(char::is_whitespace) {
            return Err("no host".to_owned());
        }
        let port = port.map(|port| match port.parse() {
            Ok(0) | Err(_) => Err(format!("{port}: not a port")),
            Ok(port) => Ok(port),
        });
        Ok(Self { host: host.to_owned(), port: port.transpose()? })
    }

    /// Returns the port: the one that was given, or NNTP's.
    pub(crate) fn port(&self, tls: bool) -> u16 {
        self.port.unwrap_or(if tls { 563 } else { 119 })
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(f, "{}:{port}", self.host),
            None => f.write_str(&self.host),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_a_host_and_perhaps_a_port() {
        let parse = |text: &str| Server::parse(text).map(|server| (server.host, server.port));
        assert_eq!(parse("news.example.org"), Ok(("news.example.org".to_owned(), None)));
        assert_eq!(parse("localhost:1119"), Ok(("localhost".to_owned(), Some(1119))));
        assert_eq!(parse("::1"), Ok(("::1".to_owned(), None)));
        assert_eq!(parse("[::1]:563"), Ok(("::1".to_owned(), Some(563))));
        for wrong in ["", ":119", "a:b", "a:0", "a:70000", "[::1]x", "a b"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
