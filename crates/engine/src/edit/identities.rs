//! Certifying and revoking single user IDs and attributes that the user chose.

use cert::Fingerprint;
use cert::facts::{RevocationReason, SignatureType};
use sign::{Builder, Subpacket};

use super::change::Change;
use super::{Certification, CertifiedIdentity, Edited, Editor};
use crate::Result;

impl Editor<'_> {
    /// Certifies exactly these user IDs and attributes of another certificate. Whether they should be certified was
    /// decided before.
    ///
    /// # Errors
    ///
    /// Those of signing and of the database.
    pub fn certify_identities(
        &mut self,
        primary: &Fingerprint,
        identities: &[CertifiedIdentity],
        certification: &Certification,
    ) -> Result<Edited> {
        let target = self.target(primary)?;
        let mut signer = self.certifier(&certification.by)?;
        let hash = self.certification_hash(signer.as_ref());
        let mut change = Change::new(&target);
        for found in target.identities().filter(|found| identities.contains(&found.identity)) {
            let unsigned =
                certification.builder(hash, self.now).over(target.primary()?, target.subject(&found)?);
            change.known(found.index);
            change.signed(&unsigned.by(signer.as_mut())?);
        }
        self.write(change)
    }

    /// Makes new self-signatures of these user IDs and attributes, with the key flags, the expiration time and
    /// `preferences`.
    ///
    /// # Errors
    ///
    /// Those of signing and of the database.
    pub fn self_certify(
        &mut self,
        primary: &Fingerprint,
        identities: &[CertifiedIdentity],
        preferences: &[Subpacket],
    ) -> Result<Edited> {
        let target = self.target(primary)?;
        let mut signer = self.open(primary)?;
        let mut change = Change::new(&target);
        for found in target.identities().filter(|found| identities.contains(&found.identity)) {
            let builder = self.described(&target, preferences)?;
            let signature = self.sign_own(builder, &target, target.subject(&found)?, signer.as_mut())?;
            change.known(found.index);
            change.signed(&signature);
        }
        self.write(change)
    }

    /// Revokes one certification of a user ID or attribute by a key; `local`: the revocation is not exported.
    ///
    /// # Errors
    ///
    /// Those of signing and of the database.
    pub fn revoke_one_certification(
        &mut self,
        primary: &Fingerprint,
        by: &Fingerprint,
        identity: &CertifiedIdentity,
        local: bool,
        reason: RevocationReason,
    ) -> Result<Edited> {
        let target = self.target(primary)?;
        let mut signer = self.open(by)?;
        let hash = self.certification_hash(signer.as_ref());
        let mut change = Change::new(&target);
        if let Some(found) = target.identities().find(|found| found.identity == *identity) {
            let mut builder = Builder::new(SignatureType::CERTIFICATION_REVOCATION, hash, self.now);
            if local {
                builder = builder.with(Subpacket::Exportable(false));
            }
            let builder = builder.with(Subpacket::RevocationReason(reason));
            let unsigned = builder.over(target.primary()?, target.subject(&found)?);
            change.known(found.index);
            change.signed(&unsigned.by(signer.as_mut())?);
        }
        self.write(change)
    }
}
