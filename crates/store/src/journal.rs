//! The journal: what each command changed.

pub(crate) mod change_row;
pub(crate) mod entry;

use cert::{Fingerprint, Origin, Timestamp};

use crate::tofu::BindingChange;
use crate::{AssignedTrust, CertId};

/// One command's entry in the journal; all batches of one import share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JournalId(pub i64);

/// One command that changed the database.
#[derive(Clone, Debug)]
pub struct JournalEntry {
    /// Its number.
    pub id: JournalId,
    /// When it began.
    pub time: Timestamp,
    /// What it was, for a person.
    pub command: String,
    /// Certificates added, merged into, removed.
    pub counts: [u64; 3],
    /// The entry that undid this one.
    pub undone_by: Option<JournalId>,
    /// The entry that this one undid.
    pub undoes: Option<JournalId>,
    /// False while batches are still to come, and for ever after an interruption.
    pub complete: bool,
    /// Whether there are changes under it.
    pub changed: bool,
}

impl JournalEntry {
    /// Says whether it was not undone and is no undo itself.
    pub fn is_open(&self) -> bool {
        self.undone_by.is_none() && self.undoes.is_none()
    }
}

/// One change to one certificate, or to what the user says of it.
#[derive(Clone, Debug)]
pub struct Change {
    /// The certificate.
    pub fingerprint: Fingerprint,
    /// What happened to it.
    pub kind: ChangeKind,
}

/// What happened to a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was new, or came back.
    Added,
    /// Packets were added.
    Merged {
        /// The digests that name them (see [`cert::merge::Merged::added_packets`]).
        added: Vec<[u8; 32]>,
        /// Where the certificate came from before, if this change gave it another origin.
        former_origin: Option<Origin>,
    },
    /// Packets were taken from it; this is what it was before, unless that was purged.
    Shrunk(Option<FormerCertificate>),
    /// It was removed; this is what it was before, unless that was purged.
    Removed(Option<FormerCertificate>),
    /// Its owner trust changed.
    OwnerTrust {
        /// What it was.
        before: Option<AssignedTrust>,
        /// What it became.
        after: Option<AssignedTrust>,
    },
    /// What is remembered of it with an address changed, unless that was purged.
    Binding(Option<Box<BindingChange>>),
}

/// A certificate as it was before something was taken from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormerCertificate {
    /// Its number, which no other certificate gets.
    pub id: CertId,
    /// When this database first saw it.
    pub first_seen: Timestamp,
    /// Where it came from.
    pub origin: Origin,
    /// Where its superseded signatures begin in the bytes, ascending.
    pub superseded: Vec<u32>,
    /// Its exact bytes.
    pub bytes: Vec<u8>,
}
