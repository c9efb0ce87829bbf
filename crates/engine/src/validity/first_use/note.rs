//! Noting that bindings are used.

use cert::Timestamp;
use store::Store;
use store::tofu::Binding;

use crate::retry::transact;
use crate::{Error, Result};

/// Stores that these bindings are used from now on, in this order.
///
/// A database that cannot be written to forgets it, so that whoever may only read can list keys; messages are not
/// [remembered](crate::verification::remember()) there either.
///
/// # Errors
///
/// The database's other errors; then nothing was stored.
pub(super) fn note(store: &dyn Store, bindings: &[Binding], now: Timestamp) -> Result<()> {
    use store::Error::{Full, Refused, Server, SnapshotHeld, Unwritable};
    if bindings.is_empty() {
        return Ok(());
    }
    let noted = transact(store, "first use", now, |transaction| {
        bindings.iter().try_for_each(|binding| Ok(transaction.note_use(binding)?))
    });
    match noted {
        Err(Error::Store(
            Full { .. } | Refused { .. } | Server { .. } | SnapshotHeld { .. } | Unwritable { .. },
        )) => Ok(()),
        noted => noted,
    }
}
