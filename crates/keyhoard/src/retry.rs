//! Doing again what failed because others were in the way or the server went away.

use crate::{Error, Result};

/// How often something is worked out that others change each time before it is written.
const ATTEMPTS: usize = 10;

/// Repeats what [failed for the moment](store::Error::is_transient). Each attempt begins a transaction, or a view, of its
/// own, so that one that failed has left nothing behind.
pub(crate) fn retry_transient<T>(attempt: impl FnMut() -> Result<T>) -> Result<T> {
    store::retry::retry_transient(
        attempt,
        |error| matches!(error, Error::Store(error) if error.is_transient()),
    )
}

/// Repeats a few times what [others changed meanwhile](Error::ChangedMeanwhile). Each attempt looks anew at what is there.
pub(crate) fn retry_changed<T>(mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    for _ in 1..ATTEMPTS {
        match attempt() {
            Err(Error::ChangedMeanwhile) => {}
            done => return done,
        }
    }
    attempt()
}
