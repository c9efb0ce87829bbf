//! `keyhoard log`: prints the journal.

use std::fmt::Write as _;
use std::io;
use std::ops::ControlFlow;

use engine::store::tofu::{BindingChange, KeptBinding, policy_of};
use engine::store::{AssignedTrust, Change, ChangeKind, JournalEntry, JournalId, ReadJournal};
use engine::trust::tofu::Policy;
use serde::Serialize;

use crate::exit::Outcome;
use crate::naming::assigned_trust_phrase;
use crate::output::Output;
use crate::printable::{counted, harmless, printable};
use crate::session::Session;
use crate::style::Style;
use crate::table::{Cell, Table};
use crate::timestamp;

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
        Some(entry) => write_changes(session, snapshot.as_ref(), JournalId(entry)),
        None => {
            let limit = if arguments.all { usize::MAX } else { arguments.limit };
            write_entries(session, &snapshot.journal(limit)?)
        }
    }
}

fn write_entries(session: &mut Session, entries: &[JournalEntry]) -> anyhow::Result<Outcome> {
    if session.output.is_json() {
        for entry in entries {
            let [added, merged, removed] = entry.counts;
            session.output.json(&EntryJson {
                entry: entry.id.0,
                time: timestamp::rfc3339(entry.time),
                command: &entry.command,
                added,
                merged,
                removed,
                complete: entry.complete,
                undone_by: entry.undone_by.map(|by| by.0),
                undoes: entry.undoes.map(|undone| undone.0),
            })?;
        }
        return Ok(Outcome::done_if(!entries.is_empty()));
    }
    let mut table = Table::default();
    for entry in entries {
        table.push([
            Cell::number(entry.id.0).styled(Style::Name),
            Cell::new(timestamp::minute(entry.time)).styled(Style::Faint),
            Cell::new(effect(entry)),
            Cell::new(harmless(&entry.command)),
        ]);
    }
    session.output.table(&table)?;
    if entries.is_empty() {
        session.note("nothing was changed yet");
    }
    Ok(Outcome::done_if(!entries.is_empty()))
}

fn write_changes(
    session: &mut Session,
    snapshot: &dyn ReadJournal,
    id: JournalId,
) -> anyhow::Result<Outcome> {
    let mut any = false;
    let mut written = Ok(());
    snapshot.journal_changes(id, 0, &mut |change| {
        any = true;
        written = write_change(&mut session.output, &change);
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    written?;
    if !any && snapshot.journal_entry(id)?.is_none() {
        session.warn(format_args!("the journal has no entry {}", id.0));
    }
    Ok(Outcome::done_if(any))
}

fn write_change(output: &mut Output, change: &Change) -> io::Result<()> {
    if output.is_json() {
        return output.json(&ChangeJson::from(change));
    }
    let (style, text) = match &change.kind {
        ChangeKind::Added => (Style::Good, "added".to_owned()),
        ChangeKind::Merged { added, .. } => (Style::Name, format!("merged, {} new packets", added.len())),
        ChangeKind::Shrunk(Some(_)) => (Style::Warning, "lost packets".to_owned()),
        ChangeKind::Shrunk(None) => (Style::Warning, "lost packets, since purged".to_owned()),
        ChangeKind::Removed(Some(_)) => (Style::Warning, "removed".to_owned()),
        ChangeKind::Removed(None) => (Style::Warning, "removed and purged".to_owned()),
        ChangeKind::OwnerTrust { before, after } => (
            Style::Name,
            format!("owner trust {}, was {}", assigned_trust_phrase(*after), assigned_trust_phrase(*before)),
        ),
        ChangeKind::Binding(Some(binding)) => (Style::Name, binding_in_words(binding)),
        ChangeKind::Binding(None) => (Style::Name, "trust on first use, since purged".to_owned()),
    };
    output.line(format_args!("{}  {}", change.fingerprint, output.styled(style, text)))
}

fn binding_in_words(change: &BindingChange) -> String {
    let BindingChange { address, before, after, added, removed } = change;
    let [before, after] = [before, after].map(|kept| policy_name(kept.as_ref()));
    let mut words = format!("{}: {after}, was {before}", printable(address.as_bytes()));
    for (messages, what) in [(added, "added"), (removed, "removed")] {
        if messages.count() > 0 {
            let count = counted(messages.count() as u64, "message");
            write!(words, ", {count} {what}").expect("a string takes everything");
        }
    }
    words
}

fn policy_name(kept: Option<&KeptBinding>) -> &'static str {
    Policy::from_number(policy_of(kept)).unwrap_or_default().name()
}

/// Returns what an entry did in a few characters.
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
    undoes: Option<i64>,
}

/// What an entry did to one certificate, as `docs/json.md` describes it.
#[derive(Serialize)]
struct ChangeJson {
    fingerprint: String,
    change: &'static str,
    new_packets: Option<usize>,
    undoable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner_trust: Option<OwnerTrustChangeJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    binding: Option<BindingChangeJson>,
}

/// A change of a TOFU binding.
#[derive(Serialize)]
struct BindingChangeJson {
    address: String,
    before: &'static str,
    after: &'static str,
    messages_added: usize,
    messages_removed: usize,
}

/// A change of owner trust, in GnuPG's numbers.
#[derive(Serialize)]
struct OwnerTrustChangeJson {
    before: Option<u8>,
    after: Option<u8>,
}

impl From<&Change> for ChangeJson {
    fn from(change: &Change) -> Self {
        let (mut owner_trust, mut binding) = (None, None);
        match &change.kind {
            ChangeKind::OwnerTrust { before, after } => {
                let [before, after] = [before, after].map(|trust| trust.map(AssignedTrust::number));
                owner_trust = Some(OwnerTrustChangeJson { before, after });
            }
            ChangeKind::Binding(Some(change)) => {
                binding = Some(BindingChangeJson {
                    address: String::from_utf8_lossy(change.address.as_bytes()).into_owned(),
                    before: policy_name(change.before.as_ref()),
                    after: policy_name(change.after.as_ref()),
                    messages_added: change.added.count(),
                    messages_removed: change.removed.count(),
                });
            }
            _ => {}
        }
        let (name, new_packets, undoable) = match &change.kind {
            ChangeKind::Added => ("added", None, true),
            ChangeKind::Merged { added, .. } => ("merged", Some(added.len()), true),
            ChangeKind::Shrunk(former) => ("shrunk", None, former.is_some()),
            ChangeKind::Removed(former) => ("removed", None, former.is_some()),
            ChangeKind::OwnerTrust { .. } => ("owner_trust", None, true),
            ChangeKind::Binding(change) => ("binding", None, change.is_some()),
        };
        let fingerprint = change.fingerprint.to_string();
        Self { fingerprint, change: name, new_packets, undoable, owner_trust, binding }
    }
}
