//! `keyhoard trust`: owner trust, and the validity that follows from it.

mod check;
mod explain;
mod explanations;
mod graph;
mod owner_trust;

use super::show;
use crate::exit::Outcome;
use crate::session::Session;

/// The arguments of `keyhoard trust`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard trust set ultimate me@example.org
  keyhoard trust set full 0123456789ABCDEF0123456789ABCDEF01234567
  keyhoard trust list
  keyhoard trust explain someone@debian.org
  keyhoard trust graph someone@debian.org > someone.svg")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Set how far the owners of keys are trusted to certify others.
    Set(owner_trust::SetArguments),
    /// Disable keys, so that they are not used, or enable them again.
    Disable(owner_trust::DisableArguments),
    /// List the owner trust that was set, and the keys that are disabled.
    List,
    /// Show the trust in the owners of keys, and how valid these are, as keyhoard show does.
    Show(show::Arguments),
    /// Take over owner trust that gpg has exported, or export it for gpg.
    #[command(subcommand)]
    Exchange(owner_trust::Exchange),
    /// Count the valid keys by their distance from your own.
    Check(check::Arguments),
    /// Explain the validity of user IDs.
    Explain(explain::Arguments),
    /// Draw on whom the validity of a certificate depends, as SVG.
    Graph(graph::Arguments),
}

/// Runs a subcommand.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    match &arguments.command {
        Command::Set(arguments) => owner_trust::set(session, arguments),
        Command::Disable(arguments) => owner_trust::disable(session, arguments),
        Command::List => owner_trust::list(session),
        Command::Show(arguments) => show::run(session, arguments),
        Command::Exchange(exchange) => owner_trust::exchange(session, exchange),
        Command::Check(arguments) => check::run(session, arguments),
        Command::Explain(arguments) => explain::run(session, arguments),
        Command::Graph(arguments) => graph::run(session, arguments),
    }
}
