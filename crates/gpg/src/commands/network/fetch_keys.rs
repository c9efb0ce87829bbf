//! `--fetch-keys`: keys at URLs.

use engine::fetch::RequestedCertificates;
use engine::foreign_text::shown;
use engine::import::key_origin as kind;
use engine::network::{Url, without_user};
use engine::store::{Origin, Query};

use super::answers;
use super::servers;
use crate::code::Code;
use crate::failure::{CodedFailure, CommandFailed, Failure};
use crate::settings::Settings;
use crate::streams::Streams;

/// Imports what is at the URLs.
pub(crate) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let mut last = match arguments {
        [] => Some(CodedFailure { code: Code::NO_NAME, value: Code::NO_NAME.with_gpg() }),
        _ => None,
    };
    for url in arguments {
        if !settings.quiet {
            streams.info(format_args!("requesting key from '{}'", shown_url(url)));
        }
        last = fetch(url, settings, streams).err().map(Failure::coded).transpose()?;
        if let Some(failure) = last {
            streams.info(format_args!("WARNING: unable to fetch URI {}: {}", shown_url(url), failure.code));
        }
    }
    let Some(CodedFailure { code, value }) = last else { return Ok(()) };
    streams.status_failure_value("fetch-keys", value);
    streams.error(format_args!("key fetch failed: {code}"));
    match code {
        Code::NO_DATA => Err(CommandFailed.into()),
        _ => Ok(()),
    }
}

/// Returns a URL for messages, without a user and a password.
fn shown_url(url: &[u8]) -> String {
    match std::str::from_utf8(url) {
        Ok(text) => shown(without_user(text).as_bytes()),
        Err(_) => shown(url),
    }
}

fn fetch(text: &[u8], settings: &Settings, streams: &mut Streams) -> Result<(), Failure> {
    let invalid = || Failure::from(servers::of_dirmngr(Code::INVALID_URI));
    let url = std::str::from_utf8(text).ok().and_then(|text| Url::parse(text).ok()).ok_or_else(invalid)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid());
    }
    let client = servers::client(settings)?;
    let fetched = match client.fetch(&url) {
        Ok(Some(fetched)) => fetched,
        Ok(None) => return Err(servers::of_dirmngr(Code::NO_DATA).into()),
        Err(error) => return Err(servers::failure(&error, settings, streams)),
    };
    let asked = RequestedCertificates { query: Query::All, only_address: false };
    let answers = answers::download(&fetched, asked).into_iter().collect();
    let origin = Origin { kind: kind::URL, updated: Some(settings.now), url: Some(fetched.url.clone()) };
    let command = format!("gpg-keyhoard --fetch-keys {}", fetched.url);
    answers::import_answers(answers, origin, command, settings, streams)
}
