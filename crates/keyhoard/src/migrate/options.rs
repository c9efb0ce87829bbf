//! The options of a migration.

/// The options of a migration.
#[derive(Clone, Debug, Default)]
pub struct MigrateOptions {
    /// The command line, for the journal.
    pub command: String,
    /// Writes nothing.
    pub dry_run: bool,
}
