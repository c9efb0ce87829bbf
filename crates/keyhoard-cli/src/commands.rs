//! The subcommands, one file each: the arguments, and the printing of results.

pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod copy;
pub(crate) mod db;
pub(crate) mod decrypt;
pub(crate) mod delete;
pub(crate) mod doctor;
pub(crate) mod encrypt;
pub(crate) mod export;
pub(crate) mod fetch;
pub(crate) mod generate;
pub(crate) mod import;
mod import_outcome;
pub(crate) mod key;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod migrate;
pub(crate) mod policy;
pub(crate) mod publish;
pub(crate) mod refresh;
pub(crate) mod search;
pub(crate) mod show;
pub(crate) mod sign;
pub(crate) mod signed_by;
pub(crate) mod sop;
pub(crate) mod sql;
pub(crate) mod status;
pub(crate) mod tofu;
pub(crate) mod trust;
pub(crate) mod undo;
pub(crate) mod verify;
pub(crate) mod who_signed;

mod checked_signatures;
mod content_options;
mod data_signatures;
mod keyserver_search;
mod list_filter;
mod listings;
mod migration_details;
mod named_certificates;
mod own_key;
mod recipients;
mod signer_options;
mod unknown_recipients;
mod verify_batch;

use std::io::Write;

use clap::CommandFactory;

use crate::arguments::{Arguments, Command};
use crate::exit::Outcome;
use crate::output::is_standard_output_closed;
use crate::session::Session;

/// Runs the command.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<Outcome> {
    let mut session = Session::new(arguments.global);
    let session = &mut session;
    let outcome = match arguments.command.unwrap_or(Command::Status(status::Arguments {})) {
        Command::Status(_) => status::run(session),
        Command::Import(arguments) => import::run(session, &arguments),
        Command::Export(arguments) => export::run(session, &arguments),
        Command::Generate(arguments) => generate::run(session, &arguments),
        Command::List(arguments) => list::run(session, &arguments),
        Command::Show(arguments) => show::run(session, &arguments),
        Command::Search(arguments) => search::run(session, &arguments),
        Command::Fetch(arguments) => fetch::run(session, &arguments),
        Command::Refresh(arguments) => refresh::run(session, &arguments),
        Command::Publish(arguments) => publish::run(session, &arguments),
        Command::Check(arguments) => check::run(session, &arguments),
        Command::WhoSigned(arguments) => who_signed::run(session, &arguments),
        Command::SignedBy(arguments) => signed_by::run(session, &arguments),
        Command::Encrypt(arguments) => encrypt::run(session, &arguments),
        Command::Decrypt(arguments) => decrypt::run(session, &arguments),
        Command::Sign(arguments) => sign::run(session, &arguments),
        Command::Verify(arguments) => verify::run(session, &arguments),
        Command::Policy(arguments) => policy::run(session, &arguments),
        Command::Delete(arguments) => delete::run(session, &arguments),
        Command::Key(arguments) => key::run(session, &arguments),
        Command::Log(arguments) => log::run(session, &arguments),
        Command::Undo(arguments) => undo::run(session, &arguments),
        Command::Db(arguments) => db::run(session, &arguments),
        Command::Copy(arguments) => copy::run(session, &arguments),
        Command::Doctor(arguments) => doctor::run(session, &arguments),
        Command::Sql(arguments) => sql::run(session, &arguments),
        Command::Tofu(arguments) => tofu::run(session, &arguments),
        Command::Trust(arguments) => trust::run(session, &arguments),
        Command::Migrate(arguments) => migrate::run(session, &arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Sop(arguments) => sop::run(session, &arguments),
        Command::Completions(arguments) => completions::run(session, &arguments, Arguments::command()),
        Command::Man(arguments) => man::run(session, &arguments, Arguments::command()),
    };
    session.warn_of_agent();
    let outcome = outcome?;
    match session.output.flush() {
        // The exit code says so, even if nobody reads the rest.
        Err(error) if !outcome.is_success() && is_standard_output_closed(&error) => Ok(outcome),
        flushed => Ok(flushed.map(|()| outcome)?),
    }
}
