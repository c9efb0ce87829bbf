//! Revoking a certificate or a subkey.

use cert::Fingerprint;
use cert::facts::{RevocationReason, SignatureType};
use cert::signed::Subject;
use sign::Subpacket;

use super::change::Change;
use super::{EditRefusal, Edited, Editor};
use crate::Result;

/// The outcome of a revocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revoked {
    /// It was revoked before.
    Already,
    /// It is revoked now.
    Now {
        /// What was written.
        edited: Edited,
        /// By how many seconds the creation time of the revoked key is ahead of the clock, if it is.
        ahead: Option<u32>,
    },
}

impl Editor<'_> {
    /// Revokes a certificate, or one of its subkeys. It cannot be undone once others have the revocation.
    ///
    /// # Errors
    ///
    /// [`EditRefusal::NoSubkey`]; those of signing and of the database.
    pub fn revoke(
        &mut self,
        primary: &Fingerprint,
        subkey: Option<&Fingerprint>,
        reason: RevocationReason,
    ) -> Result<Revoked> {
        let target = self.target(primary)?;
        let mut change = Change::new(&target);
        let (kind, subject) = match subkey {
            None if target.effective.primary().revoked.is_some() => return Ok(Revoked::Already),
            None => (SignatureType::KEY_REVOCATION, Subject::Primary),
            Some(wanted) => {
                let found = target.subkeys().find(|subkey| subkey.facts.fingerprint == *wanted);
                let found = found.ok_or(EditRefusal::NoSubkey { key: *wanted })?;
                if found.state.revoked.is_some() {
                    return Ok(Revoked::Already);
                }
                change.known(found.index);
                let key = target.key(target.component(found.index))?;
                (SignatureType::SUBKEY_REVOCATION, Subject::Subkey(key))
            }
        };
        let mut signer = self.open(primary)?;
        let builder = self.new_signature(&target, kind, self.now)?.with(Subpacket::RevocationReason(reason));
        change.signed(&self.sign_own(builder, &target, subject, signer.as_mut())?);
        Ok(Revoked::Now { edited: self.write(change)?, ahead: None })
    }
}
