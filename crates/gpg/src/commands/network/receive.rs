//! `--receive-keys`: keys by their fingerprints or key IDs, from a keyserver.

use engine::foreign_text::shown;

use super::{answers, servers};
use crate::failure::Failure;
use crate::settings::Settings;
use crate::streams::Streams;

/// Asks the keyserver for the keys that the arguments name, and imports them.
pub(crate) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let keys: Vec<_> = arguments.iter().filter_map(|name| key(name, streams)).collect();
    if keys.is_empty() {
        return Ok(());
    }
    let (server, client) = (servers::keyserver(settings)?, servers::client(settings)?);
    let received = answers::get("receive-keys", &keys, &server, &client, settings, streams);
    if let Some(failure) = received.err().map(Failure::coded).transpose()? {
        streams.status_failure_value("recv-keys", failure.value);
        streams.error(format_args!("keyserver receive failed: {}", failure.code));
    }
    Ok(())
}

/// Reads the name of a key; any other name is reported.
fn key(name: &[u8], streams: &mut Streams) -> Option<(engine::network::Search, engine::store::Query)> {
    let key = answers::of_key(name);
    if key.is_none() {
        streams.error(format_args!("\"{}\" not a key ID: skipping", shown(name)));
    }
    key
}
