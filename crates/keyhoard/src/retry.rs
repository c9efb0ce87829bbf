//! Retrying what failed because others were writing or the server was not reachable.

use crate::{Error, Result};

/// How often to retry while others change the same certificates.
const ATTEMPTS: usize = 10;

/// Retries what [failed for the moment](store::Error::is_transient). Each attempt takes a new transaction or snapshot,
/// so that a failed one leaves nothing behind.
pub(crate) fn retry_transient<T>(attempt: impl FnMut() -> Result<T>) -> Result<T> {
    store::retry::retry_transient(
        attempt,
        |error| matches!(error, Error::Store(error) if error.is_transient()),
    )
}

/// Retries a few times what [others changed meanwhile](Error::ChangedMeanwhile). Each attempt reads the database again.
pub(crate) fn retry_changed<T>(mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    for _ in 1..ATTEMPTS {
        match attempt() {
            Err(Error::ChangedMeanwhile) => {}
            done => return done,
        }
    }
    attempt()
}
