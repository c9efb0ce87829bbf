//! `keyhoard log`: what changed the database.

use keyhoard::store::{Change, ChangeKind, JournalEntry, JournalId};
use serde::Serialize;

use crate::exit::Outcome;
use crate::moment;
use crate::printable::printable;
use crate::session::Session;
use crate::style::Style;
use crate::table::{Cell, Table};

/// The arguments of `keyhoard log`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard log                     the last 20 commands that changed something
  keyhoard log --all --json
  keyhoard log 17                  what entry 17 did to each certificate")]
pub(crate) struct Arguments {
    /// Show what this entry did to each certificate.
    #[arg(value_name = "ENTRY")]
    entry: Option<i64>,

    /// Show at most this many entries.
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 20, conflicts_with = "all")]
    limit: usize,

    /// Show all entries.
    #[arg(long, short)]
    all: bool,
}

/// Writes the journal, newest entry first, or one entry's changes in their order.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let store = session.open()?;
    let snapshot = store.snapshot()?;
    match arguments.entry {
        Some(entry) => write_changes(session, &snapshot.journal_changes(JournalId(entry))?),
        None => {
            let limit = if arguments.all { usize::MAX } else { arguments.limit };
            write_entries(session, &snapshot.journal(limit)?)
        }
    }
}

fn write_entries(session: &mut Session, entries: &[JournalEntry]) -> anyhow::Result<Outcome> {
    if session.output.is_json() {
        entries.iter().try_for_each(|entry| session.output.json(&EntryJson::from(entry)))?;
        return Ok(Outcome::found(!entries.is_empty()));
    }
    let mut table = Table::default();
    for entry in entries {
        table.push([
            Cell::number(entry.id.0).styled(Style::Name),
            Cell::new(moment::minute(entry.time)).styled(Style::Faint),
            Cell::new(effect(entry)),
            Cell::new(printable(entry.command.as_bytes())),
        ]);
    }
    let colour = session.output.colour();
    table.write(&mut session.output, colour)?;
    Ok(Outcome::found(!entries.is_empty()))
}

fn write_changes(session: &mut Session, changes: &[Change]) -> anyhow::Result<Outcome> {
    for change in changes {
        if session.output.is_json() {
            session.output.json(&ChangeJson::from(change))?;
            continue;
        }
        let text = match &change.kind {
            ChangeKind::Added => session.output.styled(Style::Good, "added".to_owned()),
            ChangeKind::Merged(packets) => {
                session.output.styled(Style::Name, format!("merged, {} new packets", packets.len()))
            }
            ChangeKind::Removed(Some(_)) => session.output.styled(Style::Warning, "removed".to_owned()),
            ChangeKind::Removed(None) => session.output.styled(Style::Warning, "purged".to_owned()),
        };
        session.output.line(format_args!("{}  {text}", change.fingerprint))?;
    }
    Ok(Outcome::found(!changes.is_empty()))
}

/// Says in a few characters what an entry did.
fn effect(entry: &JournalEntry) -> String {
    let [added, merged, removed] = entry.counts;
    let mut parts: Vec<String> = [('+', added), ('~', merged), ('-', removed)]
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(sign, count)| format!("{sign}{count}"))
        .collect();
    parts.extend((!entry.complete).then(|| "interrupted".to_owned()));
    parts.extend(entry.undone_by.map(|by| format!("undone by {}", by.0)));
    parts.join(" ")
}

/// An entry, as `docs/json.md` describes it.
#[derive(Serialize)]
struct EntryJson<'a> {
    entry: i64,
    time: String,
    command: &'a str,
    added: u64,
    merged: u64,
    removed: u64,
    complete: bool,
    undone_by: Option<i64>,
}

impl<'a> From<&'a JournalEntry> for EntryJson<'a> {
    fn from(entry: &'a JournalEntry) -> Self {
        let [added, merged, removed] = entry.counts;
        Self {
            entry: entry.id.0,
            time: moment::rfc3339(entry.time),
            command: &entry.command,
            added,
            merged,
            removed,
            complete: entry.complete,
            undone_by: entry.undone_by.map(|by| by.0),
        }
    }
}

/// What an entry did to one certificate, as `docs/json.md` describes it.
#[derive(Serialize)]
struct ChangeJson {
    fingerprint: String,
    change: &'static str,
    new_packets: Option<usize>,
    undoable: bool,
}

impl From<&Change> for ChangeJson {
    fn from(change: &Change) -> Self {
        let (name, new_packets, undoable) = match &change.kind {
            ChangeKind::Added => ("added", None, true),
            ChangeKind::Merged(packets) => ("merged", Some(packets.len()), true),
            ChangeKind::Removed(bytes) => ("removed", None, bytes.is_some()),
        };
        Self { fingerprint: change.fingerprint.to_string(), change: name, new_packets, undoable }
    }
}
