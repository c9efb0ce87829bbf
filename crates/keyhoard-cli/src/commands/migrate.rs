//! `keyhoard migrate`: takes over the keys, owner trust, TOFU data and settings of other programs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use agent::{Agent, AllKeys};
use anyhow::bail;
use engine::agent_keys::{agent_near, all_keys};
use engine::database;
use engine::migrate::{
    Detail, DetailKind, DetailOutcome, Differing, Handling, Kind, MigrateEvent, MigrateOptions,
    MigrateSummary, MigrationSource, SettingsDestination, changed_places, is_remembered,
    mark_copied_secrings, migrate, outdated, revocations, secret_keys, settings, usual, was_done, within,
};
use engine::passphrase::Passphrases;
use engine::secret::SecretKeys as _;
use engine::secret::file::FileKeys;
use engine::store::Store;
use serde::Serialize;
use serde_json::json;

use crate::commands::migration_details::{DetailJson, details_table};
use crate::exit::Outcome;
use crate::hint::Hint;
use crate::naming::assigned_trust_phrase;
use crate::passphrase_options::{PassphraseOptions, owner};
use crate::printable::{counted, counted_thing};
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
  keyhoard migrate --secret-keys copy       so that GnuPG is no longer needed
  keyhoard migrate --check                  has anything changed since?

Reads pubring.gpg, pubring.kbx, keyboxd's pubring.db, trustdb.gpg, tofu.db and pgp.cert.d directories, and changes \
nothing in them. Everything is copied: local signatures, where keys came from, the order, revocation certificates, and the \
settings of gpg.conf that have a counterpart in config.toml. Secret keys are used where they are, through gpg-agent, if they \
are in the home directory that belongs to the database; with --secret-keys copy they are copied, each with the passphrase \
that it has. It can be run again to take over what is new.")]
pub(crate) struct Arguments {
    /// GnuPG home directories, key files or certificate directories [default: the usual places].
    #[arg(value_name = "SOURCE")]
    sources: Vec<PathBuf>,

    /// Only say whether anything has changed since the migration; the exit code is 1 if it has.
    #[arg(long, conflicts_with_all = ["sources", "dry_run"])]
    check: bool,

    /// Write nothing, only say what would be taken over.
    #[arg(long, short = 'n')]
    dry_run: bool,

    /// What to do with GnuPG's secret keys.
    #[arg(long, value_name = "HOW", default_value = "in-place", conflicts_with = "check")]
    secret_keys: SecretKeyWord,

    #[command(flatten)]
    passphrases: PassphraseOptions,
}

/// What to do with GnuPG's secret keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum SecretKeyWord {
    /// Use them where they are, through gpg-agent.
    InPlace,
    /// Copy them into files beside the database, each with the passphrase that it has.
    Copy,
}

impl Arguments {
    fn copies_secret_keys(&self) -> bool {
        self.secret_keys == SecretKeyWord::Copy
    }

    /// Says whether the agent is started if it does not run.
    fn starts_agent(&self) -> bool {
        !self.copies_secret_keys() && !self.dry_run
    }
}

/// Migrates the sources, as one entry of the journal.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    if arguments.check {
        return check(session);
    }
    let sources = sources(arguments)?;
    let store = if arguments.dry_run { session.open_or_empty()? } else { session.open_or_create()? };
    let location = session.path()?;
    let keys = keys(session, &location, arguments)?;
    let mut remembered = sources.clone();
    remembered.retain(|source| is_remembered(source, &location, arguments.copies_secret_keys()));
    let options = MigrateOptions { command: command_line(), dry_run: arguments.dry_run };
    let mut progress = session.progress(Unit::Certificates, None);
    let quiet = session.quiet || session.output.is_json();
    let mut kept = Vec::new();
    let summary = migrate(store.as_ref(), &remembered, &options, session.now, &mut |event| match event {
        MigrateEvent::Kept(differing) => kept.push(KeptJson::from(differing)),
        event => report(&mut progress, quiet, event),
    })?;
    drop(progress);
    let details = details(session, arguments, &sources, store.as_ref(), &keys, &location)?;
    let left = secret_keys_left(&details);
    let is_complete = !details.iter().any(|detail| matches!(detail.outcome, DetailOutcome::Failed(_)));
    if session.output.is_json() {
        let source = |source: &MigrationSource| SourceJson {
            path: source.path.display().to_string(),
            kind: kind(source.kind),
        };
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
            secret_keys_left: left,
            details: details.iter().map(DetailJson::from).collect(),
            entry: summary.journal.map(|journal| journal.0),
        })?;
    } else {
        left.iter().for_each(|left| warn_of_left(session, left, arguments));
        if !session.quiet {
            session.output.table(&summary_table(&summary))?;
            session.output.table(&details_table(&details))?;
        }
        if !kept.is_empty() {
            session.note(format_args!(
                "decisions in this database stay; {} with the same sources lists those that differ there",
                Hint::ExplainMigration
            ));
        }
    }
    let found = summary.read + summary.bindings + summary.owner_trusts > 0 || !details.is_empty();
    Ok(Outcome::done_if(found && is_complete))
}

/// Returns the secret keys here. If others can change the files, those that are there are looked at and nothing is added.
fn keys(session: &Session, location: &Path, arguments: &Arguments) -> anyhow::Result<AllKeys> {
    let keys = match arguments.starts_agent() {
        true => session.secret_keys(),
        false => all_keys(location, agent_near(location).map(Agent::without_start)),
    };
    match keys {
        Err(error) if arguments.copies_secret_keys() => Err(error.into()),
        Err(_) => Ok(AllKeys::new(FileKeys::beside(&database::local(location)), None)),
        Ok(keys) => Ok(keys),
    }
}

/// Takes over what is beside the certificates: secret keys, revocation certificates, settings.
fn details(
    session: &Session,
    arguments: &Arguments,
    sources: &[MigrationSource],
    store: &dyn Store,
    keys: &AllKeys,
    location: &Path,
) -> anyhow::Result<Vec<Detail>> {
    let mut details = match (arguments.secret_keys, arguments.dry_run) {
        (SecretKeyWord::InPlace, true) => secret_keys(sources, location, keys, &mut Handling::WouldUse),
        (SecretKeyWord::InPlace, false) => secret_keys(sources, location, keys, &mut Handling::InPlace),
        (SecretKeyWord::Copy, true) => secret_keys(sources, location, keys, &mut Handling::WouldCopy),
        (SecretKeyWord::Copy, false) => {
            let snapshot = store.snapshot()?;
            let owner = |key: &_| owner(snapshot.as_ref(), key);
            let mut passphrases = Passphrases::new(arguments.passphrases.source()?, owner);
            let copied = secret_keys(sources, location, keys, &mut Handling::Copy(&mut passphrases));
            mark_copied_secrings(store, sources, &copied, &command_line(), session.now)?;
            copied
        }
    };
    details.extend(revocations(sources, &database::local(location), arguments.dry_run));
    // If the keys cannot be listed, none counts as the user's own.
    let stored = keys.list().unwrap_or_default();
    let destination = SettingsDestination {
        store,
        stored: &stored,
        command: &command_line(),
        now: session.now,
        is_dry_run: arguments.dry_run,
    };
    details.extend(settings(sources, &destination)?);
    Ok(details)
}

/// Counts the secret keys that can be used only where they are, without those on cards.
fn secret_keys_left(details: &[Detail]) -> Vec<LeftJson> {
    let mut left: BTreeMap<String, u64> = BTreeMap::new();
    for detail in details {
        if detail.kind == DetailKind::SecretKey
            && matches!(detail.outcome, DetailOutcome::Left(_) | DetailOutcome::Failed(_))
        {
            *left.entry(detail.path.display().to_string()).or_default() += 1;
        }
    }
    left.into_iter().map(|(path, keys)| LeftJson { path, keys }).collect()
}

fn sources(arguments: &Arguments) -> anyhow::Result<Vec<MigrationSource>> {
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

/// Warns of secret keys that only GnuPG has, with the command that copies them.
fn warn_of_left(session: &Session, left: &LeftJson, arguments: &Arguments) {
    let LeftJson { path, keys } = left;
    let (count, are) = (counted(*keys, "secret key"), if *keys == 1 { "is" } else { "are" });
    if arguments.copies_secret_keys() {
        session.warn(format_args!("{count} in {path} {are} not here; the table says why"));
        return;
    }
    let them = if *keys == 1 { "it" } else { "them" };
    let home = Path::new(path).parent().unwrap_or(Path::new(path));
    let copy = Hint::CopySecretKeys(home.display().to_string());
    session.warn(format_args!("{count} in {path} {are} not here; {copy} copies {them}"));
}

fn check(session: &mut Session) -> anyhow::Result<Outcome> {
    let store = session.open()?;
    let snapshot = store.snapshot()?;
    let outdated = outdated(snapshot.as_ref())?;
    for migration in &outdated {
        let path = migration.path.display();
        if session.output.is_json() {
            session.output.json(&json!({ "outdated": path.to_string() }))?;
        } else {
            session.output.line(format_args!("{path}: has changed since it was migrated"))?;
        }
    }
    for place in changed_places(snapshot.as_ref())? {
        session.note(format_args!("{} copies the changes", Hint::migrate_again(&place)));
    }
    if outdated.is_empty() {
        match was_done(snapshot.as_ref())? {
            true => session.note("nothing has changed since it was migrated"),
            false if usual().is_empty() => session.note("nothing was migrated yet"),
            false => session.note(format_args!("nothing was migrated yet; {} does it", Hint::Migrate)),
        }
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
        Kind::SecretKeys => "secret keys",
        Kind::Revocations => "revocation certificates",
        Kind::Settings => "settings",
    }
}

fn summary_table(summary: &MigrateSummary) -> Table {
    let lines = [
        (summary.read, counted_thing(summary.read, "certificate read", "certificates read"), Style::Strong),
        (summary.new, "new", Style::Good),
        (summary.changed, "changed", Style::Name),
        (summary.unchanged, "unchanged", Style::Faint),
        (summary.bindings, "addresses with data of trust on first use", Style::Name),
        (summary.owner_trusts, "keys with owner trust", Style::Name),
        (
            summary.kept_owner_trusts,
            "of them keep the owner trust that was set here, which differs",
            Style::Warning,
        ),
        (summary.kept_policies, "addresses keep the policy that was set here, which differs", Style::Warning),
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
struct SummaryJson<'a> {
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
    details: Vec<DetailJson<'a>>,
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
