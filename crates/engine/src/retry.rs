//! Retrying what failed because others were writing or the server was not reachable.

use store::{Store, Timestamp, Transaction};

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

/// Writes in one transaction, which is retried if it [failed for the moment](retry_transient). If nothing changes, the
/// journal gets no entry.
pub(crate) fn transact<T>(
    store: &dyn Store,
    command: &str,
    now: Timestamp,
    mut write: impl FnMut(&mut dyn Transaction) -> Result<T>,
) -> Result<T> {
    retry_transient(|| {
        let mut transaction = store.begin(command, None, now)?;
        let written = write(transaction.as_mut())?;
        transaction.finish_journal_if_changed()?;
        transaction.commit()?;
        Ok(written)
    })
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
