//! The writing side: what every engine changes at once or not at all.

use cert::{Fingerprint, Origin, Timestamp};

use crate::{
    AssignedTrust, CertId, InputDigest, JournalId, Migration, Prepared, ReadCertificates, ReadJournal,
    ReadTrust, Result, WriteBindings,
};

/// Everything that was committed when the snapshot began, and nothing later. It lasts until it is dropped.
pub trait Snapshot: ReadCertificates + ReadJournal + ReadTrust {}

impl<T: ReadCertificates + ReadJournal + ReadTrust> Snapshot for T {}

/// The only writer, unless it was [begun beside others](crate::Store::begin_concurrent). Dropping it without
/// [`Transaction::commit`] takes everything back.
pub trait Transaction: WriteBindings + Send {
    /// Adds or replaces certificates. Index rows of the whole call are sorted before they are inserted, and those of
    /// many calls where the transaction was [begun in parts](crate::Store::begin_deferred_indexes).
    fn put(&mut self, batch: &[Put<'_>]) -> Result<Vec<PutOutcome>>;

    /// Remembers that this entry met these inputs, which led to certificates that did not change.
    fn remember_inputs(&mut self, inputs: &[(InputDigest, CertId)]) -> Result<()>;

    /// Notes where a certificate and its user IDs came from.
    fn set_origins(&mut self, id: CertId, origins: &Origins) -> Result<()>;

    /// Notes that another certificate store was taken over, or that the user was told about it.
    fn remember_migration(&mut self, migration: &Migration) -> Result<()>;

    /// Gives a key an owner trust, or takes it away. It can be given before the certificate is there.
    fn set_owner_trust(&mut self, primary: &Fingerprint, trust: Option<AssignedTrust>) -> Result<()>;

    /// What this transaction decides from now on about keys is for everybody who uses the database, not for the user's
    /// own role.
    ///
    /// # Errors
    ///
    /// [`Error::NotForEverybody`](crate::Error::NotForEverybody) where the user may not, or there are no roles.
    fn decide_for_everybody(&mut self) -> Result<()>;

    /// Takes away the owner trust of keys.
    fn forget_owner_trust(&mut self, primaries: &[Fingerprint]) -> Result<()>;

    /// Removes certificates with everything derived from them, their input digests and owner trust included.
    fn remove(&mut self, ids: &[CertId], removal: Removal) -> Result<()>;

    /// Purges what is left of a certificate that was removed earlier: what the journal holds of it, and everything
    /// else that is known of its primary key. Says whether there was anything; nothing happens to one that is here.
    fn purge_removed(&mut self, primary: &Fingerprint) -> Result<bool>;

    /// Reads what this transaction sees, its own writes included: index rows that wait to be sorted are written first.
    fn snapshot(&mut self) -> Result<&dyn Snapshot>;

    /// The journal entry this transaction writes under.
    fn journal(&self) -> JournalId;

    /// Marks the journal entry complete.
    fn finish_journal(&mut self) -> Result<()>;

    /// Marks the journal entry complete if there are changes under it, and takes it away otherwise: then there is none
    /// with the number that [`Transaction::journal`] returned.
    fn finish_journal_if_changed(&mut self) -> Result<()>;

    /// Marks an earlier entry as undone by this one; what that one had undone is in force again.
    fn mark_undone(&mut self, entry: JournalId) -> Result<()>;

    /// Makes everything durable and visible.
    fn commit(self: Box<Self>) -> Result<()>;
}

/// A certificate to be written.
#[derive(Clone, Debug)]
pub struct Put<'a> {
    /// The certificate.
    pub certificate: &'a Prepared,
    /// What this does to the database.
    pub kind: PutKind,
    /// Inputs that led to it.
    pub inputs: &'a [InputDigest],
    /// Its origin, if this write says anything about it.
    pub origin: Option<Origin>,
}

/// What writing a certificate does to the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PutKind {
    /// Adds it at the end of the order.
    New,
    /// Adds it at the end of the order, as first seen when another program had it first.
    Migrated {
        /// When that was.
        first_seen: Timestamp,
    },
    /// Adds it at the end of the order, as another database had it.
    Copied {
        /// When that one first saw it.
        first_seen: Timestamp,
        /// When its packets last changed there.
        changed: Timestamp,
    },
    /// Adds it in the place it had before it was removed.
    Restored {
        /// Its number there.
        id: CertId,
        /// When this database first saw it.
        first_seen: Timestamp,
    },
    /// Replaces it by itself and more.
    Merged {
        /// Its number.
        id: CertId,
        /// The generation that was read.
        generation: i64,
        /// The digest that names each new packet, for the journal.
        added: Vec<[u8; 32]>,
    },
    /// Replaces it by less of itself: what it was before goes to the journal, and its inputs are forgotten.
    Shrunk {
        /// Its number.
        id: CertId,
        /// The generation that was read.
        generation: i64,
    },
}

impl PutKind {
    /// Says whether it adds a certificate, not changes one.
    pub(crate) fn adds(&self) -> bool {
        !matches!(self, Self::Merged { .. } | Self::Shrunk { .. })
    }

    /// Returns when that which a write adds was first seen.
    pub(crate) fn first_seen(&self, now: Timestamp) -> Timestamp {
        match self {
            Self::Migrated { first_seen }
            | Self::Copied { first_seen, .. }
            | Self::Restored { first_seen, .. } => *first_seen,
            Self::New | Self::Merged { .. } | Self::Shrunk { .. } => now,
        }
    }

    /// Returns when that which a write adds last changed.
    pub(crate) fn changed(&self, now: Timestamp) -> Timestamp {
        if let Self::Copied { changed, .. } = self { *changed } else { now }
    }
}

/// What became of a [`Put`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutOutcome {
    /// Written.
    Done(CertId),
    /// Somebody else changed or added the certificate since it was read: read it again and merge again.
    Conflict,
}

/// Where a certificate and its user IDs came from; what is not known stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins {
    /// The certificate.
    pub certificate: Option<Origin>,
    /// User IDs.
    pub user_ids: Vec<(Vec<u8>, Origin)>,
}

/// What a removal leaves in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// What it was, so that it can be undone.
    Undoable,
    /// Nothing but the fingerprint; what earlier entries hold of it goes too.
    Purge,
}
