//! What an undo without a number would take back, found without reading much.

use std::collections::HashMap;
use std::ops::ControlFlow;

use store::{JournalEntry, JournalId, Snapshot, Timestamp};

use super::plan::{Plan, Planner, UndoOptions};
use crate::Result;

/// Entries of the journal that are looked at.
const MOST_ENTRIES: usize = 100;
/// An entry with more changes than this is none by which a user revokes or shortens the life of a key.
const MOST_CHANGES: usize = 100;

/// What [`undo`](super::undo()) without a number would take back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextUndo {
    /// The entry.
    pub entry: JournalId,
    /// Its command line.
    pub command: String,
    /// All of it would be kept, unless revocations and earlier expiry dates are included.
    pub is_kept: bool,
}

/// Says what [`undo`](super::undo()) takes back if no entry is named; `None` if that is nothing, is not among the last
/// hundred entries, or cannot be read.
pub fn next(snapshot: &dyn Snapshot, now: Timestamp) -> Option<NextUndo> {
    // No import after the last open entry brought the same again: it would be open itself.
    let entries = snapshot.journal(MOST_ENTRIES).ok()?;
    let entry = entries.into_iter().find(JournalEntry::is_open).filter(|entry| entry.changed)?;
    let is_kept = keeps_everything(snapshot, entry.id, now).ok()?;
    Some(NextUndo { entry: entry.id, command: entry.command, is_kept })
}

fn keeps_everything(snapshot: &dyn Snapshot, entry: JournalId, now: Timestamp) -> Result<bool> {
    let mut changes = Vec::new();
    snapshot.journal_changes(entry, 0, &mut |change| {
        changes.push(change);
        if changes.len() > MOST_CHANGES { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    if changes.len() > MOST_CHANGES {
        return Ok(false);
    }
    let planner = Planner { later: &HashMap::new(), options: &UndoOptions::default(), now };
    let plans = planner.plan(snapshot, changes)?;
    Ok(plans.iter().any(|plan| plan.kept().is_some()) && !plans.iter().any(Plan::takes_back))
}
