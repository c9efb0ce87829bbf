//! Reading what commands did to a database.

use std::ops::ControlFlow;

use cert::Fingerprint;

use crate::{CertId, Change, JournalEntry, JournalId, Migration, Result};

/// SHA-256 over an imported certificate's bytes, the options, and the version of our import rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InputDigest(pub [u8; 32]);

/// A certificate that was removed, or from which something was taken, as it was before.
#[derive(Clone, Copy, Debug)]
pub struct RemovedCertificate<'a> {
    /// The entry of the journal that did so.
    pub entry: JournalId,
    /// Its primary key.
    pub primary: Fingerprint,
    /// Its exact bytes.
    pub bytes: &'a [u8],
}

/// What commands did to a database, and what they imported.
pub trait ReadJournal {
    /// Lists journal entries, newest first, at most `limit`.
    fn journal(&self, limit: usize) -> Result<Vec<JournalEntry>>;

    /// Returns one journal entry.
    fn journal_entry(&self, id: JournalId) -> Result<Option<JournalEntry>>;

    /// Hands every certificate that was removed or shrunk to `visit`, the last one first. Leaves out what was undone or purged,
    /// and reads no other changes.
    fn removals(&self, visit: &mut dyn FnMut(RemovedCertificate<'_>) -> ControlFlow<()>) -> Result<()>;

    /// Hands what one journal entry did to `visit`, in order, one at a time, beginning with change number `from`.
    fn journal_changes(
        &self,
        id: JournalId,
        from: u64,
        visit: &mut dyn FnMut(Change) -> ControlFlow<()>,
    ) -> Result<()>;

    /// Says for each digest which certificate an identical, complete import led to.
    fn known_inputs(&self, digests: &[InputDigest]) -> Result<Vec<Option<CertId>>>;

    /// Finds the certificates that imports after `entry` brought again, or may have: with the latest of those
    /// imports. Imports that were undone do not count, neither do undos.
    ///
    /// An import of an input that was first seen before `entry` brought nothing that was new in `entry`.
    fn brought_again(&self, entry: JournalId) -> Result<Vec<(Fingerprint, JournalId)>>;

    /// Lists the entries that were the last ones to meet an input, whether they brought anything new or not.
    fn last_to_meet_inputs(&self) -> Result<Vec<JournalId>>;

    /// Lists other certificate stores that were taken over, or about which the user was told.
    fn migrations(&self) -> Result<Vec<Migration>>;
}
