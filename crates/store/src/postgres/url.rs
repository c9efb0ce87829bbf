//! The parts of a URL that names a database.

use crate::server_url::{split_shown_user, split_user};

/// The message about a URL that [may hide its user](may_hide_user).
pub(super) const HIDDEN_USER: &str = "no host is found; in a password / ? and @ are written %2F, %3F and %40";

/// Says whether a URL in which no user is found may have one, with a password whose `/`, `?` or `@` is not
/// percent-encoded.
pub(super) fn may_hide_user(url: &str) -> bool {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    split_user(rest).0.is_none() && split_shown_user(rest).0.is_some()
}

/// Splits hosts into names and ports: `one:5432,two`, `[::1]:5432`, `%2Frun%2Fpostgresql`.
pub(super) fn split_hosts(hosts: &str) -> (String, String) {
    let split = |host: &str| -> (String, String) {
        if let Some((address, rest)) = host.strip_prefix('[').and_then(|host| host.split_once(']')) {
            return (address.to_owned(), rest.trim_start_matches(':').to_owned());
        }
        match host.rsplit_once(':') {
            Some((name, port)) => (name.to_owned(), port.to_owned()),
            None => (host.to_owned(), String::new()),
        }
    };
    let (names, ports): (Vec<String>, Vec<String>) = hosts.split(',').map(split).unzip();
    let ports = if ports.iter().all(String::is_empty) { String::new() } else { ports.join(",") };
    (names.join(","), ports)
}

/// Decodes `%2F` and the like.
pub(super) fn decoded(text: &str) -> std::result::Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        let (Some(high), Some(low)) = (digit(rest.next()), digit(rest.next())) else {
            return Err("a % without two hexadecimal digits behind it".to_owned());
        };
        bytes.push((high * 16 + low) as u8);
    }
    String::from_utf8(bytes).map_err(|_| "what is written with % is not UTF-8".to_owned())
}
