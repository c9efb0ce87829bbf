//! Delete: certificates and everything that is known about them go.

use std::ops::ControlFlow;
use std::path::PathBuf;

use store::{CertId, Detail, Fingerprint, JournalId, Removal, Selection, Snapshot, Store, Timestamp};

use crate::Result;
use crate::secret_keys::SecretKeys;

/// A certificate that is about to be deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its number.
    pub id: CertId,
    /// Its primary key.
    pub fingerprint: Fingerprint,
    /// Its first user ID.
    pub name: Option<Vec<u8>>,
    /// The file of a secret key that belongs to it.
    pub secret_key: Option<PathBuf>,
}

/// Says what would be deleted, and where a secret key would be left without its certificate.
///
/// # Errors
///
/// The database's errors.
pub fn candidates(
    snapshot: &dyn Snapshot,
    ids: &[CertId],
    secret_keys: &SecretKeys,
) -> Result<Vec<Candidate>> {
    let mut candidates = Vec::with_capacity(ids.len());
    snapshot.visit(Selection::Ids(ids), Detail::Own, &mut |record| {
        if let Some(facts) = &record.facts {
            candidates.push(Candidate {
                id: record.id,
                fingerprint: record.fingerprint,
                name: facts.user_ids().next().map(<[u8]>::to_vec),
                secret_key: secret_keys.of(facts),
            });
        }
        ControlFlow::Continue(())
    })?;
    Ok(candidates)
}

/// Deletes certificates in one transaction: their packets and facts, the owner trust in their keys, and the memory of
/// the inputs that led to them.
///
/// `command` is what the journal says about it. After [`Removal::Purge`] nobody can undo it, and what earlier entries
/// of the journal hold of the certificates is gone as well.
///
/// # Errors
///
/// The database's errors; then nothing was deleted.
pub fn delete(
    store: &dyn Store,
    ids: &[CertId],
    removal: Removal,
    command: &str,
    now: Timestamp,
) -> Result<JournalId> {
    let mut transaction = store.begin(command, None, now)?;
    transaction.remove(ids, removal)?;
    transaction.finish_journal()?;
    let journal = transaction.journal();
    transaction.commit()?;
    Ok(journal)
}
