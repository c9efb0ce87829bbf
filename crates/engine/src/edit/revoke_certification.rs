//! Revoking certifications of others' user IDs and attributes.

use cert::Fingerprint;
use cert::facts::{RevocationReason, SignatureFacts, SignatureType};
use sign::{Builder, Subpacket};

use super::change::Change;
use super::target::Found;
use super::{CertifiedIdentity, Edited, Editor, Target};
use crate::Result;

/// The outcome of revoking certifications.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RevokedCertifications {
    /// The user IDs and attributes whose certification is revoked now.
    pub identities: Vec<CertifiedIdentity>,
    /// Revocations that were there already.
    pub already: Vec<SignatureFacts>,
    /// What was written.
    pub edited: Edited,
}

impl Editor<'_> {
    /// Revokes the certifications that one key made on those of another's user IDs and attributes that `chosen` wants.
    ///
    /// What that key never certified is skipped. The revocation of a local certification is local too.
    ///
    /// # Errors
    ///
    /// Those of signing and of the database.
    pub fn revoke_certification(
        &mut self,
        primary: &Fingerprint,
        by: &Fingerprint,
        chosen: &dyn Fn(&CertifiedIdentity) -> bool,
        reason: RevocationReason,
    ) -> Result<RevokedCertifications> {
        let target = self.target(primary)?;
        let mut withdrawn = RevokedCertifications::default();
        let mut certifications = Vec::new();
        for found in target.identities().filter(|found| chosen(&found.identity)) {
            match newest(&target, &found, by) {
                Some(signature) if signature.kind.revokes() => withdrawn.already.push(signature.clone()),
                Some(signature) => certifications.push((found, signature)),
                None => {}
            }
        }
        if certifications.is_empty() {
            return Ok(withdrawn);
        }
        let mut signer = self.certifier(by)?;
        let hash = self.certification_hash(signer.as_ref());
        let mut change = Change::new(&target);
        for (found, certification) in certifications {
            let created = self.later_than(&target, certification.created)?;
            let mut builder = Builder::new(SignatureType::CERTIFICATION_REVOCATION, hash, created);
            if !certification.flags.exportable {
                builder = builder.with(Subpacket::Exportable(false));
            }
            let unsigned = builder
                .with(Subpacket::RevocationReason(reason.clone()))
                .over(target.primary()?, target.subject(&found)?);
            change.known(found.index);
            change.signed(&unsigned.by(signer.as_mut())?);
            withdrawn.identities.push(found.identity);
        }
        withdrawn.edited = self.write(change)?;
        Ok(withdrawn)
    }
}

/// Returns the newest certification of a user ID or attribute by a key, or its revocation; no self-signature.
fn newest<'t>(target: &'t Target, found: &Found<'_>, by: &Fingerprint) -> Option<&'t SignatureFacts> {
    if target.fingerprint() == *by {
        return None;
    }
    let signatures = target.component(found.index).signatures.iter();
    signatures
        .filter(|signature| signature.issuer.may_be(by) && signature.kind.is_over_user())
        .max_by_key(|signature| (signature.created, signature.kind.revokes()))
}
