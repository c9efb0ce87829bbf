//! What every engine offers.

use cert::Timestamp;

use crate::doctor::{Derive, Finding, Rebuilt};
use crate::{CertId, JournalId, KeptVerdict, Result, Snapshot, Transaction};

/// A database of certificates.
pub trait Store: Send + Sync {
    /// Opens a consistent view of everything committed so far.
    fn snapshot(&self) -> Result<Box<dyn Snapshot + '_>>;

    /// Opens such a view for reading much of it: on several cores, where the engine and the machine can.
    fn snapshot_on_all_cores(&self) -> Result<Box<dyn Snapshot + '_>> {
        self.snapshot()
    }

    /// Says whether snapshots can be taken, and seen through, while a transaction lasts.
    ///
    /// A database that is new, or on a network file system, has no write-ahead log: there it cannot be done.
    fn supports_concurrent_readers(&self) -> Result<bool>;

    /// Starts to write: waits for the writers before it, then holds the only write lock.
    ///
    /// `now` stamps what this transaction changes. `journal` continues an entry of an earlier batch.
    ///
    /// Drop every snapshot of this store before, unless it [reads beside a writer](Store::supports_concurrent_readers).
    ///
    /// # Errors
    ///
    /// [`Error::SnapshotHeld`](crate::Error::SnapshotHeld) if such a database is read here;
    /// [`Error::Locked`](crate::Error::Locked) if no other writer got anything done for a minute;
    /// [`Error::Unwritable`](crate::Error::Unwritable).
    fn begin(
        &self,
        command: &str,
        journal: Option<JournalId>,
        now: Timestamp,
    ) -> Result<Box<dyn Transaction + '_>>;

    /// Starts to write as [`Store::begin`] does, where that can be done beside others who do the same.
    ///
    /// Certificates that such a transaction puts, or finds to be in [conflict](crate::PutOutcome::Conflict), it has for
    /// itself until it ends; all others may change under its eyes.
    fn begin_concurrent(
        &self,
        command: &str,
        journal: Option<JournalId>,
        now: Timestamp,
    ) -> Result<Box<dyn Transaction + '_>> {
        self.begin(command, journal, now)
    }

    /// Starts to write as [`Store::begin`] does if the database is empty, its engine has no log for it yet, and nobody
    /// else writes; `None` otherwise.
    ///
    /// As long as it lasts others may have to wait who only want to read.
    fn begin_bulk_load(&self, _command: &str, _now: Timestamp) -> Result<Option<Box<dyn Transaction + '_>>> {
        Ok(None)
    }

    /// Starts to write as [`Store::begin`] does what will be put in many parts, which would change the same pages of the
    /// indexes again and again; `None` where a transaction may have to be done again, which takes all its parts.
    fn begin_deferred_indexes(
        &self,
        _command: &str,
        _journal: Option<JournalId>,
        _now: Timestamp,
    ) -> Result<Option<Box<dyn Transaction + '_>>> {
        Ok(None)
    }

    /// Adds verdicts to those that are kept, in a short transaction of its own that waits for nobody.
    ///
    /// Snapshots may be open. Certificates that are gone are skipped. False says that nothing was written, since
    /// somebody else writes or the database cannot be written to: only time is lost.
    fn keep_verdicts(&self, found: &[(CertId, Vec<KeptVerdict>)]) -> Result<bool>;

    /// Checks everything: the engine's own structures where that can be done, then each row against the bytes it was
    /// derived from.
    ///
    /// # Errors
    ///
    /// Only if the check itself cannot be done; what it finds goes to `found`.
    fn check(&self, derive: &mut Derive<'_>, found: &mut dyn FnMut(Finding)) -> Result<()>;

    /// Derives all rows from the bytes again, in one transaction, and removes rows that belong to nothing.
    ///
    /// What is left of a certificate whose packets are lost belongs to nothing: without it, and without the digests of
    /// its inputs, another import brings the certificate back.
    ///
    /// # Errors
    ///
    /// [`Error::Underivable`](crate::Error::Underivable) if a certificate's bytes are damaged; then nothing was changed.
    fn rebuild(&self, derive: &mut Derive<'_>) -> Result<Rebuilt>;
}
