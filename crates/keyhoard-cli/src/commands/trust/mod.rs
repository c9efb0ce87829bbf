//! `keyhoard trust`: whom the user trusts, and what follows from it.

mod explain;
mod graph;

use keyhoard::cert::Fingerprint;
use keyhoard::cert::effective::View;
use keyhoard::store::{Detail, Snapshot, Store};
use keyhoard::validity::{Explanation, Sources, TrustSettings};
use std::ops::ControlFlow;

use super::Named;
use crate::exit::Outcome;
use crate::session::Session;

/// The arguments of `keyhoard trust`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard trust explain someone@debian.org
  keyhoard trust graph someone@debian.org > someone.svg")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Say why user IDs are as valid as they are.
    Explain(explain::Arguments),
    /// Draw on whom the validity of a certificate depends, as SVG.
    Graph(graph::Arguments),
}

/// Runs a subcommand.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    match &arguments.command {
        Command::Explain(arguments) => explain::run(session, arguments),
        Command::Graph(arguments) => graph::run(session, arguments),
    }
}

/// Returns the rules of this run.
fn settings(session: &Session) -> TrustSettings {
    TrustSettings::new(session.now, View::Full)
}

/// Explains the validity of the certificates that were named, in database order.
fn explanations(
    session: &Session,
    store: &dyn Store,
    snapshot: &dyn Snapshot,
    named: &Named,
) -> anyhow::Result<Vec<Explanation>> {
    let mut keys: Vec<Fingerprint> = Vec::new();
    snapshot.visit(named.selection(), Detail::Own, &mut |record| {
        keys.push(record.fingerprint);
        ControlFlow::Continue(())
    })?;
    let sources = Sources { certificates: vec![snapshot], owner_trust: Some(snapshot), keeper: Some(store) };
    let settings = settings(session);
    let explain = |key| Explanation::of(key, &sources, &settings);
    let explanations: Result<Vec<_>, _> = keys.iter().filter_map(|key| explain(key).transpose()).collect();
    Ok(explanations?)
}
