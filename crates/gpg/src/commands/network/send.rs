//! `--send-keys`: keys to a keyserver.

use std::ops::ControlFlow;

use engine::cert::{Fingerprint, KeyId};
use engine::fetch::publish;
use engine::foreign_text::shown;
use engine::store::{CertId, Detail, Query, ReadCertificates, Selection};

use super::{answers, servers};
use crate::code::Code;
use crate::failure::{CodedFailure, Failure};
use crate::keyrings::Keyrings;
use crate::settings::Settings;
use crate::streams::Streams;

/// Sends the keys that the arguments name.
pub(crate) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let keyrings = Keyrings::open(settings, streams)?;
    let snapshots = keyrings.snapshots()?;
    let mut last = None;
    for name in arguments {
        let Some((_, query)) = answers::of_key(name) else {
            streams.error(format_args!("\"{}\" not a key ID: skipping", shown(name)));
            continue;
        };
        let found = snapshots.iter().find_map(|(_, snapshot)| {
            let ids = snapshot.find(&query).ok()?;
            Some((snapshot.as_ref(), *ids.first()?))
        });
        let sent = match found {
            Some((snapshot, id)) => send(snapshot, id, &query, settings, streams),
            None => {
                streams.info("WARNING: nothing exported");
                streams.error(format_args!("skipped \"{}\": {}", shown(name), Code::NOT_FOUND));
                Err(Code::NOT_FOUND.into())
            }
        };
        last = sent.err().map(Failure::coded).transpose()?.or(last);
    }
    if let Some(CodedFailure { code, value }) = last {
        streams.status_failure_value("send-keys", value);
        streams.error(format_args!("keyserver send failed: {code}"));
    }
    Ok(())
}

fn send(
    snapshot: &dyn ReadCertificates,
    id: CertId,
    query: &Query,
    settings: &Settings,
    streams: &mut Streams,
) -> Result<(), Failure> {
    let (server, client) = (servers::keyserver(settings)?, servers::client(settings)?);
    let primary = primary(snapshot, id)?;
    streams.status(format!("EXPORTED {primary}"));
    let mut key = Vec::new();
    settings.list.key_id_format.issuer(named_key(query, &primary), &mut key);
    streams.info(format_args!("sending key {} to {server}", String::from_utf8_lossy(&key)));
    for published in publish(snapshot, &[id], &server, &client, settings.now)? {
        if let Err(error) = published.outcome {
            let CodedFailure { code, value } = servers::failure(&error, settings, streams).coded()?;
            streams.status_error("keyserver_send", value);
            streams.error(format_args!("keyserver send failed: {code}"));
            return Err(CodedFailure { code, value }.into());
        }
    }
    Ok(())
}

fn primary(snapshot: &dyn ReadCertificates, id: CertId) -> anyhow::Result<Fingerprint> {
    let mut primary = None;
    snapshot.visit(Selection::Ids(&[id]), Detail::Name, &mut |record| {
        primary = Some(record.fingerprint);
        ControlFlow::Break(())
    })?;
    primary.ok_or_else(|| anyhow::anyhow!("the key is not there any more"))
}

/// Returns the key ID that a name stands for.
fn named_key(query: &Query, primary: &Fingerprint) -> KeyId {
    match query {
        Query::Fingerprint(fingerprint) => fingerprint.key_id(),
        Query::KeyId(key_id) => *key_id,
        _ => primary.key_id(),
    }
}
