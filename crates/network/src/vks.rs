//! The protocol of keys.openpgp.org (<https://keys.openpgp.org/about/api>), which verifies addresses.

use std::collections::BTreeMap;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Url;
use serde::{Deserialize, Serialize};

use crate::client::{Client, HostOrigin};
use crate::error::{Error, Result};
use crate::fetched::Fetched;
use crate::limits::{MAX_CERTIFICATES, MAX_RECEIPT};
use crate::shown::shown;

/// What became of an upload.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Upload {
    /// The fingerprint, as the server read it.
    pub key_fpr: String,
    /// The state of each address: `unpublished`, `pending`, `published`, `revoked`.
    pub status: BTreeMap<String, String>,
    /// With it the verification of addresses is requested.
    token: String,
}

/// Returns the certificate that the server has by one of its paths (`by-fingerprint`, `by-keyid`, `by-email`).
pub(crate) fn get(client: &Client, server: &Url, path: &str, name: &str) -> Result<Option<Fetched>> {
    client.begin_key()?;
    let name = utf8_percent_encode(name, NON_ALPHANUMERIC);
    let url = at(server, &format!("{path}/{name}"));
    let bytes = client.get(&url, HostOrigin::User, MAX_CERTIFICATES)?;
    Ok(bytes.map(|bytes| Fetched { bytes, url: shown(&url) }))
}

/// Uploads an armored certificate with this fingerprint, in hexadecimal.
///
/// # Errors
///
/// Those of [`Client::post`], and [`Error::Status`], [`Error::Answer`], for one if the server read another key.
pub(crate) fn upload(client: &Client, server: &Url, fingerprint: &str, armored: &[u8]) -> Result<Upload> {
    #[derive(Serialize)]
    struct Body<'a> {
        keytext: &'a str,
    }
    client.begin_key()?;
    let keytext = String::from_utf8_lossy(armored);
    let url = at(server, "upload");
    let upload = post(client, &url, &Body { keytext: &keytext })?;
    match upload.key_fpr.eq_ignore_ascii_case(fingerprint) {
        true => Ok(upload),
        false => {
            Err(Error::Answer { url: shown(&url), expected: "a server that read the key that was sent" })
        }
    }
}

/// Asks the server to send mail to addresses of a certificate that was uploaded: whoever follows the link in it has the
/// address published.
///
/// # Errors
///
/// Those of [`Client::post`], and [`Error::Status`], [`Error::Answer`].
pub(crate) fn request_verification(
    client: &Client,
    server: &Url,
    upload: &Upload,
    addresses: &[&str],
) -> Result<Upload> {
    #[derive(Serialize)]
    struct Body<'a> {
        token: &'a str,
        addresses: &'a [&'a str],
    }
    post(client, &at(server, "request-verify"), &Body { token: &upload.token, addresses })
}

fn at(server: &Url, path: &str) -> Url {
    let mut url = server.clone();
    url.set_path(&format!("{}/vks/v1/{path}", server.path().trim_end_matches('/')));
    url
}

fn post(client: &Client, url: &Url, body: &impl Serialize) -> Result<Upload> {
    let body = serde_json::to_vec(body).map_err(|error| Error::Setup(error.into()))?;
    let receipt = client.post(url, HostOrigin::User, "application/json", body, MAX_RECEIPT)?;
    if !receipt.is_success() {
        let text = String::from_utf8_lossy(&receipt.body).into_owned();
        return Err(Error::Status { url: shown(url), status: receipt.status, text });
    }
    serde_json::from_slice(&receipt.body)
        .map_err(|_| Error::Answer { url: shown(url), expected: "a server that verifies addresses" })
}
