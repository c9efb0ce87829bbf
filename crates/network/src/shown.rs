//! URLs as they are shown and kept: without the user and the password that they may have.

use reqwest::Url;

/// Returns a URL for messages, the journal and a certificate's origin.
pub fn shown(url: &Url) -> String {
    without_user(url.as_str())
}

/// Returns a text without the user information of the URL in it, be it one that can be read or not: `hkps://a:b@c/` is
/// `hkps://c/`. Where a password has characters that a URL would have encoded, everything before the last `@` may be a
/// part of it.
pub fn without_user(text: &str) -> String {
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, text),
    };
    let authority = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
    let end = if Url::parse(text).is_ok() { authority } else { rest.len() };
    let rest = rest[..end].rfind('@').map_or(rest, |at| &rest[at + 1..]);
    match scheme {
        Some(scheme) => format!("{scheme}://{rest}"),
        None => rest.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_and_password_are_not_shown() {
        for (text, expected) in [
            ("https://user:secret@example.org/key", "https://example.org/key"),
            ("https://token@example.org:8443/", "https://example.org:8443/"),
            ("hkps://user:se@cret@example.org", "hkps://example.org"),
            ("https://user:se/cret@example.org/key", "https://example.org/key"),
            ("https://example.org/@ann/key?a=b@c", "https://example.org/@ann/key?a=b@c"),
            ("user:secret@proxy.example.org:3128", "proxy.example.org:3128"),
            ("keys.example.org", "keys.example.org"),
        ] {
            assert_eq!(without_user(text), expected);
        }
        let url = Url::parse("https://user:secret@example.org/key").expect("a URL");
        assert_eq!(shown(&url), "https://example.org/key");
    }
}
