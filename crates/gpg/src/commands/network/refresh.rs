//! `--refresh-keys`: what is new about the keys that are here.

use std::ops::ControlFlow;

use engine::network::Search;
use engine::store::{Detail, Query, Selection};

use super::{answers, servers};
use crate::code::Code;
use crate::failure::Failure;
use crate::keyrings::Keyrings;
use crate::names::Names;
use crate::settings::Settings;
use crate::streams::Streams;

/// Asks the keyserver for the keys that the arguments name, or for all.
pub(crate) fn run(arguments: &[Vec<u8>], settings: &Settings, streams: &mut Streams) -> anyhow::Result<()> {
    let mut keys = Vec::new();
    {
        let keyrings = Keyrings::open(settings, streams)?;
        let snapshots = keyrings.snapshots()?;
        let names = Names::parse(arguments);
        for (_, snapshot) in snapshots.iter() {
            let ids: Vec<_> = names.find(snapshot.as_ref())?.iter().map(|hit| hit.id).collect();
            let selection = if arguments.is_empty() { Selection::All } else { Selection::Ids(&ids) };
            snapshot.visit(selection, Detail::Name, &mut |record| {
                let search = Search::Fingerprint(record.fingerprint.to_string());
                keys.push((search, Query::Fingerprint(record.fingerprint)));
                ControlFlow::Continue(())
            })?;
        }
    }
    if keys.is_empty() {
        return Ok(());
    }
    let (server, client) = (servers::keyserver(settings)?, servers::client(settings)?);
    let plural = if keys.len() == 1 { "" } else { "s" };
    streams.info(format_args!("refreshing {} key{plural} from {server}", keys.len()));
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
