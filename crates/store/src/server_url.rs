//! What is known of a server's URL without its engine: that it is one, and where its password is.

/// Says whether a location is the URL of a PostgreSQL server: `postgres://` or `postgresql://`.
pub fn is_server_url(location: &str) -> bool {
    location.starts_with("postgres://") || location.starts_with("postgresql://")
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
pub(crate) fn split_user(rest: &str) -> (Option<&str>, &str) {
    let parameters = rest.find('?').unwrap_or(rest.len());
    let first = || rest.find(['@', '/']).filter(|&at| rest[at..].starts_with('@'));
    match rest[..parameters].rfind('@').or_else(first) {
        Some(at) => (Some(&rest[..at]), &rest[at + 1..]),
        None => (None, rest),
    }
}

/// Splits user and password from the rest, so that the rest can be shown: where no user is found, everything before the
/// last `@` may be a password with unencoded characters.
pub(crate) fn split_shown_user(rest: &str) -> (Option<&str>, &str) {
    match split_user(rest) {
        (None, rest) => rest.rsplit_once('@').map_or((None, rest), |(user, rest)| (Some(user), rest)),
        found => found,
    }
}
