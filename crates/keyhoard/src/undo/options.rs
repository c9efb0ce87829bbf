//! The options of an undo.

/// The options of an undo.
#[derive(Clone, Debug, Default)]
pub struct UndoOptions {
    /// The command line, for the journal.
    pub command: String,
    /// Undoes even what a later import brought as well, and owner trust and policies that were set again since.
    pub force: bool,
    /// Undoes verified revocations and shortened expiry dates as well.
    pub including_revocations: bool,
    /// Writes nothing.
    pub dry_run: bool,
}
