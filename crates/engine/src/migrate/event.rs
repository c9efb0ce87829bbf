//! What a migration reports.

use store::JournalId;

use super::differing::Differing;
use super::source::MigrationSource;

/// Something that happened during a migration.
#[derive(Debug)]
pub enum MigrateEvent<'a> {
    /// A source is about to be read.
    Source(&'a MigrationSource),
    /// Something in the source that cannot be read.
    Unreadable {
        /// The source.
        source: &'a MigrationSource,
        /// What is wrong, and where.
        reason: String,
    },
    /// So many certificates were read so far.
    Progress {
        /// Certificates, over all sources.
        done: u64,
    },
    /// A decision here that differs from that in a source, and stays.
    Kept(&'a Differing),
}

/// The sums over a migration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MigrateSummary {
    /// Certificates that were read.
    pub read: u64,
    /// Not here before.
    pub new: u64,
    /// Here before, with less.
    pub changed: u64,
    /// Here before.
    pub unchanged: u64,
    /// Addresses that came with keys, and what is remembered of them.
    pub bindings: u64,
    /// Keys whose owner trust was read; a key that has one here keeps it.
    pub owner_trusts: u64,
    /// Keys that keep another owner trust.
    pub kept_owner_trusts: u64,
    /// Addresses with keys that keep another policy.
    pub kept_policies: u64,
    /// Pieces that could not be read.
    pub unreadable: u64,
    /// X.509 certificates, which have no place here.
    pub x509: u64,
    /// The journal entry, if anything was written.
    pub journal: Option<JournalId>,
}
