//! `--refresh-keys`: what is new about the keys that are here.

use std::ops::ControlFlow;

use engine::cert::certificate::Certificate;
use engine::cert::effective::{ComponentState, EvaluationContext, PacketView, evaluate};
use engine::cert::signature;
use engine::network::{Client, Keyserver, Search};
use engine::store::{Detail, Query, Selection};

use super::{answers, servers};
use crate::code::Code;
use crate::failure::Failure;
use crate::keyrings::Keyrings;
use crate::names::Names;
use crate::settings::Settings;
use crate::streams::Streams;

/// A key that is asked for.
struct Task {
    key: (Search, Query),
    /// The keyserver that the key names, where that counts (`honor-keyserver-url`).
    preferred: Option<Keyserver>,
}

/// Asks the keyserver for the keys that the arguments name, or for all.
pub(crate) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let tasks = tasks(arguments, settings, streams)?;
    if tasks.is_empty() {
        return Ok(());
    }
    let client = servers::client(settings)?;
    let keys = not_refreshed_at_preferred(tasks, &client, settings, streams)?;
    if keys.is_empty() {
        return Ok(());
    }
    let server = servers::keyserver(settings)?;
    announce(keys.len(), &server, settings, streams);
    let refreshed = answers::get("refresh-keys", &keys, &server, &client, settings, streams);
    match refreshed.err().map(Failure::coded).transpose()? {
        None => {}
        // That the server knows none of them is no news.
        Some(failure) if failure.code == Code::NO_DATA => streams.info("no keys there"),
        Some(failure) => {
            streams.status_failure_value("refresh-keys", failure.value);
            streams.error(format_args!("keyserver refresh failed: {}", failure.code));
        }
    }
    Ok(())
}

fn tasks(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<Vec<Task>> {
    let honors = settings.network.honor_keyserver_url;
    let detail = if honors { Detail::Bytes } else { Detail::Name };
    let keyrings = Keyrings::open(settings, streams)?;
    let snapshots = keyrings.snapshots()?;
    let names = Names::parse(arguments, settings.compat);
    let mut tasks = Vec::new();
    for (_, snapshot) in snapshots.iter() {
        let ids: Vec<_> = names.find(snapshot.as_ref())?.iter().map(|hit| hit.id).collect();
        let selection = if arguments.is_empty() { Selection::All } else { Selection::Ids(&ids) };
        snapshot.visit(selection, detail, &mut |record| {
            let key =
                (Search::Fingerprint(record.fingerprint.to_string()), Query::Fingerprint(record.fingerprint));
            let certificate = record.bytes.zip(record.facts).filter(|_| honors);
            let preferred = certificate
                .and_then(|(bytes, facts)| preferred_keyserver(&Certificate { bytes, facts }, settings));
            tasks.push(Task { key, preferred });
            ControlFlow::Continue(())
        })?;
    }
    Ok(tasks)
}

/// Returns the keyserver in the self-signature of a certificate's primary user ID.
fn preferred_keyserver(certificate: &Certificate, settings: &Settings) -> Option<Keyserver> {
    let facts = &certificate.facts;
    let effective = evaluate(facts, EvaluationContext::new(settings.now, PacketView::Gnupg));
    let index = effective.primary_user_id(facts)?;
    let ComponentState::User(state) = &effective.components[index] else { return None };
    let span = facts.components[index].signatures.get(state.binding?)?.span;
    let signature = signature::parse(certificate.body(span)?).ok()?;
    answers::preferred_keyserver(&signature)
}

/// Asks the keyservers that keys name. Returns the keys that were not asked for there, or without success.
fn not_refreshed_at_preferred(
    tasks: Vec<Task>,
    client: &Client,
    settings: &Settings,
    streams: &mut Streams,
) -> anyhow::Result<Vec<(Search, Query)>> {
    let mut left = Vec::new();
    for Task { key, preferred } in tasks {
        let Some(server) = preferred else {
            left.push(key);
            continue;
        };
        announce(1, &server, settings, streams);
        if !settings.quiet {
            streams.info(format_args!("requesting key {} from {server}", short_name(&key.1)));
        }
        let keys = [key];
        let asked = answers::get("refresh-keys", &keys, &server, client, settings, streams);
        let [key] = keys;
        if let Some(failure) = asked.err().map(Failure::coded).transpose()? {
            let (code, name) = (failure.code, short_name(&key.1));
            streams.info(format_args!("WARNING: unable to refresh key {name} via {server}: {code}"));
            left.push(key);
        }
    }
    Ok(left)
}

fn short_name(query: &Query) -> String {
    match query {
        Query::Fingerprint(fingerprint) => fingerprint.key_id().to_string(),
        _ => String::new(),
    }
}

fn announce(count: usize, server: &Keyserver, settings: &Settings, streams: &mut Streams) {
    if !settings.quiet {
        let plural = if count == 1 { "" } else { "s" };
        streams.info(format_args!("refreshing {count} key{plural} from {server}"));
    }
}
