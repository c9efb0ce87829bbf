//! The parts of a URL that names a database.

/// The message about a URL that [may hide its user](may_hide_user).
pub(super) const HIDDEN_USER: &str = "no host is found; in a password / ? and @ are written %2F, %3F and %40";

/// Says whether a URL in which no user is found may have one, with a password whose `/`, `?` or `@` is not
/// percent-encoded.
pub(super) fn may_hide_user(url: &str) -> bool {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    split_user(rest).0.is_none() && split_shown_user(rest).0.is_some()
}

/// Returns a text with the password of the URL in it made unreadable, for what is kept or shown.
pub fn without_password(text: &str) -> String {
    let mut safe = text.to_owned();
    if let Some((scheme, rest)) = text.split_once("://")
        && let (Some(user), rest) = split_shown_user(rest)
        && let Some((user, _)) = user.split_once(':')
    {
        safe = format!("{scheme}://{user}:***@{rest}");
    }
    let Some((before, parameters)) = safe.split_once('?') else { return safe };
    let hidden = parameters.split('&').map(|pair| match pair.split_once('=') {
        Some((name, _)) if name.to_ascii_lowercase().contains("password") => format!("{name}=***"),
        _ => pair.to_owned(),
    });
    format!("{before}?{}", hidden.collect::<Vec<_>>().join("&"))
}

/// Splits user and password from the rest of what follows the scheme. They end at the last `@` before the parameters,
/// because a password may contain an unencoded `@`; else at the first `@` that no `/` precedes, which is libpq's rule.
pub(super) fn split_user(rest: &str) -> (Option<&str>, &str) {
    let parameters = rest.find('?').unwrap_or(rest.len());
    let first = || rest.find(['@', '/']).filter(|&at| rest[at..].starts_with('@'));
    match rest[..parameters].rfind('@').or_else(first) {
        Some(at) => (Some(&rest[..at]), &rest[at + 1..]),
        None => (None, rest),
    }
}

/// Splits user and password from the rest, so that the rest can be shown: where no user is found, everything before the
/// last `@` may be a password with unencoded characters.
fn split_shown_user(rest: &str) -> (Option<&str>, &str) {
    match split_user(rest) {
        (None, rest) => rest.rsplit_once('@').map_or((None, rest), |(user, rest)| (Some(user), rest)),
        found => found,
    }
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
