//! `keyhoard delete`: certificates go.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};

use anyhow::bail;
use keyhoard::delete::{Candidate, candidates, delete};
use keyhoard::secret_keys::SecretKeys;
use keyhoard::store::{CertId, Removal};
use serde::Serialize;

use super::Named;
use crate::exit::Outcome;
use crate::printable::{counted, printable};
use crate::session::{Session, command_line};

/// Candidates that are named one by one before the question.
const NAMED: usize = 20;

/// The arguments of `keyhoard delete`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard delete 0123456789ABCDEF0123456789ABCDEF01234567
  keyhoard delete --yes @old-company.example
  keyhoard delete --purge --yes 0123456789ABCDEF0123456789ABCDEF01234567

What is deleted can be brought back with `keyhoard undo`, but for what was purged. The trust in the owner of a deleted \
key is forgotten either way.")]
pub(crate) struct Arguments {
    /// The certificates to delete.
    #[arg(value_name = "NAME", required = true)]
    names: Vec<OsString>,

    /// Do not ask.
    #[arg(long, short)]
    yes: bool,

    /// Remove the bytes from the journal too, so that nothing can bring them back.
    #[arg(long)]
    purge: bool,

    /// Delete even a certificate whose secret key GnuPG holds; the secret key stays.
    #[arg(long)]
    despite_secret_key: bool,
}

/// Asks, and deletes.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let store = session.open()?;
    let snapshot = store.snapshot()?;
    let named = Named::find(session, snapshot.as_ref(), &arguments.names)?;
    let secret_keys = SecretKeys::near(&session.path()?);
    let found = candidates(snapshot.as_ref(), named.ids.as_deref().unwrap_or_default(), &secret_keys)?;
    drop(snapshot);
    if !named.complete || found.is_empty() {
        session.note("nothing was deleted");
        return Ok(Outcome::Nothing);
    }
    refuse_secret_keys(&found, arguments)?;
    if !arguments.yes && !confirmed(&found, arguments)? {
        session.note("nothing was deleted");
        return Ok(Outcome::Nothing);
    }
    let ids: Vec<CertId> = found.iter().map(|candidate| candidate.id).collect();
    let removal = if arguments.purge { Removal::Purge } else { Removal::Undoable };
    let entry = delete(store.as_ref(), &ids, removal, &command_line(), session.now)?;
    tell(session, arguments, &found, entry.0)?;
    Ok(Outcome::Done)
}

fn refuse_secret_keys(found: &[Candidate], arguments: &Arguments) -> anyhow::Result<()> {
    let with_secret = found.iter().find_map(|candidate| Some((candidate, candidate.secret_key.as_ref()?)));
    match with_secret {
        Some((candidate, file)) if !arguments.despite_secret_key => bail!(
            "{}: its secret key is in {}; delete that first, or say --despite-secret-key",
            candidate.fingerprint,
            file.display()
        ),
        _ => Ok(()),
    }
}

/// Asks on the terminal; without one nothing is deleted.
fn confirmed(found: &[Candidate], arguments: &Arguments) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        bail!("not deleting {} unasked: say --yes", counted(found.len(), "certificate"));
    }
    let mut terminal = io::stderr();
    for candidate in found.iter().take(NAMED) {
        let name = candidate.name.as_deref().map(printable).unwrap_or_default();
        writeln!(terminal, "{}  {name}", candidate.fingerprint)?;
    }
    if found.len() > NAMED {
        writeln!(terminal, "and {} more", found.len() - NAMED)?;
    }
    let how = if arguments.purge { "for good" } else { "(`keyhoard undo` brings them back)" };
    write!(terminal, "Delete {} {how}? [y/N] ", counted(found.len(), "certificate"))?;
    terminal.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn tell(session: &mut Session, arguments: &Arguments, found: &[Candidate], entry: i64) -> anyhow::Result<()> {
    if session.output.is_json() {
        let deleted = found.iter().map(|candidate| candidate.fingerprint.to_string()).collect();
        session.output.json(&DeletedJson { deleted, purged: arguments.purge, entry })?;
    } else if arguments.purge {
        session.note(format_args!("{} deleted for good", counted(found.len(), "certificate")));
    } else {
        session.note(format_args!(
            "{} deleted; `keyhoard undo {entry}` takes that back",
            counted(found.len(), "certificate")
        ));
    }
    Ok(())
}

/// The result of a deletion, as `docs/json.md` describes it.
#[derive(Serialize)]
struct DeletedJson {
    deleted: Vec<String>,
    purged: bool,
    entry: i64,
}
