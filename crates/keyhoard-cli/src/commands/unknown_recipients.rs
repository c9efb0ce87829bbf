//! Recipients whose keys are not here: what the configuration says about the network.

use std::ffi::OsString;
use std::io::{self, IsTerminal};

use engine::configuration::Configuration;
use engine::fetch::{FetchOutcome, FetchSource, Request, UnknownRecipients, fetch};
use engine::find::query;

use super::fetch::note;
use crate::printable::printable;
use crate::question::is_agreed;
use crate::session::{Session, command_line, environment};

/// Asks Web Key Directories for the addresses among `names` that no certificate here has, if the user wants it: the
/// setting `unknown-recipients` says so, or the user on the terminal.
pub(super) fn look_up(session: &mut Session, names: &[&OsString]) -> anyhow::Result<()> {
    for name in names {
        let Some(Ok(request @ Request::Address(_))) = name.to_str().map(Request::parse) else { continue };
        let is_here = {
            let store = session.open_or_empty()?;
            let snapshot = store.snapshot()?;
            !snapshot.find(&query(name.as_encoded_bytes())?)?.is_empty()
        };
        if is_here {
            continue;
        }
        let network = Configuration::read()?.network;
        if !may_ask(network.unknown_recipients, &request)? {
            continue;
        }
        let (store, client, now) = (session.open_or_create()?, network.client(&environment)?, session.now);
        fetch(
            store.as_ref(),
            &client,
            &request,
            &[FetchSource::Wkd],
            &command_line(),
            now,
            &mut |source, outcome| {
                report(session, &request, source, outcome);
                Ok(())
            },
        )?;
    }
    Ok(())
}

/// Says what came, on standard error: the message goes to standard output.
fn report(session: &Session, request: &Request, source: FetchSource<'_>, outcome: &FetchOutcome) {
    if let FetchOutcome::Answer { taken, .. } = outcome {
        for imported in &taken.certificates {
            let name = imported.name.as_deref().map(printable).unwrap_or_default();
            session.note(format_args!("{}  {name}", imported.fingerprint));
        }
    }
    note(session, request, source, outcome);
}

fn may_ask(setting: UnknownRecipients, request: &Request) -> io::Result<bool> {
    match setting {
        UnknownRecipients::Never => Ok(false),
        UnknownRecipients::Wkd => Ok(true),
        UnknownRecipients::Ask if io::stdin().is_terminal() && io::stderr().is_terminal() => {
            is_agreed(format_args!("{request} has no key here. Ask the web server of its domain?"))
        }
        UnknownRecipients::Ask => Ok(false),
    }
}
