//! What a migration may be told.

/// What a migration may be told.
#[derive(Clone, Debug, Default)]
pub struct MigrateOptions {
    /// The command line, for the journal.
    pub command: String,
    /// Writes nothing.
    pub dry_run: bool,
}
