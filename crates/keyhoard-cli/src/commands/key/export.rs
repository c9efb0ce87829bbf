//! `keyhoard key export`: writes secret keys, for a backup or another program.

use std::ffi::OsString;
use std::io::Write;

use engine::export::ExportOptions;
use engine::output_file::Content;
use engine::secret::SecretKeys;
use engine::secret::ask::Nobody;
use engine::secret_transfer::{SecretExportSummary, SecretParts, export_secret, with_secret_key};
use engine::store::Selection;
use serde::Serialize;

use crate::commands::named_certificates::NamedCertificates;
use crate::destination::Destination;
use crate::exit::Outcome;
use crate::printable::counted;
use crate::session::Session;

/// The arguments of `keyhoard key export`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard key export --output backup.asc me@example.org
  keyhoard key export --subkeys-only me@example.org | ssh laptop keyhoard import
  keyhoard key export --all --output everything.pgp

The keys are written with their certificates, locked with the passphrases that they have: nobody is asked for one. gpg \
and other programs read them; keys of version 6, and those locked with Argon2, need a program that knows RFC 9580. A \
file given with --output is for its owner only (mode 0600).")]
pub(crate) struct Arguments {
    /// The keys to export, by the names of their certificates.
    #[arg(value_name = "NAME", required_unless_present = "all")]
    names: Vec<OsString>,

    /// Export all secret keys.
    #[arg(long, conflicts_with = "names")]
    all: bool,

    /// Leave out the secret parts of primary keys: a stub replaces each, as with gpg --export-secret-subkeys.
    #[arg(long)]
    subkeys_only: bool,

    #[command(flatten)]
    destination: Destination,
}

/// Writes the secret keys.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let keys = session.secret_keys()?;
    let store = session.open()?;
    let snapshot = store.snapshot()?;
    let named = NamedCertificates::find(session, snapshot.as_ref(), &arguments.names)?;
    if !named.complete {
        session.note("nothing was exported");
        return Ok(Outcome::Nothing);
    }
    let parts = if arguments.subkeys_only { SecretParts::Subkeys } else { SecretParts::All };
    let (snapshot, options) = (snapshot.as_ref(), ExportOptions::default());
    let ids = with_secret_key(snapshot, named.selection(), &keys.list()?)?;
    let packets = |out: &mut (dyn Write + Send)| {
        let (selection, unchanged) = (Selection::Ids(&ids), &mut |_, certificate| Ok(certificate));
        Ok(export_secret(snapshot, selection, &keys, parts, &options, unchanged, &mut Nobody, out, |_| {})?)
    };
    let output = arguments.destination.open(session, Content::Secret, None)?;
    let summary = output.write(Some("PRIVATE KEY BLOCK"), packets, |summary| summary.exported > 0)?;
    print_summary(session, arguments, summary)?;
    Ok(Outcome::done_if(summary.exported > 0))
}

/// Prints the result of an export to a file.
fn print_summary(
    session: &mut Session,
    arguments: &Arguments,
    summary: SecretExportSummary,
) -> anyhow::Result<()> {
    let SecretExportSummary { exported, secrets } = summary;
    if exported == 0 {
        session.warn("the named certificates have no secret key here");
        return Ok(());
    }
    let Some(path) = arguments.destination.file() else { return Ok(()) };
    if session.output.is_json() {
        let file = path.to_string_lossy();
        session.output.json(&SummaryJson { file: &file, certificates: exported, secret_keys: secrets })?;
    } else {
        let (keys, certificates) = (counted(secrets, "secret key"), counted(exported, "certificate"));
        session.note(format_args!("{keys} of {certificates} written to {}", path.display()));
    }
    Ok(())
}

/// The result of an export to a file, as `docs/json.md` describes it.
#[derive(Serialize)]
struct SummaryJson<'a> {
    file: &'a str,
    certificates: u64,
    secret_keys: u64,
}
