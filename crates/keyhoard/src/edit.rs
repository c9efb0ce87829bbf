//! The life of a key: what its owner changes about it, and what others certify.
//!
//! An [`Editor`] reads a certificate, has the signatures made that a change takes, and hands them to an
//! [`import`](crate::import): the changed certificate goes through the same merge and under the same journal as one that
//! somebody sent, so that `undo` takes an edit back like an import. Nothing is written unless everything was signed.
//!
//! One file per action: [`Editor::add_user_id`], [`Editor::revoke_user_id`], [`Editor::set_primary_user_id`],
//! [`Editor::add_subkey`], [`Editor::set_expiry`], [`Editor::certify`], [`Editor::revoke_certification`],
//! [`Editor::revoke`] and [`Editor::revocation_certificate`].

mod add_subkey;
mod add_user_id;
mod certify;
mod change;
mod expiry;
mod primary_user_id;
mod refusal;
mod revocation_certificate;
mod revoke;
mod revoke_certification;
mod revoke_user_id;
mod self_signature;
mod target;

use cert::facts::RevocationReason;
use cert::key::Key;
use cert::{Fingerprint, Timestamp};
use secret::{Ask, Name, OpenKey, SecretKeys};
use store::{JournalId, Store};
use verify::HashAlgorithm;

use crate::{Result, stored};

pub use add_subkey::NewSubkey;
pub use add_user_id::can_be_user_id;
pub use certify::{
    Certification, CertificationLevel, CertificationObstacle, CertificationSubpacket, PlannedCertification,
    Recertify,
};
pub use expiry::ExpiryTarget;
pub use refusal::EditRefusal;
pub use revocation_certificate::armored;
pub use revoke::Revoked;
pub use revoke_certification::RevokedCertifications;
pub use target::{CertifiedIdentity, Subkey, Target, UserId};

/// What an edit did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edited {
    /// Signatures that were made.
    pub signatures: usize,
    /// The journal's entry; `None` if there was nothing to write.
    pub journal: Option<JournalId>,
}

/// Makes changes to certificates with the secret keys at hand.
pub struct Editor<'a> {
    store: &'a dyn Store,
    secrets: &'a dyn SecretKeys,
    ask: &'a mut dyn Ask,
    command: String,
    now: Timestamp,
    digest: Option<HashAlgorithm>,
}

impl<'a> Editor<'a> {
    /// Begins; `command` is the command line, for the journal.
    pub fn new(
        store: &'a dyn Store,
        secrets: &'a dyn SecretKeys,
        ask: &'a mut dyn Ask,
        command: String,
        now: Timestamp,
    ) -> Self {
        Self { store, secrets, ask, command, now, digest: None }
    }

    /// Lets all signatures be made with a digest, instead of with the one that fits each key.
    pub fn with_digest(self, digest: Option<HashAlgorithm>) -> Self {
        Self { digest, ..self }
    }

    /// Returns the digest that a key signs with.
    fn hash(&self, key: &Key<'_>) -> HashAlgorithm {
        self.digest.unwrap_or_else(|| sign::hash_for(key))
    }

    /// Reads the certificate with a primary key, as it stands now.
    ///
    /// # Errors
    ///
    /// [`EditRefusal::NoCertificate`], and the database's errors.
    pub fn target(&self, primary: &Fingerprint) -> Result<Target> {
        let snapshot = self.store.snapshot()?;
        let mut found = stored::read(snapshot.as_ref(), &[*primary])?;
        let stored = found.remove(primary).ok_or(EditRefusal::NoCertificate { key: *primary })?;
        Target::new(stored.certificate, snapshot.as_ref(), self.now)
    }

    /// Reads a certificate that its owner changes; a key that was revoked is not changed any more.
    fn own(&self, primary: &Fingerprint) -> Result<Target> {
        let target = self.target(primary)?;
        target.refuse_if_revoked()?;
        Ok(target)
    }

    /// Unlocks a key, asking for its passphrase where it has one.
    fn open(&mut self, key: &Fingerprint) -> Result<Box<dyn OpenKey>> {
        let name = Name::Fingerprint(*key);
        match self.secrets.find(&name)? {
            Some(held) if held.protection.has_secret() => Ok(self.secrets.open(&name, self.ask)?),
            _ => Err(EditRefusal::NoSecretKey { key: *key }.into()),
        }
    }
}

/// Why something is revoked (RFC 9580, 5.2.3.31).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The code.
    pub code: ReasonCode,
    /// A remark, in UTF-8.
    pub comment: String,
}

/// The codes of reasons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReasonCode {
    /// Not said.
    #[default]
    Unspecified,
    /// Another key has taken the place of this one.
    Superseded,
    /// The secret key is in others' hands.
    Compromised,
    /// The key is used no more.
    Retired,
    /// The user ID is not valid any more.
    UserIdInvalid,
}

impl Reason {
    /// Returns a reason without a remark.
    pub fn of(code: ReasonCode) -> Self {
        Self { code, comment: String::new() }
    }
}

impl From<Reason> for RevocationReason {
    fn from(reason: Reason) -> Self {
        let code = match reason.code {
            ReasonCode::Unspecified => 0,
            ReasonCode::Superseded => 1,
            ReasonCode::Compromised => 2,
            ReasonCode::Retired => 3,
            ReasonCode::UserIdInvalid => 32,
        };
        Self { code, comment: reason.comment.into_bytes() }
    }
}
