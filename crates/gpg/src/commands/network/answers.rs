//! Answers of keyservers: asked for, filtered, imported.

use engine::cert::signature::Signature;
use engine::cert::subpacket::{Kind, Subpackets};
use engine::fetch::{Answer, RequestedCertificates, wanted};
use engine::import::key_origin as kind;
use engine::network::{Client, Fetched, Keyserver, Search, Url};
use engine::store::query::Name;
use engine::store::{Origin, Query};
use engine::{causes, network};

use super::servers;
use crate::code::Code;
use crate::commands::import::{Download, Downloads, import_downloads};
use crate::failure::Failure;
use crate::settings::Settings;
use crate::streams::Streams;

/// Returns what a keyserver is asked for if a name is a key's fingerprint or key ID.
pub(super) fn of_key(name: &[u8]) -> Option<(Search, Query)> {
    let query = Name::parse(name).ok()?.query;
    let search = match &query {
        Query::Fingerprint(fingerprint) => Search::Fingerprint(fingerprint.to_string()),
        Query::KeyId(key_id) => Search::KeyId(key_id.to_string()),
        Query::ShortKeyId(short) => Search::KeyId(format!("{short:08X}")),
        _ => return None,
    };
    Some((search, query))
}

/// Returns the certificates of an answer that were asked for; `None` if there is none.
pub(super) fn download(fetched: &Fetched, asked: RequestedCertificates) -> Option<Download> {
    let answer = Answer { bytes: &fetched.bytes, asked: &asked, origin: &Origin::default() };
    let (bytes, _) = wanted(answer);
    (!bytes.is_empty()).then_some(Download { bytes, asked })
}

/// Asks a keyserver for keys, and imports what it has of them.
///
/// # Errors
///
/// That it has none of them, and why it could not be asked.
pub(super) fn get(
    command: &str,
    keys: &[(Search, Query)],
    server: &Keyserver,
    client: &Client,
    settings: &Settings,
    streams: &mut Streams,
) -> Result<(), Failure> {
    let mut answers = Vec::new();
    // As in gpg, the last one is asked for first.
    for (search, query) in keys.iter().rev() {
        let asked = RequestedCertificates { query: query.clone(), only_address: false };
        match server.get(client, search) {
            Ok(fetched) => answers.extend(fetched.and_then(|fetched| download(&fetched, asked))),
            // gpg has no such keys; the others are asked for.
            Err(error @ network::Error::Silent { .. }) => streams.info(causes(&error)),
            Err(error) => return Err(servers::failure(&error, settings, streams)),
        }
    }
    if answers.is_empty() {
        return Err(servers::of_dirmngr(Code::NO_DATA).into());
    }
    let origin = origin_of(server, settings);
    import_answers(answers, origin, format!("gpg-keyhoard --{command} (from {server})"), settings, streams)
}

/// Imports keys with the options of `--keyserver-options`; `command` is for the journal.
pub(super) fn import_answers(
    answers: Vec<Download>,
    origin: Origin,
    command: String,
    settings: &Settings,
    streams: &mut Streams,
) -> Result<(), Failure> {
    let downloads = Downloads { answers, import: &settings.network.import, origin, command };
    import_downloads(downloads, settings, streams)?;
    Ok(())
}

/// Returns the origin of what comes from a keyserver now.
pub(super) fn origin_of(server: &Keyserver, settings: &Settings) -> Origin {
    Origin { kind: kind::KEYSERVER, updated: Some(settings.now), url: Some(base(server.url())) }
}

/// Returns the keyserver in the hashed subpackets of a signature; `None` without one, and for what is none.
pub(super) fn preferred_keyserver(signature: &Signature<'_>) -> Option<Keyserver> {
    let subpackets = Subpackets::new(signature.hashed).map_while(Result::ok);
    let text = subpackets.filter(|subpacket| subpacket.kind == Kind::PREFERRED_KEYSERVER).last()?.body;
    named_by_others(text)
}

/// Returns the keyserver that a text of others names; as in gpg only with a scheme.
pub(super) fn named_by_others(text: &[u8]) -> Option<Keyserver> {
    let text = std::str::from_utf8(text).ok().filter(|text| text.contains("://"))?;
    Keyserver::of_others(text).ok()
}

/// Returns the address of a web server as gpg writes it.
pub(super) fn base(url: &Url) -> String {
    let port = url.port_or_known_default().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}", url.scheme(), url.host_str().unwrap_or_default())
}
