//! `keyhoard status`: an overview of the database, the user's own keys, and what is due.

use std::io::Write;
use std::path::Path;

use engine::cert::Timestamp;
use engine::database;
use engine::migrate::MigrationSource;
use engine::overview::{Lifetime, Overview};
use engine::secret::SecretKeys;
use engine::store::Error::Missing;
use engine::undo::{NextUndo, next};
use serde::Serialize;

use crate::exit::Outcome;
use crate::hint::Hint;
use crate::printable::{harmless, printable};
use crate::session::Session;
use crate::style::Style;
use crate::table::{Cell, Table};
use crate::timestamp;

/// Expiry dates within this time from now are reported, in seconds.
const EXPIRY_NOTICE_SECONDS: u32 = 60 * 86400;

/// The arguments of `keyhoard status`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard status
  keyhoard status --json

`keyhoard` alone does the same on a terminal.")]
pub(crate) struct Arguments {}

/// Writes the overview.
pub(crate) fn run(session: &mut Session) -> anyhow::Result<Outcome> {
    let place = session.path()?;
    let status = match database::status(&place) {
        Err(engine::Error::Store(Missing { path })) if !session.output.is_json() => {
            session.output.line(format_args!("{}: there is no database yet", path.display()))?;
            session.output.flush()?;
            begin(session)?;
            return Ok(Outcome::Nothing);
        }
        status => status?,
    };
    let store = session.open()?;
    let snapshot = store.snapshot()?;
    let stored = session.secret_keys()?.list()?;
    let overview = Overview::read(snapshot.as_ref(), &stored, session.now)?;
    let now = session.now;
    if session.output.is_json() {
        session.output.json(&StatusJson::new(&status, &overview, now))?;
        return Ok(Outcome::Done);
    }
    let mut table = Table::default();
    let mut line = |name: &str, value: String, style: Option<Style>| {
        let value = Cell::new(value);
        table.push([
            Cell::new(name).styled(Style::Faint),
            match style {
                Some(style) => value.styled(style),
                None => value,
            },
        ]);
    };
    line("database", format!("{} ({})", status.location, status.engine), None);
    line("certificates", overview.certificates.to_string(), None);
    for own in &overview.own {
        let (state, style) = state(own, now);
        line("own key", format!("{}  {}  {state}", own.fingerprint, name(own)), style);
    }
    for soon in overview.own.iter().chain(&overview.trusted) {
        if let Some(end) = soon.expires_within(now, later(now)) {
            let value = format!("{}  {}  {}", timestamp::day(end), soon.fingerprint, name(soon));
            line("expires soon", value, Some(Style::Warning));
        }
    }
    if let Some(last) = &overview.last {
        let command = harmless(&last.command);
        line("last change", format!("{}  {command}", timestamp::minute(last.time)), None);
    }
    for source in &overview.to_migrate {
        line("not migrated", source.path.display().to_string(), None);
    }
    for path in &overview.changed {
        line("changed since migrated", path.display().to_string(), Some(Style::Warning));
    }
    session.output.table(&table)?;
    session.output.flush()?;
    hints(session, &overview, next(snapshot.as_ref(), now));
    Ok(Outcome::Done)
}

/// Says how to begin.
fn begin(session: &Session) -> anyhow::Result<()> {
    if !engine::migrate::usual().is_empty() {
        session.note(format_args!("{} copies GnuPG's keys", Hint::Migrate));
    }
    session.note(format_args!("{} makes a key of your own", Hint::Generate));
    session.note(format_args!("{} imports certificates", Hint::ImportFile));
    Ok(())
}

/// Says what could be done next.
fn hints(session: &Session, overview: &Overview, undo: Option<NextUndo>) {
    // What is new in a home whose other files have changed comes with these.
    let is_alone = |source: &MigrationSource| {
        overview.changed_places.iter().all(|place| !source.path.starts_with(&place.path))
    };
    if overview.to_migrate.iter().any(is_alone) {
        session.note(format_args!("{} copies them, and changes nothing there", Hint::Migrate));
    }
    for place in &overview.changed_places {
        session.note(format_args!("{} copies the changes", Hint::migrate_again(place)));
    }
    if overview.own.is_empty() {
        session.note(format_args!(
            "no key of your own: {} makes one, {} imports one",
            Hint::Generate,
            Hint::ImportFile
        ));
    }
    let soon = |own: &&Lifetime| own.expires_within(session.now, later(session.now)).is_some();
    if let Some(own) = overview.own.iter().find(soon) {
        session.note(format_args!("{} sets a later date", Hint::SetExpiry(own.fingerprint.to_string())));
    }
    if let Some(NextUndo { entry, command, is_kept }) = undo {
        let undo = if is_kept { Hint::UndoRevocation(entry.0) } else { Hint::Undo(entry.0) };
        match &overview.last {
            Some(last) if last.id == entry => session.note(format_args!("{undo} takes back the last change")),
            _ => session.note(format_args!("{undo} takes back: {}", harmless(&command))),
        }
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn later(now: Timestamp) -> Timestamp {
    Timestamp(now.0.saturating_add(EXPIRY_NOTICE_SECONDS))
}

fn name(lifetime: &Lifetime) -> String {
    lifetime.name.as_deref().map_or_else(|| "[no user ID]".to_owned(), printable)
}

fn state(lifetime: &Lifetime, now: Timestamp) -> (String, Option<Style>) {
    match lifetime.expires {
        _ if lifetime.is_revoked => ("[revoked]".to_owned(), Some(Style::Error)),
        Some(end) if end <= now => (format!("[expired {}]", timestamp::day(end)), Some(Style::Error)),
        Some(end) => (format!("[expires {}]", timestamp::day(end)), None),
        None => ("[never expires]".to_owned(), None),
    }
}

/// The overview, as `docs/json.md` describes it.
#[derive(Serialize)]
struct StatusJson<'a> {
    #[serde(flatten)]
    database: &'a database::Status,
    own_keys: Vec<LifetimeJson>,
    expiring: Vec<LifetimeJson>,
    not_migrated: Vec<String>,
    changed: Vec<String>,
    last: Option<LastJson<'a>>,
}

#[derive(Serialize)]
struct LifetimeJson {
    fingerprint: String,
    user_id: Option<String>,
    expires: Option<String>,
    revoked: bool,
}

#[derive(Serialize)]
struct LastJson<'a> {
    entry: i64,
    time: String,
    command: &'a str,
}

impl<'a> StatusJson<'a> {
    fn new(database: &'a database::Status, overview: &'a Overview, now: Timestamp) -> Self {
        let json = |lifetime: &Lifetime, expires: Option<Timestamp>| LifetimeJson {
            fingerprint: lifetime.fingerprint.to_string(),
            user_id: lifetime.name.as_deref().map(printable),
            expires: expires.map(timestamp::rfc3339),
            revoked: lifetime.is_revoked,
        };
        let soon = overview.own.iter().chain(&overview.trusted);
        Self {
            database,
            own_keys: overview.own.iter().map(|own| json(own, own.expires)).collect(),
            expiring: soon
                .filter_map(|soon| Some(json(soon, Some(soon.expires_within(now, later(now))?))))
                .collect(),
            not_migrated: overview.to_migrate.iter().map(|source| shown(&source.path)).collect(),
            changed: overview.changed.iter().map(|path| shown(path)).collect(),
            last: overview.last.as_ref().map(|last| LastJson {
                entry: last.id.0,
                time: timestamp::rfc3339(last.time),
                command: &last.command,
            }),
        }
    }
}
