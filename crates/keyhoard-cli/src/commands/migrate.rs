//! `keyhoard migrate`: imports the keys, owner trust and TOFU data of other programs.

use std::path::PathBuf;

use anyhow::bail;
use engine::migrate::{
    Differing, Kind, MigrateEvent, MigrateOptions, MigrateSummary, SecretKeysLeft, Source, migrate, outdated,
    secret_keys_left, usual, within,
};
use engine::secret::{SecretKeys as _, StoredKey};
use serde::Serialize;
use serde_json::json;

use crate::exit::Outcome;
use crate::hint::Hint;
use crate::naming::assigned_trust_phrase;
use crate::printable::counted;
use crate::progress::{Progress, Unit};
use crate::session::{Session, command_line};
use crate::stderr;
use crate::style::Style;
use crate::table::{Cell, Table};

/// The arguments of `keyhoard migrate`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard migrate                          GnuPG's keys and the shared certificate directory
  keyhoard migrate ~/.gnupg ~/old/pubring.gpg
  keyhoard migrate --check                  has anything changed since?

Reads pubring.gpg, pubring.kbx, keyboxd's pubring.db, trustdb.gpg, tofu.db and pgp.cert.d directories, and changes \
nothing in them. Everything is taken: local signatures, where keys came from, the order; only secret keys stay with GnuPG: \
they are used where they are if it is the home of this database, else it is told how many there are. It can be run again to take over what is new.")]
pub(crate) struct Arguments {
    /// GnuPG home directories, key files or certificate directories [default: the usual places].
    #[arg(value_name = "SOURCE")]
    sources: Vec<PathBuf>,

    /// Say whether anything has changed since it was migrated, and nothing else; the exit code is 1 if it has.
    #[arg(long, conflicts_with_all = ["sources", "dry_run"])]
    check: bool,

    /// Write nothing, only say what would be taken over.
    #[arg(long, short = 'n')]
    dry_run: bool,
}

/// Migrates the sources, as one entry of the journal.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    if arguments.check {
        return check(session);
    }
    let sources = sources(arguments)?;
    let store = if arguments.dry_run { session.open_or_empty()? } else { session.open_or_create()? };
    let options = MigrateOptions { command: command_line(), dry_run: arguments.dry_run };
    let mut progress = session.progress(Unit::Certificates, None);
    let quiet = session.quiet || session.output.is_json();
    let mut kept = Vec::new();
    let summary = migrate(store.as_ref(), &sources, &options, session.now, &mut |event| match event {
        MigrateEvent::Kept(differing) => kept.push(KeptJson::from(differing)),
        event => report(&mut progress, quiet, event),
    })?;
    drop(progress);
    // If the stored keys cannot be listed, all of GnuPG's count as missing here.
    let keys = session.secret_keys().ok();
    let in_files = keys.as_ref().and_then(|keys| keys.files().heads().ok()).unwrap_or_default();
    let in_agent = keys.as_ref().and_then(|keys| keys.agent()?.list().ok()).unwrap_or_default();
    if !in_agent.is_empty() {
        let count = counted(in_agent.len(), "secret key");
        session.note(format_args!("{count} of GnuPG can be used where they are, with gpg-agent"));
    }
    let stored: Vec<StoredKey> = in_files.into_iter().flatten().chain(in_agent).collect();
    let left = secret_keys_left(&sources, &stored);
    if session.output.is_json() {
        let source =
            |source: &Source| SourceJson { path: source.path.display().to_string(), kind: kind(source.kind) };
        let left =
            left.iter().map(|left| LeftJson { path: left.path.display().to_string(), keys: left.keys });
        session.output.json(&SummaryJson {
            sources: sources.iter().map(source).collect(),
            read: summary.read,
            new: summary.new,
            changed: summary.changed,
            unchanged: summary.unchanged,
            bindings: summary.bindings,
            owner_trusts: summary.owner_trusts,
            kept,
            unreadable: summary.unreadable,
            x509: summary.x509,
            secret_keys_left: left.collect(),
            entry: summary.journal.map(|journal| journal.0),
        })?;
    } else {
        left.iter().for_each(|left| warn_of_left(session, left));
        if !session.quiet {
            session.output.table(&summary_table(&summary))?;
        }
        if !kept.is_empty() {
            session.note(format_args!(
                "what was decided here stays; {} with the same sources shows what is decided otherwise there",
                Hint::ExplainMigration
            ));
        }
    }
    Ok(Outcome::done_if(summary.read + summary.bindings + summary.owner_trusts > 0))
}

fn sources(arguments: &Arguments) -> anyhow::Result<Vec<Source>> {
    if arguments.sources.is_empty() {
        let sources = usual();
        if sources.is_empty() {
            bail!(
                "neither GnuPG's home directory nor the shared certificate directory holds any keys; name a source"
            );
        }
        return Ok(sources);
    }
    let mut sources = Vec::new();
    for path in &arguments.sources {
        sources.extend(within(path)?);
    }
    Ok(sources)
}

fn report(progress: &mut Progress, quiet: bool, event: MigrateEvent<'_>) {
    match event {
        MigrateEvent::Progress { done } => progress.set(done),
        MigrateEvent::Kept(_) => {}
        MigrateEvent::Source(_) if quiet => {}
        MigrateEvent::Source(source) => {
            let text = format!("reading {} ({})", source.path.display(), kind(source.kind));
            progress.suspended(|| stderr::print(Style::Faint, "keyhoard:", text));
        }
        MigrateEvent::Unreadable { source, reason } => {
            let text = format!("{}: {reason}", source.path.display());
            progress.suspended(|| stderr::print(Style::Error, "not readable:", text));
        }
    }
}

/// Warns of secret keys that only GnuPG has, with the command that imports them.
fn warn_of_left(session: &Session, left: &SecretKeysLeft) {
    let (keys, path, home) = (counted(left.keys, "secret key"), left.path.display(), left.home.display());
    session.warn(format_args!(
        "{keys} in {path} {verb} not here, and only GnuPG can use {them}; `gpg --homedir {home} --export-secret-keys | \
         keyhoard import` brings {them} here (GnuPG asks for the passphrases)",
        verb = if left.keys == 1 { "is" } else { "are" },
        them = if left.keys == 1 { "it" } else { "them" },
    ));
}

fn check(session: &mut Session) -> anyhow::Result<Outcome> {
    let store = session.open()?;
    let outdated = outdated(store.snapshot()?.as_ref())?;
    for migration in &outdated {
        let path = migration.path.display();
        if session.output.is_json() {
            session.output.json(&json!({ "outdated": path.to_string() }))?;
        } else {
            session.output.line(format_args!("{path}: has changed since it was migrated"))?;
        }
    }
    if outdated.is_empty() {
        session.note("nothing has changed since it was migrated");
    } else {
        session.note(format_args!("{} copies the changes", Hint::Migrate));
    }
    Ok(Outcome::done_if(outdated.is_empty()))
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Keyring => "keyring",
        Kind::Keybox => "keybox",
        Kind::Keyboxd => "keyboxd database",
        Kind::CertD => "certificate directory",
        Kind::TofuDb => "trust on first use",
        Kind::TrustDb => "owner trust",
    }
}

fn summary_table(summary: &MigrateSummary) -> Table {
    let lines = [
        (summary.read, "certificates read", Style::Strong),
        (summary.new, "new", Style::Good),
        (summary.changed, "changed", Style::Name),
        (summary.unchanged, "unchanged", Style::Faint),
        (summary.bindings, "addresses with what was seen of their keys", Style::Name),
        (summary.owner_trusts, "keys with owner trust", Style::Name),
        (summary.kept_owner_trusts, "of them keep another owner trust that they have here", Style::Warning),
        (summary.kept_policies, "addresses keep another policy that was decided here", Style::Warning),
        (summary.unreadable, "not readable", Style::Error),
        (summary.x509, "X.509 certificates, left to gpgsm", Style::Warning),
    ];
    let mut table = Table::default();
    for (count, text, style) in lines {
        if count > 0 || style == Style::Strong {
            table.push([Cell::number(count).styled(style), Cell::new(text)]);
        }
    }
    table
}

/// The result, as `docs/json.md` describes it.
#[derive(Serialize)]
struct SummaryJson {
    sources: Vec<SourceJson>,
    read: u64,
    new: u64,
    changed: u64,
    unchanged: u64,
    bindings: u64,
    owner_trusts: u64,
    kept: Vec<KeptJson>,
    unreadable: u64,
    x509: u64,
    secret_keys_left: Vec<LeftJson>,
    entry: Option<i64>,
}

/// Secret keys that stay with GnuPG, as `docs/json.md` describes them.
#[derive(Serialize)]
struct LeftJson {
    path: String,
    keys: u64,
}

#[derive(Serialize)]
struct SourceJson {
    path: String,
    kind: &'static str,
}

/// Something that stays as it was decided here, as `docs/json.md` describes it.
#[derive(Serialize)]
struct KeptJson {
    fingerprint: String,
    what: &'static str,
    address: Option<String>,
    here: String,
    there: String,
}

impl From<&Differing> for KeptJson {
    fn from(differing: &Differing) -> Self {
        match differing {
            Differing::OwnerTrust { key, here, there } => Self {
                fingerprint: key.to_string(),
                what: "owner_trust",
                address: None,
                here: assigned_trust_phrase(Some(*here)),
                there: assigned_trust_phrase(Some(*there)),
            },
            Differing::Policy { key, address, here, there } => Self {
                fingerprint: key.to_string(),
                what: "policy",
                address: Some(String::from_utf8_lossy(address.as_bytes()).into_owned()),
                here: here.name().to_owned(),
                there: there.name().to_owned(),
            },
        }
    }
}
