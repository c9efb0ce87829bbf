//! `keyhoard db`: creates and upgrades the database.

use clap::Subcommand;
use engine::database;

use crate::exit::Outcome;
use crate::session::Session;
use crate::table::{Cell, Table};

/// The arguments of `keyhoard db`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard db status
  keyhoard --db postgres://ann@db.example.org/keys db init
  keyhoard --db 'postgres:///keys?host=/var/run/postgresql' db init --partitions 16

A database is a file, or a schema of a PostgreSQL server (named keyhoard, or by ?schema= in the URL). Passwords come from \
PGPASSWORD, ~/.pgpass or a service file. docs/postgresql.md says what rights readers and importers need.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
enum Command {
    /// Make the database, unless it is there.
    #[command(after_help = "Examples:
  keyhoard --db postgres://ann@db.example.org/keys db init")]
    Init {
        /// Split the big tables of a PostgreSQL database into this many partitions [default: plain tables].
        #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
        partitions: u32,
    },
    /// Describe the database, and count its certificates.
    #[command(after_help = "Examples:
  keyhoard db status --json")]
    Status,
    /// Bring the tables to this program's version, and make indexes that are missing.
    #[command(after_help = "Examples:
  keyhoard --db postgres://ann@db.example.org/keys db migrate")]
    Migrate,
}

/// Runs the command and prints the status of the database.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let place = session.path()?;
    let status = match arguments.command {
        Command::Init { partitions } => database::init(&place, partitions)?,
        Command::Status => database::status(&place)?,
        Command::Migrate => database::migrate(&place)?,
    };
    if session.output.is_json() {
        session.output.json(&status)?;
        return Ok(Outcome::Done);
    }
    let mut table = Table::default();
    let mut line = |name: &str, value: String| table.push([Cell::new(name), Cell::new(value)]);
    line("database", status.location);
    line("engine", status.engine);
    line("certificates", status.certificates.to_string());
    let partitions = match status.partitions {
        0 => "plain".to_owned(),
        partitions => format!("split over {partitions} partitions"),
    };
    line("tables", partitions);
    let search = match status.search_index {
        true => "by an index",
        false => "by reading all user IDs: the server lacks pg_trgm, or this user may not add it",
    };
    line("search in user IDs", search.to_owned());
    session.output.table(&table)?;
    Ok(Outcome::Done)
}
