//! What the transactions of both engines write in the same way.

use cert::{Fingerprint, Timestamp};

use crate::Result;
use crate::engine::Engine;
use crate::journal::change_row::NewChange;

/// A write transaction of an engine.
pub(crate) trait EngineWriter {
    /// What it reads and writes with.
    type Engine: Engine;

    /// Returns what it reads and writes with.
    fn engine(&self) -> &Self::Engine;

    /// Returns the time of the transaction.
    fn now(&self) -> Timestamp;

    /// Writes into the journal what becomes of keys.
    fn record_all<'c>(
        &mut self,
        changes: impl IntoIterator<Item = (Fingerprint, NewChange<'c>)>,
    ) -> Result<()>;

    /// Writes into the journal what becomes of a key.
    fn record(&mut self, key: &Fingerprint, change: NewChange<'_>) -> Result<()> {
        self.record_all([(*key, change)])
    }
}
