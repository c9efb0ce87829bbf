//! What was done to the database, and what came of taking it back.

use std::time::SystemTime;

use engine::store::{Snapshot, Store};
use engine::undo::{UndoOptions, UndoSummary, undo};

use crate::time::from_timestamp;
use crate::{Keyhoard, Result};

/// An entry of the journal: one command of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JournalEntry {
    /// Its number.
    pub id: i64,
    /// When it began.
    pub time: SystemTime,
    /// What it was: a command line, or the name that a program gave when it opened the database.
    pub command: String,
    /// Certificates that were added.
    pub added: u64,
    /// Certificates that got more packets.
    pub merged: u64,
    /// Certificates that were removed.
    pub removed: u64,
    /// The entry that undid this one.
    pub undone_by: Option<i64>,
    /// The entry that this one undid.
    pub undoes: Option<i64>,
}

/// What an undo did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Undone {
    /// The entry that was taken back.
    pub entry: i64,
    /// Certificates that went.
    pub removed: u64,
    /// Certificates that lost packets.
    pub shrunk: u64,
    /// Certificates that came back.
    pub restored: u64,
    /// Certificates from which not everything was taken back, such as revocations.
    pub kept: u64,
}

impl Undone {
    pub(crate) fn of(summary: &UndoSummary) -> Self {
        Self {
            entry: summary.undone.0,
            removed: summary.removed,
            shrunk: summary.shrunk,
            restored: summary.restored,
            kept: summary.kept,
        }
    }
}

/// Reads the latest entries, newest first.
pub(crate) fn read_journal(snapshot: &dyn Snapshot, limit: usize) -> Result<Vec<JournalEntry>> {
    let entry = |entry: engine::store::JournalEntry| {
        let [added, merged, removed] = entry.counts;
        JournalEntry {
            id: entry.id.0,
            time: from_timestamp(entry.time),
            command: entry.command,
            added,
            merged,
            removed,
            undone_by: entry.undone_by.map(|entry| entry.0),
            undoes: entry.undoes.map(|entry| entry.0),
        }
    };
    Ok(snapshot.journal(limit)?.into_iter().map(entry).collect())
}

impl Keyhoard {
    /// Returns the latest entries of the journal, newest first.
    ///
    /// # Errors
    ///
    /// `database`.
    pub fn journal(&self, limit: usize) -> Result<Vec<JournalEntry>> {
        self.handle.read(|snapshot| read_journal(snapshot, limit))
    }

    /// Takes back what an entry of the journal did, else the last one that is not undone.
    ///
    /// # Errors
    ///
    /// `undo` says what prevents it.
    pub fn undo(&self, entry: Option<i64>) -> Result<Undone> {
        let handle = &self.handle;
        let entry = entry.map(engine::store::JournalId);
        let options = UndoOptions { command: handle.program.clone(), ..UndoOptions::default() };
        let undo = |store: &dyn Store| Ok(undo(store, entry, &options, handle.now(), &mut |_| {})?);
        Ok(Undone::of(&handle.write(undo)?))
    }
}
