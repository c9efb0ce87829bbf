//! Doing again what failed because others were in the way or the server went away.

use crate::{Error, Result};

/// Repeats what [failed for the moment](store::Error::is_transient). Each attempt begins a transaction, or a view, of its
/// own, so that one that failed has left nothing behind.
pub(crate) fn again<T>(attempt: impl FnMut() -> Result<T>) -> Result<T> {
    store::again::until_done(attempt, |error| matches!(error, Error::Store(error) if error.is_transient()))
}
