//! What a user asks the network for.

use std::fmt;
use std::path::PathBuf;

use cert::mailbox::{mail_address, mailbox};
use network::wkd::Address;
use network::{Search, Url};
use percent_encoding::percent_decode_str;
use store::Query;

use crate::{Result, find};

/// What a user asks for by name.
#[derive(Clone, Debug)]
pub enum Request {
    /// Certificates of a mail address.
    Address(Address),
    /// The certificate of a key, primary or subkey: [`Query::Fingerprint`] or [`Query::KeyId`].
    Key(Query),
    /// What is at a URL.
    Url(Url),
    /// What a file holds (`file:`).
    File(PathBuf),
}

impl Request {
    /// Reads a fingerprint, a key ID, a mail address (with or without a name before it), an `https:` URL or a `file:`
    /// URL.
    ///
    /// # Errors
    ///
    /// [`Error::Network`](crate::Error::Network) for what nothing can be asked for by;
    /// [`Error::Name`](crate::Error::Name).
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |reason| network::Error::Address { text: text.to_owned(), reason };
        if let Some(path) = text.strip_prefix("file:") {
            return Ok(Self::File(local_path(path).ok_or_else(|| wrong("not a file on this machine"))?));
        }
        if text.contains("://") {
            let wrong = |reason| network::Error::Address { text: network::without_user(text), reason };
            let url = Url::parse(text).map_err(|_| wrong("not a URL"))?;
            return match url.scheme() {
                "https" => Ok(Self::Url(url)),
                _ => Err(wrong("only https: and file: are fetched").into()),
            };
        }
        if let Some(address) = mail_address(text.as_bytes()).filter(|_| mailbox(text.as_bytes()).is_some()) {
            // A directory is told the local part as it was written.
            return Ok(Self::Address(Address::parse(&String::from_utf8_lossy(address))?));
        }
        match find::query(text.as_bytes())? {
            query @ (Query::Fingerprint(_) | Query::KeyId(_)) => Ok(Self::Key(query)),
            Query::ShortKeyId(_) => {
                Err(wrong("the key ID is too short: anybody can make a key with it").into())
            }
            _ => Err(wrong("not a fingerprint, key ID, mail address or URL").into()),
        }
    }

    /// Returns what a keyserver is asked for; `None` for a URL and a file.
    pub fn search(&self) -> Option<Search> {
        match self {
            Self::Address(address) => Some(Search::Address(address.to_string())),
            Self::Key(Query::Fingerprint(fingerprint)) => Some(Search::Fingerprint(fingerprint.to_string())),
            Self::Key(Query::KeyId(key_id)) => Some(Search::KeyId(key_id.to_string())),
            Self::Key(_) | Self::Url(_) | Self::File(_) => None,
        }
    }

    /// Returns what a certificate has to have.
    pub fn query(&self) -> Query {
        match self {
            Self::Address(address) => Query::Mail(address.to_string().into_bytes()),
            Self::Key(query) => query.clone(),
            Self::Url(_) | Self::File(_) => Query::All,
        }
    }
}

/// Returns the path in a `file:` URL (RFC 8089), which may be relative; `None` if it is on another machine.
fn local_path(rest: &str) -> Option<PathBuf> {
    let path = match rest.strip_prefix("//") {
        Some(rest) => {
            let (host, _) = rest.split_once('/')?;
            (host.is_empty() || host.eq_ignore_ascii_case("localhost")).then(|| &rest[host.len()..])?
        }
        None => rest,
    };
    let bytes: Vec<u8> = percent_decode_str(path).collect();
    (!bytes.contains(&0)).then(|| path_of(bytes))
}

#[cfg(unix)]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(bytes).into()
}

/// A drive's name comes after a slash (RFC 8089, E.2).
#[cfg(not(unix))]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    let path = String::from_utf8_lossy(&bytes);
    let drive = path.strip_prefix('/').filter(|path| path.as_bytes().get(1) == Some(&b':'));
    drive.unwrap_or(&path).into()
}

impl fmt::Display for Request {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(formatter),
            Self::Key(Query::Fingerprint(fingerprint)) => fingerprint.fmt(formatter),
            Self::Key(Query::KeyId(key_id)) => key_id.fmt(formatter),
            Self::Key(_) => formatter.write_str("a key"),
            Self::Url(url) => formatter.write_str(&network::shown(url)),
            Self::File(path) => path.display().fmt(formatter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_can_be_asked_for_are_told_apart() {
        let parsed = |text: &str| Request::parse(text).map(|request| request.to_string());
        let fingerprint = "0123456789ABCDEF0123456789ABCDEF01234567";
        assert_eq!(parsed(fingerprint).expect("a fingerprint"), fingerprint);
        assert_eq!(parsed("0x0123456789abcdef").expect("a key ID"), "0123456789ABCDEF");
        assert_eq!(parsed("Ann <Ann@Example.org>").expect("an address"), "Ann@example.org");
        assert_eq!(parsed("https://example.org/key.asc").expect("a URL"), "https://example.org/key.asc");
        for (url, path) in [
            ("file:///tmp/key", "/tmp/key"),
            ("file:///tmp/a%20key%23", "/tmp/a key#"),
            ("file://localhost/tmp/key", "/tmp/key"),
            ("file:/tmp/100%", "/tmp/100%"),
            ("file:a%2Fkey", "a/key"),
        ] {
            assert_eq!(parsed(url).expect("a file"), path);
        }
        for wrong in ["file://example.org/tmp/key", "file:///tmp/%00", "file://tmp"] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
        for wrong in ["01234567", "Ann", "http://example.org/key.asc", "ftp://example.org", "https://", "a@b"]
        {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
