//! `keyhoard copy`: copies a whole database into another one.

use std::path::PathBuf;

use engine::copy::{CopySummary, copy};
use engine::database;

use crate::exit::Outcome;
use crate::printable::counted;
use crate::progress::Unit;
use crate::session::{Session, command_line};

/// The arguments of `keyhoard copy`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard copy --from ~/.local/share/keyhoard/keyhoard.db --to postgres://ann@db.example.org/keys
  keyhoard copy --from postgres://ann@db.example.org/keys --to backup.db

Certificates, verdicts, owner trust and the data of trust on first use are copied, and compared at the end; the exit code \
is 2 if anything differs. The journal is not copied. An interrupted copy continues when it is run again. The other \
database has to be new, or left by an interrupted copy.")]
pub(crate) struct Arguments {
    /// The database to read.
    #[arg(long, value_name = "DATABASE")]
    from: PathBuf,

    /// The database to write, made if it is not there.
    #[arg(long, value_name = "DATABASE")]
    to: PathBuf,
}

/// Copies, compares, and prints the sums.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let from = database::open(&arguments.from)?;
    let to = database::create(&arguments.to)?;
    let total = from.snapshot()?.count()?;
    let mut progress = session.progress(Unit::Certificates, Some(total * 2));
    let summary = copy(&*from, &*to, &command_line(), session.now, &mut |done| progress.set(done))?;
    drop(progress);
    if session.output.is_json() {
        session.output.json(&summary)?;
    } else {
        let CopySummary { copied, there, .. } = summary;
        let there = if there > 0 { format!(", {there} were there already") } else { String::new() };
        let copied = counted(copied, "certificate");
        session.note(format_args!("{copied} copied{there}; the databases are equal"));
    }
    Ok(Outcome::Done)
}
