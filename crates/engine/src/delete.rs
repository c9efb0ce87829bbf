//! Deleting certificates with everything that is known about them.

use std::ops::ControlFlow;
use std::path::PathBuf;

use cert::certificate::Retained;
use cert::facts::ComponentKind;
use store::{
    CertId, Detail, Fingerprint, JournalId, Prepared, Put, PutKind, PutOutcome, ReadCertificates, Removal,
    Selection, Store, Timestamp, Transaction,
};

use crate::retry::retry_transient;
use crate::secret_keys::SecretKeys;
use crate::{Result, stored};

/// A certificate that is about to be deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletionCandidate {
    /// Its number.
    pub id: CertId,
    /// Its primary key.
    pub fingerprint: Fingerprint,
    /// Its first user ID.
    pub name: Option<Vec<u8>>,
    /// The file of a secret key that belongs to it.
    pub secret_key: Option<PathBuf>,
}

/// Returns what would be deleted, and which secret keys would be left without their certificate.
///
/// # Errors
///
/// The database's errors.
pub fn candidates(
    snapshot: &dyn ReadCertificates,
    ids: &[CertId],
    secret_keys: &SecretKeys,
) -> Result<Vec<DeletionCandidate>> {
    let mut candidates = Vec::with_capacity(ids.len());
    snapshot.visit(Selection::Ids(ids), Detail::Own, &mut |record| {
        if let Some(facts) = &record.facts {
            candidates.push(DeletionCandidate {
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

/// Deletes certificates in one transaction: their packets and facts, the owner trust in their keys, and the digests of
/// their inputs. It can be undone.
///
/// `command` is what the journal says about it.
///
/// # Errors
///
/// The database's errors; then nothing was deleted.
pub fn delete(store: &dyn Store, ids: &[CertId], command: &str, now: Timestamp) -> Result<JournalId> {
    retry_transient(|| {
        let mut transaction = store.begin(command, None, now)?;
        transaction.remove(ids, Removal::Undoable)?;
        finish(transaction)
    })
}

/// What came of a [`purge`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purge {
    /// Everything was deleted, under this entry of the journal.
    Done(JournalId),
    /// Nothing was deleted, since nothing is known of these keys.
    Unknown(Vec<Fingerprint>),
}

/// Deletes certificates in one transaction that cannot be undone; what the journal holds of them is deleted as well.
/// `removed` are the primary keys of certificates that were deleted earlier and are only in the journal.
///
/// # Errors
///
/// The database's errors; then nothing was deleted, except for [`store::Error::NotOverwritten`]: then it was deleted,
/// and another purge overwrites the old pages.
pub fn purge(
    store: &dyn Store,
    ids: &[CertId],
    removed: &[Fingerprint],
    command: &str,
    now: Timestamp,
) -> Result<Purge> {
    retry_transient(|| {
        let mut transaction = store.begin(command, None, now)?;
        transaction.remove(ids, Removal::Purge)?;
        let mut unknown = Vec::new();
        for primary in removed {
            if !transaction.purge_removed(primary)? {
                unknown.push(*primary);
            }
        }
        if !unknown.is_empty() {
            return Ok(Purge::Unknown(unknown));
        }
        finish(transaction).map(Purge::Done)
    })
}

fn finish(mut transaction: Box<dyn Transaction + '_>) -> Result<JournalId> {
    transaction.finish_journal()?;
    let journal = transaction.journal();
    transaction.commit()?;
    Ok(journal)
}

/// Removes one subkey with its signatures from a certificate; `None` if the certificate has no such subkey any more.
///
/// The certificate's inputs are forgotten, so that importing them again brings the subkey back.
///
/// # Errors
///
/// The database's errors; then nothing was changed.
pub fn delete_subkey(
    store: &dyn Store,
    id: CertId,
    subkey: &Fingerprint,
    command: &str,
    now: Timestamp,
) -> Result<Option<JournalId>> {
    retry_transient(|| {
        let mut transaction = store.begin(command, None, now)?;
        let Some(stored) = stored::read_one(transaction.snapshot()?, id)? else { return Ok(None) };
        let stored::Stored { generation, certificate: known, .. } = stored;
        let is_subkey =
            |kind: &ComponentKind| matches!(kind, ComponentKind::Key(key) if key.fingerprint == *subkey);
        let left = known
            .retain(|packet| !matches!(packet, Retained::Component(component) if is_subkey(&component.kind)));
        if left.bytes.len() == known.bytes.len() {
            return Ok(None);
        }
        let kind = PutKind::Shrunk { id, generation };
        let certificate = Prepared::new(left);
        let outcomes =
            transaction.put(&[Put { certificate: &certificate, kind, inputs: &[], origin: None }])?;
        debug_assert!(!outcomes.contains(&PutOutcome::Conflict), "it was read under the same lock");
        finish(transaction).map(Some)
    })
}
