//! `--auto-key-retrieve`: the key of a signature that is not here.

use engine::network::Search;
use engine::store::Query;
use engine::verification::SignatureContents;

use super::{answers, servers};
use crate::settings::Settings;
use crate::streams::Streams;

/// Asks the keyserver for the key that a signature names as its maker's; returns whether something was imported.
pub(crate) fn run(
    statement: &SignatureContents,
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<bool> {
    let issuer = &statement.issuer;
    let key = match issuer.fingerprint {
        Some(fingerprint) => (Search::Fingerprint(fingerprint.to_string()), Query::Fingerprint(fingerprint)),
        None => (Search::KeyId(issuer.key_id.to_string()), Query::KeyId(issuer.key_id)),
    };
    let (server, client) = (servers::keyserver(settings)?, servers::client(settings)?);
    if !settings.quiet {
        streams.info(format_args!("requesting key {} from {server}", issuer.key_id));
    }
    // Whatever goes wrong, the signature is reported as one without a key.
    match answers::get("auto-key-retrieve", &[key], &server, &client, settings, streams) {
        Ok(()) => Ok(true),
        Err(failure) => failure.coded().map(|_| false),
    }
}
