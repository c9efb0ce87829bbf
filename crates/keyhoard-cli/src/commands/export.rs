//! `keyhoard export`: writes certificates, or a home directory for GnuPG.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use engine::export::{ExportOptions, ExportSummary, export};
use engine::gnupg_home::write_home;
use engine::migrate::DetailOutcome;
use engine::output_file::Content;
use engine::passphrase::Passphrases;
use engine::store::Selection;
use serde::Serialize;

use crate::commands::migration_details::{DetailJson, details_table};
use crate::commands::named_certificates::NamedCertificates;
use crate::destination::Destination;
use crate::exit::Outcome;
use crate::passphrase_options::{PassphraseOptions, owner};
use crate::printable::counted;
use crate::progress::Unit;
use crate::session::Session;

/// The arguments of `keyhoard export`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard export > all.pgp
  keyhoard export --armor '<someone@debian.org>'
  keyhoard export --output friends.asc alice@example.org 0123456789ABCDEF
  keyhoard export --to-gnupg ~/.gnupg-new   certificates, owner trust and secret keys for gpg

Without a name everything is exported. A file given with --output is armored if its name ends in .asc; it appears \
whole or not at all. One that is there already is replaced only with --force.

--to-gnupg writes a directory that gpg 2.2 and later use as their home: pubring.kbx, trustdb.gpg, private-keys-v1.d and \
openpgp-revocs.d. Secret keys keep their passphrases. The data of trust on first use are not written.")]
pub(crate) struct Arguments {
    /// The certificates to export [default: all].
    #[arg(value_name = "NAME")]
    names: Vec<OsString>,

    #[command(flatten)]
    destination: Destination,

    /// Leave out superseded signatures, as gpg does.
    #[arg(long)]
    gpg_view: bool,

    /// Include signatures that their makers marked as not exportable.
    #[arg(long)]
    local_signatures: bool,

    /// Leave out certifications by others and superseded signatures.
    #[arg(long)]
    minimal: bool,

    /// Leave out photographs and other user attributes.
    #[arg(long)]
    no_attributes: bool,

    /// Write everything, with owner trust and secret keys, into this new home directory for GnuPG; with --force into one that
    /// is in use.
    #[arg(long, value_name = "HOME", value_hint = clap::ValueHint::DirPath, conflicts_with_all = [
        "names", "output", "armor", "binary", "gpg_view", "local_signatures", "minimal", "no_attributes",
    ])]
    to_gnupg: Option<PathBuf>,

    #[command(flatten)]
    passphrases: PassphraseOptions,
}

/// Writes the certificates.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    if let Some(home) = &arguments.to_gnupg {
        return to_gnupg(session, arguments, home);
    }
    let store = session.open()?;
    let snapshot = store.snapshot()?;
    let named = NamedCertificates::find(session, snapshot.as_ref(), &arguments.names)?;
    let (selection, options) = (named.selection(), arguments.options());
    let packets = |out: &mut (dyn Write + Send)| {
        let total = match selection {
            Selection::All => snapshot.count()?,
            Selection::Ids(ids) => ids.len() as u64,
        };
        let mut progress = session.progress(Unit::Certificates, Some(total));
        let mut done = 0;
        Ok(export(snapshot.as_ref(), selection, &options, None, out, |_| {
            done += 1;
            progress.set(done);
        })?)
    };
    let output = arguments.destination.open(session, Content::Ordinary, None)?;
    let summary = output.write(Some("PUBLIC KEY BLOCK"), packets, |sum| sum.certificates > 0)?;
    if summary.certificates == 0 {
        session.note("nothing was exported");
    }
    print_summary(session, arguments, summary)?;
    Ok(Outcome::done_if(named.complete && summary.certificates > 0))
}

/// Writes a home directory for GnuPG.
fn to_gnupg(session: &mut Session, arguments: &Arguments, home: &Path) -> anyhow::Result<Outcome> {
    let (location, keys) = (session.path()?, session.secret_keys()?);
    let store = session.open()?;
    let snapshot = store.snapshot()?;
    let owner = |key: &_| owner(snapshot.as_ref(), key);
    let mut passphrases = Passphrases::new(arguments.passphrases.source()?, owner);
    let replaces = arguments.destination.replaces();
    let (snapshot, now) = (snapshot.as_ref(), session.now);
    let written = write_home(snapshot, &location, &keys, home, replaces, &mut passphrases, now)?;
    if session.output.is_json() {
        session.output.json(&HomeJson {
            home: home.display().to_string(),
            certificates: written.certificates,
            owner_trusts: written.owner_trusts,
            details: written.details.iter().map(DetailJson::from).collect(),
        })?;
    } else if !session.quiet {
        let certificates = counted(written.certificates, "certificate");
        let trusts = counted(written.owner_trusts, "key");
        let home = home.display();
        session.note(format_args!("{certificates}, and the owner trust of {trusts}, written to {home}"));
        session.output.table(&details_table(&written.details))?;
    }
    Ok(Outcome::done_if(
        !written.details.iter().any(|detail| matches!(detail.outcome, DetailOutcome::Failed(_))),
    ))
}

impl Arguments {
    fn options(&self) -> ExportOptions {
        ExportOptions {
            local_signatures: self.local_signatures,
            superseded: !(self.gpg_view || self.minimal),
            attributes: !self.no_attributes,
            certifications: !self.minimal,
            ..ExportOptions::default()
        }
    }
}

/// Prints the result of an export to a file.
fn print_summary(session: &mut Session, arguments: &Arguments, summary: ExportSummary) -> anyhow::Result<()> {
    let Some(path) = arguments.destination.file().filter(|_| summary.certificates > 0) else { return Ok(()) };
    if session.output.is_json() {
        let file = path.to_string_lossy();
        session.output.json(&SummaryJson { file: &file, certificates: summary.certificates })?;
    } else {
        let count = counted(summary.certificates, "certificate");
        session.note(format_args!("{count} written to {}", path.display()));
    }
    Ok(())
}

/// The result of an export to a file, as `docs/json.md` describes it.
#[derive(Serialize)]
struct SummaryJson<'a> {
    file: &'a str,
    certificates: u64,
}

/// A home directory that was written for GnuPG, as `docs/json.md` describes it.
#[derive(Serialize)]
struct HomeJson<'a> {
    home: String,
    certificates: u64,
    owner_trusts: u64,
    details: Vec<DetailJson<'a>>,
}
