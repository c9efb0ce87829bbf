//! The editor: reads certificates and unlocks keys for all edits.

use cert::key::Key;
use cert::{Fingerprint, Timestamp};
use secret::{Ask, Name, OpenKey, SecretKeys};
use store::{JournalId, Store};
use verify::HashAlgorithm;

use super::draft::Draft;
use super::refusal::EditRefusal;
use super::target::Target;
use crate::{Result, stored};

/// What an edit did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edited {
    /// Signatures that were made.
    pub signatures: usize,
    /// The journal's entry; `None` if there was nothing to write.
    pub journal: Option<JournalId>,
}

/// Edits certificates with the secret keys that are here.
pub struct Editor<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) secrets: &'a dyn SecretKeys,
    pub(super) ask: &'a mut dyn Ask,
    pub(super) command: String,
    pub(super) now: Timestamp,
    pub(super) digest: Option<HashAlgorithm>,
    pub(super) default_digest: fn(&Key<'_>) -> HashAlgorithm,
    pub(super) draft: Option<&'a mut Draft>,
}

impl<'a> Editor<'a> {
    /// Returns an editor; `command` is the command line, for the journal.
    pub fn new(
        store: &'a dyn Store,
        secrets: &'a dyn SecretKeys,
        ask: &'a mut dyn Ask,
        command: String,
        now: Timestamp,
    ) -> Self {
        Self { store, secrets, ask, command, now, digest: None, default_digest: sign::hash_for, draft: None }
    }

    /// Makes all signatures with one hash algorithm, instead of the one that suits each key.
    pub fn with_digest(self, digest: Option<HashAlgorithm>) -> Self {
        Self { digest, ..self }
    }

    /// Makes signatures with the hash algorithm that this function returns for a key, where no other is asked for.
    pub fn with_default_digest(self, default_digest: fn(&Key<'_>) -> HashAlgorithm) -> Self {
        Self { default_digest, ..self }
    }

    /// Changes a draft instead of the database, where the certificate is that of the draft.
    pub fn with_draft(self, draft: &'a mut Draft) -> Self {
        Self { draft: Some(draft), ..self }
    }

    /// Returns the hash algorithm that a key signs with.
    pub(super) fn hash(&self, key: &Key<'_>) -> HashAlgorithm {
        self.digest.unwrap_or_else(|| (self.default_digest)(key))
    }

    /// Reads the certificate with a primary key.
    ///
    /// # Errors
    ///
    /// [`EditRefusal::NoCertificate`], and the database's errors.
    pub fn target(&self, primary: &Fingerprint) -> Result<Target> {
        let snapshot = self.store.snapshot()?;
        if let Some(draft) = self.draft.as_deref().filter(|draft| draft.fingerprint() == *primary) {
            return Target::new(draft.certificate().clone(), snapshot.as_ref(), self.now);
        }
        let mut found = stored::read(snapshot.as_ref(), &[*primary])?;
        let stored = found.remove(primary).ok_or(EditRefusal::NoCertificate { key: *primary })?;
        Target::new(stored.certificate, snapshot.as_ref(), self.now)
    }

    /// Reads a certificate that its owner changes. A revoked one cannot be changed.
    pub(super) fn own(&self, primary: &Fingerprint) -> Result<Target> {
        let target = self.target(primary)?;
        match target.effective.primary().revoked {
            Some(_) => Err(EditRefusal::Revoked { key: *primary }.into()),
            None => Ok(target),
        }
    }

    /// Unlocks a key, asking for its passphrase where it has one.
    pub(super) fn open(&mut self, key: &Fingerprint) -> Result<Box<dyn OpenKey>> {
        let name = Name::Fingerprint(*key);
        match self.secrets.find(&name)? {
            Some(stored) if stored.protection.has_secret() => Ok(self.secrets.open(&name, self.ask)?),
            _ => Err(EditRefusal::NoSecretKey { key: *key }.into()),
        }
    }
}
