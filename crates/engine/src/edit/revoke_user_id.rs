//! Revoking a user ID.

use cert::facts::{RevocationReason, SignatureType};
use cert::{Fingerprint, Timestamp};
use sign::Subpacket;

use super::change::Change;
use super::revoke::Revoked;
use super::target::Found;
use super::{CertifiedIdentity, EditRefusal, Editor};
use crate::Result;

impl Editor<'_> {
    /// Revokes a user ID.
    ///
    /// The revocation is newer than the self-signature that it revokes, even if the clock is earlier.
    ///
    /// # Errors
    ///
    /// [`EditRefusal::NoUserId`], and [`EditRefusal::LastUserId`] for the only one that is still valid; those of
    /// signing and of the database.
    pub fn revoke_user_id(
        &mut self,
        primary: &Fingerprint,
        user_id: &[u8],
        reason: RevocationReason,
    ) -> Result<Revoked> {
        let target = self.target(primary)?;
        target.user_id(user_id)?;
        self.revoke_identity(primary, &CertifiedIdentity::UserId(user_id.to_vec()), reason)
    }

    /// Revokes a user ID or an attribute, as [`Editor::revoke_user_id`] does.
    ///
    /// # Errors
    ///
    /// [`EditRefusal::NoUserId`], and [`EditRefusal::LastUserId`] for the only one that is still valid; those of
    /// signing and of the database.
    pub fn revoke_identity(
        &mut self,
        primary: &Fingerprint,
        identity: &CertifiedIdentity,
        reason: RevocationReason,
    ) -> Result<Revoked> {
        let target = self.target(primary)?;
        let name = || identity.user_id().unwrap_or_default().to_vec();
        let found = target.identities().find(|found| found.identity == *identity);
        let found = found.ok_or_else(|| EditRefusal::NoUserId { user_id: name() })?;
        if found.state.revoked {
            return Ok(Revoked::Already);
        }
        let holds = |found: &Found<'_>| !found.state.revoked && !found.state.expired;
        if holds(&found) && target.identities().filter(holds).count() == 1 {
            return Err(EditRefusal::LastUserId { user_id: name() }.into());
        }
        let ahead = found.state.created.filter(|&created| created >= self.now);
        let created = ahead.map_or(self.now, |created| Timestamp(created.0.saturating_add(1)));
        let mut signer = self.open(primary)?;
        let builder = self
            .new_signature(&target, SignatureType::CERTIFICATION_REVOCATION, created)?
            .with(Subpacket::RevocationReason(reason));
        let packet = self.sign_own(builder, &target, target.subject(&found)?, signer.as_mut())?;
        let mut change = Change::new(&target);
        change.known(found.index);
        change.signed(&packet);
        let edited = self.write(change)?;
        Ok(Revoked::Now { edited, ahead: ahead.map(|created| created.0 - self.now.0) })
    }
}
