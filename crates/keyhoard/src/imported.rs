//! What came of an import.

use engine::import::ImportSummary;

/// The sums over an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// Certificates in the input.
    pub processed: u64,
    /// Certificates that were not here.
    pub new: u64,
    /// Certificates that brought something.
    pub changed: u64,
    /// Certificates that brought nothing.
    pub unchanged: u64,
    /// Certificates that could not be read, or have no user ID that anything vouches for.
    pub refused: u64,
    /// Secret keys that were not here.
    pub secret_keys: u64,
    /// The entry of the journal, if anything was written.
    pub entry: Option<i64>,
}

impl Imported {
    pub(crate) fn of(summary: &ImportSummary) -> Self {
        Self {
            processed: summary.processed,
            new: summary.imported,
            changed: summary.changed + summary.revocations,
            unchanged: summary.unchanged,
            refused: summary.refused + summary.without_user_id,
            secret_keys: summary.secret_imported,
            entry: summary.journal.map(|entry| entry.0),
        }
    }
}
