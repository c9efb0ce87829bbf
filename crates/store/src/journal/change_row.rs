//! The rows of the journal's changes, which are the same in every engine.

use super::{ChangeKind, FormerCertificate};
use crate::packed::{pack_binding_change, unpack_binding_change};
use crate::tofu::BindingChange;
use crate::{AssignedTrust, CertId};

/// The numbers of the kinds of change.
const ADDED: u8 = 0;
pub(crate) const MERGED: u8 = 1;
pub(crate) const SHRUNK: u8 = 2;
pub(crate) const REMOVED: u8 = 3;
/// From this number on a change is not about the certificate, but about what the user says of it.
pub(crate) const OWNER_TRUST: u8 = 4;
const BINDING: u8 = 5;

/// A change as it is written.
pub(crate) enum NewChange<'a> {
    Added,
    /// The digests of the packets; of a certificate that gets another origin, its origin is copied from its row.
    Merged(&'a [[u8; 32]], Option<CertId>),
    /// From here on what the certificate was before is copied from its rows, which must still be there.
    Shrunk(CertId),
    Removed(CertId),
    Purged,
    /// What it was and what it becomes, 0 for none; then which of them an option gave (1 and 2).
    OwnerTrust([u8; 3]),
    /// A change to a binding, packed.
    Binding(Vec<u8>),
}

/// Certificates that an entry added, merged into, and removed or shrunk.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts(pub(crate) [i64; 3]);

impl NewChange<'_> {
    /// Makes a change of owner trust.
    pub(crate) fn owner_trust(before: Option<AssignedTrust>, after: Option<AssignedTrust>) -> Self {
        let [old, new] = [before, after].map(|trust| trust.map_or(0, AssignedTrust::number));
        let [was, is] = [before, after].map(|trust| trust.is_some_and(AssignedTrust::is_by_option));
        Self::OwnerTrust([old, new, u8::from(was) | u8::from(is) << 1])
    }

    /// Makes a change to a binding.
    pub(crate) fn binding(change: &BindingChange) -> Self {
        Self::Binding(pack_binding_change(change))
    }

    /// Returns the number of its kind.
    pub(crate) fn kind(&self) -> u8 {
        match self {
            Self::Added => ADDED,
            Self::Merged(..) => MERGED,
            Self::Shrunk(_) => SHRUNK,
            Self::Removed(_) | Self::Purged => REMOVED,
            Self::OwnerTrust(_) => OWNER_TRUST,
            Self::Binding(_) => BINDING,
        }
    }

    /// Returns the digests of the packets that were added, the numbers of owner trust, or what became of a binding.
    pub(crate) fn added(&self) -> Option<&[u8]> {
        match self {
            Self::Merged(added, _) => Some(added.as_flattened()),
            Self::OwnerTrust([numbers @ .., 0]) => Some(numbers),
            Self::OwnerTrust(numbers) => Some(numbers),
            Self::Binding(change) => Some(change),
            _ => None,
        }
    }

    /// Returns the certificate whose former state is to be kept, and whether that includes its packets.
    pub(crate) fn former(&self) -> Option<(CertId, bool)> {
        match self {
            Self::Shrunk(id) | Self::Removed(id) => Some((*id, true)),
            Self::Merged(_, Some(id)) => Some((*id, false)),
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

/// Reads a change with what the certificate was before, if that is kept; `None` if nobody wrote it this way.
pub(crate) fn read(kind: u8, added: Option<&[u8]>, former: Option<FormerCertificate>) -> Option<ChangeKind> {
    Some(match kind {
        ADDED => ChangeKind::Added,
        MERGED => ChangeKind::Merged {
            added: added.unwrap_or_default().as_chunks().0.to_vec(),
            former_origin: former.map(|former| former.origin),
        },
        SHRUNK => ChangeKind::Shrunk(former),
        OWNER_TRUST => {
            // Of one that was purged nothing is known.
            let by_option = added.and_then(|added| added.get(2)).copied().unwrap_or(0);
            let trust =
                |index: usize| AssignedTrust::stored(*added?.get(index)?, by_option >> index & 1 == 1);
            ChangeKind::OwnerTrust { before: trust(0), after: trust(1) }
        }
        BINDING => {
            let change = added.map(unpack_binding_change).transpose().ok()?;
            ChangeKind::Binding(change.map(Box::new))
        }
        _ => ChangeKind::Removed(former),
    })
}
