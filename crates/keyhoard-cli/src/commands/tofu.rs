//! `keyhoard tofu`: trust on first use: shows bindings of keys to addresses, and sets policies.

mod decide;
mod explain;
mod list;

use engine::cert::effective::PacketView;
use engine::validity::{Model, TrustSettings};

use crate::exit::Outcome;
use crate::session::Session;

/// The arguments of `keyhoard tofu`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard tofu list                              conflicts, and what was decided
  keyhoard tofu explain ann@example.org           which keys came with it, since when, how many messages were seen
  keyhoard tofu policy good 0123456789ABCDEF0123456789ABCDEF01234567
  keyhoard tofu forget ann@example.org

An address that came with several keys is in conflict, unless the keys certified each other, or one of your own keys \
certified them. The policies: auto (believed if it is in no conflict), good, unknown, bad, ask.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the addresses that are in conflict or decided about.
    List(list::Arguments),
    /// Explain an address: its keys, when they were first seen, and in how many messages.
    Explain(explain::Arguments),
    /// Decide about the addresses of keys.
    Policy(decide::PolicyArguments),
    /// Forget what was decided about an address, and the messages seen with it.
    Forget(decide::ForgetArguments),
}

/// Runs a subcommand.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let settings = TrustSettings { model: Model::Tofu, ..TrustSettings::new(session.now, PacketView::Full) };
    match &arguments.command {
        Command::List(arguments) => list::run(session, arguments, &settings),
        Command::Explain(arguments) => explain::run(session, arguments, &settings),
        Command::Policy(arguments) => decide::policy(session, arguments),
        Command::Forget(arguments) => decide::forget_address(session, arguments),
    }
}
