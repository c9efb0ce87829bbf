//! Taking back certifications of others' user IDs.

use cert::Fingerprint;
use cert::facts::{SignatureFacts, SignatureType};
use cert::signed::Subject;
use sign::{Builder, Subpacket};

use super::change::Change;
use super::target::UserId;
use super::{Edited, Editor, Reason, Target};
use crate::Result;

/// What became of certifications that were to be revoked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Withdrawn {
    /// The user IDs whose certification is revoked now.
    pub user_ids: Vec<Vec<u8>>,
    /// Revocations that were there already.
    pub already: Vec<SignatureFacts>,
    /// What was written.
    pub edited: Edited,
}

impl Editor<'_> {
    /// Revokes the certifications that one key made on another's user IDs, or on those that `chosen` wants.
    ///
    /// What that key never certified is passed over. The revocation of a local certification is local too.
    ///
    /// # Errors
    ///
    /// Those of signing and of the database.
    pub fn revoke_certification(
        &mut self,
        primary: &Fingerprint,
        by: &Fingerprint,
        chosen: &dyn Fn(&[u8]) -> bool,
        reason: Reason,
    ) -> Result<Withdrawn> {
        let target = self.target(primary)?;
        let mut withdrawn = Withdrawn::default();
        let mut standing = Vec::new();
        for found in target.user_ids().filter(|found| chosen(found.value)) {
            match newest(&target, &found, by) {
                Some(signature) if signature.kind.revokes() => withdrawn.already.push(signature.clone()),
                Some(signature) => standing.push((found, signature)),
                None => {}
            }
        }
        if standing.is_empty() {
            return Ok(withdrawn);
        }
        let mut signer = self.certifier(by)?;
        let hash = self.certification_hash(signer.as_ref());
        let mut change = Change::new(&target);
        for (found, certification) in standing {
            let created = self.later_than(&target, certification.created)?;
            let mut builder = Builder::new(SignatureType::CERTIFICATION_REVOCATION, hash, created);
            if !certification.flags.exportable {
                builder = builder.with(Subpacket::Exportable(false));
            }
            let unsigned = builder
                .with(Subpacket::RevocationReason(reason.clone().into()))
                .over(target.primary()?, Subject::UserId(found.value));
            change.known(found.index);
            change.signed(&unsigned.by(signer.as_mut())?);
            withdrawn.user_ids.push(found.value.to_vec());
        }
        withdrawn.edited = self.write(change)?;
        Ok(withdrawn)
    }
}

/// Returns the newest certification of a user ID by a key, or its revocation; no self-signature.
fn newest<'t>(target: &'t Target, found: &UserId<'_>, by: &Fingerprint) -> Option<&'t SignatureFacts> {
    if target.fingerprint() == *by {
        return None;
    }
    let signatures = target.component(found.index).signatures.iter();
    signatures
        .filter(|signature| signature.issuer.may_be(by) && signature.kind.is_over_user())
        .max_by_key(|signature| (signature.created, signature.kind.revokes()))
}
