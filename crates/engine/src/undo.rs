//! Undo: takes back what one entry of the journal did.
//!
//! What an import added goes, what it merged is taken out again packet by packet, what a deletion removed comes back
//! where it was; owner trust and what trust on first use remembers are again what they were. An undo is an entry of the
//! journal itself and can be undone.
//!
//! Two things are not done unasked: taking away what a later import brought as well, and taking back a revocation or
//! an end that its owner set, since somebody may rely on it by now.

mod bindings;
mod joined;
mod next;
mod plan;
mod removed_key;
mod shrink;

use std::collections::HashMap;
use std::mem;
use std::ops::ControlFlow;

use store::tofu::Binding;
use store::{
    Change, ChangeKind, Detail, Fingerprint, JournalEntry, JournalId, PutKind, PutOutcome, ReadJournal,
    Removal, Selection, Store, Timestamp,
};

use crate::retry::{retry_changed, retry_transient};
use crate::{Error, Result};
use plan::{Plan, Planner};

pub use next::{NextUndo, next};
pub use plan::UndoOptions;
pub use removed_key::removed_by;
pub use shrink::KeptReason;

/// Entries among which the last one that can be undone is nearly always.
const FIRST_ENTRIES: usize = 100;
/// Changes that are taken back in one transaction.
const BATCH_CHANGES: usize = 10_000;
/// Bytes of certificates that are taken back in one transaction, about.
const BATCH_BYTES: usize = 64 << 20;
/// Bytes of memory that a message takes which came or went with a binding, about.
const MESSAGE_BYTES: usize = 128;

/// Something that happened during an undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoEvent {
    /// Not everything was taken back from this certificate.
    Kept {
        /// The certificate.
        fingerprint: Fingerprint,
        /// What stayed.
        what: KeptReason,
    },
    /// What this certificate was before has been purged, so it cannot come back.
    Purged {
        /// The certificate.
        fingerprint: Fingerprint,
    },
    /// What the journal holds of this certificate is lost or damaged, so it cannot come back.
    Damaged {
        /// The certificate.
        fingerprint: Fingerprint,
    },
    /// So many of the entry's changes were dealt with.
    Progress {
        /// Changes so far.
        done: u64,
    },
}

/// The sums over an undo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoSummary {
    /// The entry that was undone.
    pub undone: JournalId,
    /// Its command line.
    pub command: String,
    /// The journal entry of the undo; `None` after a dry run, or if [everything was kept](Self::keeps_everything).
    pub journal: Option<JournalId>,
    /// Certificates that went.
    pub removed: u64,
    /// Certificates that lost packets.
    pub shrunk: u64,
    /// Certificates that came back, whole or in part.
    pub restored: u64,
    /// Keys whose owner trust is again what it was.
    pub owner_trusts: u64,
    /// Addresses with keys of which is remembered again what was.
    pub bindings: u64,
    /// Certificates from which not everything was taken back.
    pub kept: u64,
}

/// Takes back one entry of the journal: the given one, else the last one that was not undone, is no undo itself and
/// has anything to take back. An entry of which everything is kept is not undone.
///
/// # Errors
///
/// [`Error::NothingToUndo`], [`Error::NoSuchEntry`], [`Error::AlreadyUndone`], [`Error::NothingInEntry`];
/// [`Error::BroughtAgain`] if a later import brought the same and `force` is not set; [`Error::ChangedMeanwhile`] if
/// other programs changed the same certificates again and again, then the undo can be repeated; the database's errors.
pub fn undo(
    store: &dyn Store,
    entry: Option<JournalId>,
    options: &UndoOptions,
    now: Timestamp,
    on_event: &mut dyn FnMut(UndoEvent),
) -> Result<UndoSummary> {
    let snapshot = store.snapshot()?;
    let entry = choose(snapshot.as_ref(), entry)?;
    let later = brought_again(snapshot.as_ref(), &entry, options)?;
    drop(snapshot);
    let mut undo = Undo { store, options, now, later, on_event, done: 0, summary: UndoSummary::new(&entry) };
    while undo.take_back_batch()? {}
    Ok(undo.summary)
}

/// Finds the entry to be undone. One that changed nothing is worth undoing only if it brought again what an earlier one
/// brought, which is kept from being undone by that.
fn choose(snapshot: &dyn ReadJournal, entry: Option<JournalId>) -> Result<JournalEntry> {
    let Some(id) = entry else {
        for limit in [FIRST_ENTRIES, usize::MAX] {
            let mut open = snapshot.journal(limit)?.into_iter().filter(JournalEntry::is_open).peekable();
            let met = match open.peek() {
                Some(entry) if !entry.changed => snapshot.last_to_meet_inputs()?,
                _ => Vec::new(),
            };
            if let Some(entry) = open.find(|entry| entry.changed || met.contains(&entry.id)) {
                return Ok(entry);
            }
        }
        return Err(Error::NothingToUndo);
    };
    let entry = snapshot.journal_entry(id)?.ok_or(Error::NoSuchEntry { entry: id })?;
    match entry.undone_by {
        Some(by) => Err(Error::AlreadyUndone { entry: id, by }),
        None if entry.changed || entry.undoes.is_some() || snapshot.last_to_meet_inputs()?.contains(&id) => {
            Ok(entry)
        }
        None => Err(Error::NothingInEntry { entry: id }),
    }
}

/// Finds what imports after the entry brought again, unless that is a reason not to undo it.
fn brought_again(
    snapshot: &dyn ReadJournal,
    entry: &JournalEntry,
    options: &UndoOptions,
) -> Result<HashMap<Fingerprint, JournalId>> {
    let later: HashMap<Fingerprint, JournalId> = snapshot.brought_again(entry.id)?.into_iter().collect();
    if options.force || later.is_empty() {
        return Ok(later);
    }
    let mut first = None;
    let mut count = 0;
    snapshot.journal_changes(entry.id, 0, &mut |change| {
        let brings = matches!(change.kind, ChangeKind::Added | ChangeKind::Merged { .. });
        if let Some(later) = later.get(&change.fingerprint).filter(|_| brings) {
            first.get_or_insert((change.fingerprint, *later));
            count += 1;
        }
        ControlFlow::Continue(())
    })?;
    match first {
        Some((fingerprint, later)) => Err(Error::BroughtAgain { entry: entry.id, count, fingerprint, later }),
        None => Ok(later),
    }
}

fn size(change: &Change) -> usize {
    match &change.kind {
        ChangeKind::Removed(Some(former)) | ChangeKind::Shrunk(Some(former)) => former.bytes.len(),
        ChangeKind::Binding(Some(change)) => (change.added.count() + change.removed.count()) * MESSAGE_BYTES,
        _ => 0,
    }
}

/// Changes that are taken back in one transaction.
struct Batch {
    plans: Vec<Plan>,
    /// How many changes of the entry that are.
    changes: u64,
    more: bool,
}

/// An undo on its way.
struct Undo<'a> {
    store: &'a dyn Store,
    options: &'a UndoOptions,
    now: Timestamp,
    /// What later imports brought again.
    later: HashMap<Fingerprint, JournalId>,
    on_event: &'a mut dyn FnMut(UndoEvent),
    done: u64,
    summary: UndoSummary,
}

impl Undo<'_> {
    /// Takes back the next changes; returns whether more may follow.
    fn take_back_batch(&mut self) -> Result<bool> {
        let mut is_first = true;
        let batch = retry_changed(|| {
            if !mem::take(&mut is_first) {
                self.look_again()?;
            }
            self.try_batch()
        })?;
        self.done += batch.changes;
        batch.plans.iter().for_each(|plan| self.report(plan));
        (self.on_event)(UndoEvent::Progress { done: self.done });
        Ok(batch.more)
    }

    /// Looks again at what may have become of the entry while others wrote.
    fn look_again(&mut self) -> Result<()> {
        let snapshot = self.store.snapshot()?;
        let entry = choose(snapshot.as_ref(), Some(self.summary.undone))?;
        self.later = brought_again(snapshot.as_ref(), &entry, self.options)?;
        Ok(())
    }

    /// Works out the next changes before the write lock is taken, and takes them back.
    fn try_batch(&mut self) -> Result<Batch> {
        let snapshot = self.store.snapshot()?;
        let (changes, more) = self.read_batch(snapshot.as_ref())?;
        let count = changes.len() as u64;
        let planner = Planner { later: &self.later, options: self.options, now: self.now };
        let plans = planner.plan(snapshot.as_ref(), changes)?;
        // Where there is no write-ahead log a writer waits for the end of all reading.
        drop(snapshot);
        if !self.options.dry_run && self.is_to_be_written(&plans, !more) {
            self.summary.journal = Some(retry_transient(|| self.write(&plans, !more))?);
        }
        Ok(Batch { plans, changes: count, more })
    }

    /// Says whether a batch takes something back, or the entry is to be marked now: not if everything of it is kept.
    fn is_to_be_written(&self, plans: &[Plan], last: bool) -> bool {
        let keeps = self.summary.kept > 0 || plans.iter().any(|plan| plan.kept().is_some());
        plans.iter().any(Plan::takes_back) || last && (self.summary.journal.is_some() || !keeps)
    }

    fn read_batch(&self, snapshot: &dyn ReadJournal) -> Result<(Vec<Change>, bool)> {
        let mut changes = Vec::new();
        let mut bytes = 0;
        let mut more = false;
        snapshot.journal_changes(self.summary.undone, self.done, &mut |change| {
            more = changes.len() >= BATCH_CHANGES || bytes >= BATCH_BYTES;
            if more {
                return ControlFlow::Break(());
            }
            bytes += size(&change);
            changes.push(change);
            ControlFlow::Continue(())
        })?;
        Ok((changes, more))
    }

    fn write(&self, plans: &[Plan], last: bool) -> Result<JournalId> {
        let mut transaction = self.store.begin(&self.options.command, self.summary.journal, self.now)?;
        let removed: HashMap<_, _> = plans.iter().filter_map(Plan::removal).collect();
        let mut current = 0;
        let ids: Vec<_> = removed.keys().copied().collect();
        transaction.snapshot()?.visit(Selection::Ids(&ids), Detail::Name, &mut |record| {
            current += usize::from(removed.get(&record.id) == Some(&record.generation));
            ControlFlow::Continue(())
        })?;
        let puts: Vec<_> = plans.iter().filter_map(Plan::put).collect();
        let outcomes = transaction.put(&puts)?;
        if current < removed.len() || outcomes.contains(&PutOutcome::Conflict) {
            return Err(Error::ChangedMeanwhile);
        }
        for (key, now, _) in plans.iter().filter_map(Plan::owner_trust) {
            if transaction.snapshot()?.owner_trust(key)? != now {
                return Err(Error::ChangedMeanwhile);
            }
        }
        // A binding has to be there still when its certificate goes, or the journal knows nothing of it.
        for (key, now, change) in plans.iter().filter_map(Plan::binding) {
            let found = transaction.snapshot()?.binding(key, &change.address)?;
            if found.and_then(Binding::into_kept).as_ref() != now {
                return Err(Error::ChangedMeanwhile);
            }
            transaction.change_binding(key, change)?;
        }
        transaction.remove(&ids, Removal::Undoable)?;
        // A certificate takes its owner trust with it when it goes.
        for (key, _, back) in plans.iter().filter_map(Plan::owner_trust) {
            transaction.set_owner_trust(key, back)?;
        }
        if last {
            transaction.mark_undone(self.summary.undone)?;
            transaction.finish_journal()?;
        }
        let journal = transaction.journal();
        transaction.commit()?;
        Ok(journal)
    }

    fn report(&mut self, plan: &Plan) {
        let summary = &mut self.summary;
        match plan {
            Plan::Nothing | Plan::Keep { .. } => {}
            Plan::Remove { .. } => summary.removed += 1,
            Plan::Put { kind: PutKind::Shrunk { .. }, .. } => summary.shrunk += 1,
            Plan::Put { .. } => summary.restored += 1,
            Plan::Purged { fingerprint } => (self.on_event)(UndoEvent::Purged { fingerprint: *fingerprint }),
            Plan::Damaged { fingerprint } => {
                (self.on_event)(UndoEvent::Damaged { fingerprint: *fingerprint })
            }
            Plan::OwnerTrust { .. } => summary.owner_trusts += 1,
            Plan::Binding { .. } => summary.bindings += 1,
        }
        if let Some((fingerprint, what)) = plan.kept() {
            self.summary.kept += 1;
            (self.on_event)(UndoEvent::Kept { fingerprint, what });
        }
    }
}

impl UndoSummary {
    /// Says whether there was something to take back and all of it was kept, so that the entry is not undone.
    pub fn keeps_everything(&self) -> bool {
        let Self { removed, shrunk, restored, owner_trusts, bindings, kept, .. } = self;
        *kept > 0 && removed + shrunk + restored + owner_trusts + bindings == 0
    }

    fn new(entry: &JournalEntry) -> Self {
        Self {
            undone: entry.id,
            command: entry.command.clone(),
            journal: None,
            removed: 0,
            shrunk: 0,
            restored: 0,
            owner_trusts: 0,
            bindings: 0,
            kept: 0,
        }
    }
}
