//! What an undo may be told.

/// What an undo may be told.
#[derive(Clone, Debug, Default)]
pub struct UndoOptions {
    /// The command line, for the journal.
    pub command: String,
    /// Takes back even what a later import brought as well, and owner trust and policies that were given anew since.
    pub force: bool,
    /// Takes back verified revocations and shortened expiry dates as well.
    pub including_revocations: bool,
    /// Writes nothing.
    pub dry_run: bool,
}
