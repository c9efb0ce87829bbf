//! `keyhoard export`: certificates for others.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use keyhoard::cert::armor_writer::ArmorWriter;
use keyhoard::export::{ExportOptions, ExportSummary, export};
use keyhoard::output_file::OutputFile;
use keyhoard::store::{Selection, Snapshot};
use serde::Serialize;

use super::Named;
use crate::exit::Outcome;
use crate::printable::counted;
use crate::progress::Unit;
use crate::session::Session;

/// The arguments of `keyhoard export`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard export > all.pgp
  keyhoard export --armor '<someone@debian.org>'
  keyhoard export --output friends.asc alice@example.org 0123456789ABCDEF

Without a name everything is exported. A file given with --output is armored if its name ends in .asc; it appears \
whole or not at all, and replaces what was there.")]
pub(crate) struct Arguments {
    /// The certificates to export [default: all].
    #[arg(value_name = "NAME")]
    names: Vec<OsString>,

    /// Write to this file; a pipe or device is written to as it is.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write ASCII armor [default: on a terminal, and to files ending in .asc].
    #[arg(long, short, conflicts_with = "binary")]
    armor: bool,

    /// Write binary packets, even to a terminal.
    #[arg(long)]
    binary: bool,

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
}

/// Writes the certificates.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let store = session.open()?;
    let snapshot = store.snapshot()?;
    let named = Named::find(session, snapshot.as_ref(), &arguments.names)?;
    let export = Export { session, snapshot: snapshot.as_ref(), selection: named.selection(), arguments };
    let summary = match &arguments.output {
        Some(path) if path != Path::new("-") => export.to_file(path)?,
        _ => export.to_stdout()?,
    };
    tell(session, arguments, summary)?;
    Ok(Outcome::found(named.complete && summary.certificates > 0))
}

/// One export on its way.
struct Export<'a> {
    session: &'a Session,
    snapshot: &'a dyn Snapshot,
    selection: Selection<'a>,
    arguments: &'a Arguments,
}

impl Export<'_> {
    fn to_file(&self, path: &Path) -> anyhow::Result<ExportSummary> {
        let mut file = OutputFile::create(path).with_context(|| path.display().to_string())?;
        let by_name = path.extension().is_some_and(|extension| extension == "asc");
        let summary = self.write(&mut file, by_name).with_context(|| path.display().to_string())?;
        if summary.certificates > 0 {
            file.commit().with_context(|| path.display().to_string())?;
        }
        Ok(summary)
    }

    fn to_stdout(&self) -> anyhow::Result<ExportSummary> {
        let stdout = io::stdout();
        let terminal = stdout.is_terminal();
        self.write(&mut stdout.lock(), terminal)
    }

    fn write(&self, out: &mut dyn Write, armor_by_default: bool) -> anyhow::Result<ExportSummary> {
        let mut out = io::BufWriter::with_capacity(1 << 16, out);
        let armor = self.arguments.armor || (armor_by_default && !self.arguments.binary);
        let summary = if armor {
            let mut armored = ArmorWriter::new(&mut out);
            let summary = self.packets(&mut armored)?;
            armored.finish()?;
            summary
        } else {
            self.packets(&mut out)?
        };
        out.flush()?;
        Ok(summary)
    }

    fn packets(&self, out: &mut dyn Write) -> anyhow::Result<ExportSummary> {
        let total = match self.selection {
            Selection::All => self.snapshot.count()?,
            Selection::Ids(ids) => ids.len() as u64,
        };
        let mut progress = self.session.progress(Unit::Certificates, Some(total));
        let mut done = 0;
        let options = self.arguments.options();
        Ok(export(self.snapshot, self.selection, &options, out, |_| {
            done += 1;
            progress.set(done);
        })?)
    }
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

/// Says what was written, where that does not get into what was written.
fn tell(session: &mut Session, arguments: &Arguments, summary: ExportSummary) -> anyhow::Result<()> {
    let Some(path) = arguments.output.as_ref().filter(|path| *path != Path::new("-")) else { return Ok(()) };
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
