//! `keyhoard import`: imports certificates and secret keys from files.

mod json;
mod notes;
mod own_keys;

use std::fmt::Display;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use agent::AllKeys;
use anyhow::{Context, bail};
use engine::causes;
use engine::cert::ArmorRules;
use engine::cert::clean::CleanOptions;
use engine::cert::mail_armor::MAX_MAIL;
use engine::cert::{self, Flaw};
use engine::import::{
    ImportEvent, ImportOptions, ImportOutcome, ImportRefusal, ImportSummary, Imported, ImportedSecret,
    SecretOutcome, import_all,
};
use engine::mail::Mail;
use engine::migrate::within;
use engine::secret::SecretKeys;
use engine::store::{Fingerprint, JournalId};

use crate::exit::{CodedError, Outcome};
use crate::hint::Hint;
use crate::input;
use crate::output::Output;
use crate::printable::{counted, counted_thing, printable};
use crate::progress::{Progress, Unit};
use crate::session::{Session, command_line};
use crate::stderr;
use crate::style::Style;
use crate::table::{Cell, Table};
use json::{CertificateJson, RefusedJson, SummaryJson};
use notes::{describe, unchecked};

/// The arguments of `keyhoard import`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard import /usr/share/keyrings/debian-keyring.gpg
  curl https://example.org/key.asc | keyhoard import
  keyhoard import --merge-only updates/*.asc
  keyhoard import --dry-run --verbose suspicious.pgp

Binary and armored input, any number of certificates, several files. Good certificates of a damaged file are imported, \
bad ones are reported with their position. Trust, marker and padding packets are not kept. Secret keys are kept in \
files beside the database, locked as they are. One import is one entry of the journal: `keyhoard undo` takes it back \
as a whole. The exit code is 1 if no certificate was imported, or a secret key could not be kept.")]
pub(crate) struct Arguments {
    /// The files to read; - is standard input [default: -].
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Write nothing, only report what an import would do.
    #[arg(long, short = 'n')]
    dry_run: bool,

    /// Report what was done with each certificate.
    #[arg(long, short, conflicts_with = "quiet")]
    verbose: bool,

    /// Only add to certificates that are in the database already.
    #[arg(long)]
    merge_only: bool,

    /// Import only the public parts of secret keys.
    #[arg(long)]
    no_secret_keys: bool,

    /// Leave out certifications by others.
    #[arg(long)]
    minimal: bool,

    /// Import signatures that their makers marked as not exportable.
    #[arg(long)]
    local_signatures: bool,

    /// Import user IDs without self-signature.
    #[arg(long)]
    allow_unsigned_user_ids: bool,

    /// Leave misplaced self-signatures where they are.
    #[arg(long)]
    no_repair: bool,
}

impl Arguments {
    fn options<'a>(&self, from_files: bool, names: bool, keys: &'a AllKeys) -> ImportOptions<'a> {
        ImportOptions {
            command: command_line(),
            armor: ArmorRules::Rfc9580,
            clean: CleanOptions {
                keep_local: self.local_signatures,
                no_repair: self.no_repair,
                self_signatures_only: self.minimal,
                accept_unsigned_user_ids: self.allow_unsigned_user_ids,
                ..CleanOptions::default()
            },
            merge_only: self.merge_only,
            from_files,
            dry_run: self.dry_run,
            names,
            secret_keys: (!self.no_secret_keys).then_some(keys as &(dyn SecretKeys + Sync)),
            ..ImportOptions::default()
        }
    }

    fn files(&self) -> Vec<PathBuf> {
        if self.files.is_empty() { vec![PathBuf::from("-")] } else { self.files.clone() }
    }
}

/// Imports the files, one after the other, as one entry of the journal.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let files = arguments.files();
    if files.iter().any(|file| file == Path::new("-")) && io::stdin().is_terminal() {
        session.note("reading certificates from the terminal; end with Ctrl-D, or name a file");
    }
    let inputs = files.iter().map(|file| open(session, file)).collect::<anyhow::Result<Vec<Input>>>()?;
    let total = inputs.iter().map(|input| input.size).sum::<Option<u64>>();
    let store = if arguments.dry_run { session.open_or_empty()? } else { session.open_or_create()? };
    let keys = session.secret_keys()?;
    let names = arguments.verbose || session.output.is_json();
    let options = arguments.options(total.is_some(), names, &keys);
    let progress = session.progress(Unit::Bytes, total);
    let mut report = Report {
        session,
        files: &files,
        verbose: arguments.verbose,
        progress,
        written: Ok(()),
        new_secret_keys: Vec::new(),
        revoked: Vec::new(),
    };
    let now = report.session.now;
    let readers = inputs.into_iter().map(|input| input.reader);
    let summary = import_all(store.as_ref(), readers, &options, now, &mut |event| report.event(event))?;
    let new_secret_keys = std::mem::take(&mut report.new_secret_keys);
    report.finish(&summary)?;
    if !arguments.dry_run {
        own_keys::ask(session, store.as_ref(), &new_secret_keys)?;
    }
    if summary.processed + summary.refused == 0 {
        let names: Vec<String> = files.iter().map(|file| input::name(Some(file))).collect();
        bail!(CodedError::not_found(format_args!("{}: no OpenPGP certificate in it", names.join(", "))));
    }
    let taken = summary.processed > summary.refused + summary.without_user_id + summary.skipped_new;
    if summary.not_fully_checked > 0 {
        bail!("{} not fully checked", counted(summary.not_fully_checked as usize, "certificate"));
    }
    if summary.only_forged > 0 {
        bail!(
            "{} not imported: forged self-signatures",
            counted(summary.only_forged as usize, "certificate")
        );
    }
    Ok(Outcome::done_if(taken && summary.secret_refused == 0))
}

/// An open input file.
struct Input {
    reader: Box<dyn Read + Send>,
    /// Its size in bytes; `None` for pipes and devices.
    size: Option<u64>,
}

fn open(session: &Session, path: &Path) -> anyhow::Result<Input> {
    if path == Path::new("-") {
        let mail = Mail::read_certificates(input::standard()).with_context(|| input::name(None))?;
        return Ok(mended(session, &input::name(None), mail, None));
    }
    let named = || path.display().to_string();
    if !path.exists() && is_url(path) {
        bail!("{}: {} fetches a URL", named(), Hint::Fetch(named()));
    }
    let file = File::open(path).with_context(named)?;
    let metadata = file.metadata().with_context(named)?;
    if metadata.is_dir() {
        match within(path) {
            Ok(_) => bail!("{}: is a directory; {} copies what it has", named(), Hint::MigrateFrom(named())),
            Err(_) => bail!("{}: is a directory; name the files in it", named()),
        }
    }
    let size = metadata.is_file().then_some(metadata.len());
    if size.is_none_or(|size| size > MAX_MAIL as u64) {
        return Ok(Input { reader: Box::new(file), size });
    }
    Ok(mended(session, &named(), Mail::read_certificates(file).with_context(named)?, size))
}

/// Returns an input of which mail may have damaged the armor, and says so.
fn mended(session: &Session, name: &str, mail: Mail<'static>, size: Option<u64>) -> Input {
    input::warn_if_mended(session, &name, mail.is_mended);
    Input { reader: Box::new(mail), size }
}

fn is_url(path: &Path) -> bool {
    path.to_str().is_some_and(|text| text.starts_with("https://") || text.starts_with("http://"))
}

/// Prints the events of an import.
struct Report<'s> {
    session: &'s mut Session,
    files: &'s [PathBuf],
    /// Whether each certificate is printed.
    verbose: bool,
    progress: Progress,
    /// The first error of writing to standard output, which does not stop the import.
    written: io::Result<()>,
    /// The primary keys whose secret parts are new here.
    new_secret_keys: Vec<Fingerprint>,
    /// The primary keys that a revocation certificate revoked.
    revoked: Vec<Fingerprint>,
}

impl Report<'_> {
    fn event(&mut self, event: ImportEvent<'_>) {
        let written = match event {
            ImportEvent::Progress { bytes } => {
                self.progress.set(bytes);
                Ok(())
            }
            ImportEvent::Certificate(imported) => self.certificate(imported),
            ImportEvent::Refused { input, position, reason } => self.refused(input, position, reason),
            ImportEvent::Cleaned { .. } | ImportEvent::Revocation(_) => Ok(()),
        };
        if self.written.is_ok() {
            self.written = written;
        }
    }

    fn certificate(&mut self, imported: &Imported) -> io::Result<()> {
        let file = self.files[imported.input].display().to_string();
        let is_new_revocation = imported.revocation && matches!(imported.outcome, ImportOutcome::Changed(_));
        self.revoked.extend(is_new_revocation.then_some(imported.fingerprint));
        let has_new = imported.secrets.iter().any(|secret| secret.outcome == SecretOutcome::New);
        self.new_secret_keys.extend(has_new.then_some(imported.fingerprint));
        if self.session.output.is_json() {
            return self.session.output.json(&CertificateJson::new(&file, imported));
        }
        let Imported { position, fingerprint, .. } = imported;
        for reason in imported.secrets.iter().filter_map(refusal) {
            self.error("refused:", format_args!("{file}, certificate at byte {position}: {reason}"));
        }
        let certificate = format_args!("{file}, certificate at byte {position}, {fingerprint}");
        if imported.is_not_fully_checked() {
            let what: Vec<String> = imported.notes.iter().filter_map(unchecked).collect();
            self.error("not fully checked:", format_args!("{certificate}: {}", what.join("; ")));
        }
        if let Some(count) = imported.forged_self_signatures() {
            let text = format_args!("{certificate}: {count} forged self-signatures and no good one");
            self.error("refused:", text);
        }
        for revoker in &imported.missing_revokers {
            let text = format_args!("{certificate} may be revoked: its revoker {revoker} is not here");
            self.progress.suspended(|| stderr::print(Style::Warning, "keyhoard:", text));
        }
        if self.verbose {
            certificate_line(&mut self.session.output, imported)?;
        }
        Ok(())
    }

    fn error(&self, label: &str, text: impl Display) {
        self.progress.suspended(|| stderr::print(Style::Error, label, text));
    }

    fn refused(&mut self, input: usize, position: u64, reason: &ImportRefusal) -> io::Result<()> {
        let file = self.files[input].display().to_string();
        if self.session.output.is_json() {
            return self.session.output.json(&RefusedJson::new(&file, position, reason));
        }
        match message_command(reason, &file) {
            Some((what, command)) => self.error("refused:", format_args!("{file}: {what}; use {command}")),
            None => self.error("refused:", format_args!("{file}, byte {position}: {}", causes(reason))),
        }
        Ok(())
    }

    fn finish(self, summary: &ImportSummary) -> anyhow::Result<()> {
        drop(self.progress);
        self.written?;
        if self.session.output.is_json() {
            self.session.output.json(&SummaryJson::new(summary))?;
        } else if !self.session.quiet && summary.processed + summary.refused > 0 {
            self.session.output.table(&summary_table(summary))?;
        }
        if let Some(JournalId(entry)) = summary.journal {
            for key in &self.revoked {
                let undo = Hint::UndoRevocation(entry);
                self.session.note(format_args!("{key} is revoked now; {undo} takes that back here"));
            }
        }
        Ok(())
    }
}

/// Returns what a message is that was to be imported, and the command for it.
fn message_command(reason: &ImportRefusal, file: &str) -> Option<(&'static str, Hint)> {
    let ImportRefusal::Unreadable(cert::Error::Malformed { flaw: Flaw::Misplaced(kind), .. }) = reason else {
        return None;
    };
    if file == "-" {
        return None;
    }
    match *kind {
        1 | 3 | 9 | 18 | 20 => Some(("an encrypted message, no certificate", Hint::Decrypt(file.to_owned()))),
        2 | 4 | 8 | 11 => Some(("a message or signature, no certificate", Hint::Verify(file.to_owned()))),
        _ => None,
    }
}

/// Returns why a secret key could not be kept, if it could not.
fn refusal(secret: &ImportedSecret) -> Option<String> {
    match &secret.outcome {
        SecretOutcome::Refused(reason) => Some(reason.clone()),
        SecretOutcome::NotInCertificate => {
            Some(format!("secret key {}: no valid signature binds it to the certificate", secret.fingerprint))
        }
        SecretOutcome::New | SecretOutcome::Unchanged | SecretOutcome::Stub => None,
    }
}

fn certificate_line(output: &mut Output, imported: &Imported) -> io::Result<()> {
    let (style, word) = match imported.outcome {
        ImportOutcome::New => (Style::Good, "new"),
        ImportOutcome::Changed(_) => (Style::Name, "changed"),
        ImportOutcome::Unchanged => (Style::Faint, "unchanged"),
        ImportOutcome::SkippedNew => (Style::Warning, "not here, skipped"),
        ImportOutcome::SkippedWithoutUserId => (Style::Warning, "no user ID, skipped"),
        ImportOutcome::Declined => (Style::Faint, "declined"),
    };
    let name = imported.name.as_deref().map(printable).unwrap_or_default();
    output.line(format_args!("{}  {}  {name}", imported.fingerprint, output.styled(style, word)))?;
    imported.notes.iter().try_for_each(|note| output.line(format_args!("    {}", describe(note))))
}

/// Returns the sums of an import that are not zero.
fn summary_table(summary: &ImportSummary) -> Table {
    let added = summary.added;
    let read = summary.processed - summary.refused;
    let without = summary.secret - summary.secret_imported - summary.secret_unchanged;
    let lines = [
        (read, counted_thing(read, "certificate read", "certificates read"), Style::Strong),
        (summary.imported, "new", Style::Good),
        (summary.changed, "changed", Style::Name),
        (u64::from(added.user_ids), "new user IDs", Style::Name),
        (u64::from(added.subkeys), "new subkeys", Style::Name),
        (u64::from(added.signatures), "new signatures", Style::Name),
        (summary.unchanged, "unchanged", Style::Faint),
        (summary.skipped_new, "not here, skipped", Style::Warning),
        (summary.without_user_id, "without user ID, skipped", Style::Warning),
        (summary.secret_imported, "with a new secret key", Style::Good),
        (summary.secret_unchanged, "with a secret key that is here already", Style::Faint),
        (without, "with a secret key that was not imported", Style::Warning),
        (summary.secret_refused, "secret keys refused", Style::Error),
        (summary.refused, "refused", Style::Error),
    ];
    let mut table = Table::default();
    for (count, text, style) in
        lines.into_iter().filter(|(count, _, style)| *count > 0 || *style == Style::Strong)
    {
        table.push([Cell::number(count).styled(style), Cell::new(text)]);
    }
    table
}
