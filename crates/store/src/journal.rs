//! The journal: what each command changed, and what its rows say, whichever engine keeps them.

use cert::{Fingerprint, Origin, Timestamp};

use crate::tofu::BindingChange;
use crate::{CertId, Error, Result, packed};

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
    /// Packets were added; these digests name them (see [`cert::merge::Merged::added_packets`]).
    Merged(Vec<[u8; 32]>),
    /// Packets were taken from it; this is what it was before, unless that was purged.
    Shrunk(Option<FormerCertificate>),
    /// It was removed; this is what it was before, unless that was purged.
    Removed(Option<FormerCertificate>),
    /// Its owner trust changed, as GnuPG numbers it; without a number there is none.
    OwnerTrust {
        /// What it was.
        before: Option<u8>,
        /// What it became.
        after: Option<u8>,
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

/// The numbers of the kinds of change.
const ADDED: u8 = 0;
pub(crate) const MERGED: u8 = 1;
pub(crate) const SHRUNK: u8 = 2;
const REMOVED: u8 = 3;
/// From this number on a change is not about the certificate, but about what the user says of it.
pub(crate) const OWNER_TRUST: u8 = 4;
const BINDING: u8 = 5;

/// A change as it is written.
pub(crate) enum NewChange<'a> {
    Added,
    Merged(&'a [[u8; 32]]),
    /// From here on what the certificate was before is copied from its rows, which must still be there.
    Shrunk(CertId),
    Removed(CertId),
    Purged,
    /// What it was and what it becomes, 0 for none.
    OwnerTrust([u8; 2]),
    /// A change to a binding, packed.
    Binding(Vec<u8>),
}

/// Certificates that an entry added, merged into, and removed or shrunk.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts(pub(crate) [i64; 3]);

impl NewChange<'_> {
    /// Makes a change of owner trust.
    pub(crate) fn owner_trust(before: Option<u8>, after: Option<u8>) -> Self {
        Self::OwnerTrust([before, after].map(Option::unwrap_or_default))
    }

    /// Makes a change to a binding.
    pub(crate) fn binding(change: &BindingChange) -> Self {
        Self::Binding(packed::pack_binding_change(change))
    }

    /// Returns the number of its kind.
    pub(crate) fn kind(&self) -> u8 {
        match self {
            Self::Added => ADDED,
            Self::Merged(_) => MERGED,
            Self::Shrunk(_) => SHRUNK,
            Self::Removed(_) | Self::Purged => REMOVED,
            Self::OwnerTrust(_) => OWNER_TRUST,
            Self::Binding(_) => BINDING,
        }
    }

    /// Returns the digests of the packets that were added, the numbers of owner trust, or what became of a binding.
    pub(crate) fn added(&self) -> Option<&[u8]> {
        match self {
            Self::Merged(added) => Some(added.as_flattened()),
            Self::OwnerTrust(numbers) => Some(numbers),
            Self::Binding(change) => Some(change),
            _ => None,
        }
    }

    /// Returns the certificate whose former state is to be kept.
    pub(crate) fn former(&self) -> Option<CertId> {
        match self {
            Self::Shrunk(id) | Self::Removed(id) => Some(*id),
            _ => None,
        }
    }
}

impl Counts {
    pub(crate) fn count(&mut self, change: &NewChange<'_>) {
        if change.kind() < OWNER_TRUST {
            self.0[usize::from(change.kind().min(SHRUNK))] += 1;
        }
    }
}

/// Reads a change; `former` finds what the certificate was before, if anything is kept of that, `corrupt` names the
/// entry.
pub(crate) fn read(
    kind: u8,
    added: Option<&[u8]>,
    former: impl FnOnce() -> Result<Option<FormerCertificate>>,
    corrupt: impl FnOnce() -> Error,
) -> Result<ChangeKind> {
    Ok(match kind {
        ADDED => ChangeKind::Added,
        MERGED => ChangeKind::Merged(added.unwrap_or_default().as_chunks().0.to_vec()),
        SHRUNK => ChangeKind::Shrunk(former()?),
        OWNER_TRUST => {
            // Of one that was purged nothing is known.
            let number = |place: usize| added?.get(place).copied().filter(|number| *number != 0);
            ChangeKind::OwnerTrust { before: number(0), after: number(1) }
        }
        BINDING => {
            let change = added.map(packed::unpack_binding_change).transpose().map_err(|_| corrupt())?;
            ChangeKind::Binding(change.map(Box::new))
        }
        _ => ChangeKind::Removed(former()?),
    })
}
