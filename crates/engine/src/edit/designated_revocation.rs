//! The revocation of a certificate by a key that its owner named for that.

use cert::Fingerprint;
use cert::facts::{RevocationReason, SignatureFacts, SignatureType};
use cert::signed::Subject;
use sign::Subpacket;

use super::{EditRefusal, Editor};
use crate::Result;

impl Editor<'_> {
    /// Makes the revocation of a certificate by the designated revoker `by`, and returns it with what others need to
    /// accept it: the primary key, the revocation, and the signature that names the revoker.
    ///
    /// # Errors
    ///
    /// [`EditRefusal::NotDesignated`]; those of signing and of the database.
    pub fn designated_revocation(
        &mut self,
        primary: &Fingerprint,
        by: &Fingerprint,
        reason: RevocationReason,
    ) -> Result<Vec<u8>> {
        let target = self.target(primary)?;
        let names = |signature: &&SignatureFacts| {
            signature.verifies()
                && signature
                    .own
                    .as_deref()
                    .is_some_and(|own| own.revokers.iter().any(|it| it.fingerprint == *by))
        };
        let designation = target.component(0).signatures.iter().find(names);
        let designation = designation.ok_or(EditRefusal::NotDesignated { key: *by })?;
        let mut signer = self.open(by)?;
        let hash = self.certification_hash(signer.as_ref());
        let revocation = sign::Builder::new(SignatureType::KEY_REVOCATION, hash, self.now)
            .with(Subpacket::RevocationReason(reason))
            .over(target.primary()?, Subject::Primary)
            .by(signer.as_mut())?;
        let certificate = &target.certificate;
        let key = certificate.packet(target.component(0).span);
        Ok([key, &revocation, certificate.packet(designation.span)].concat())
    }
}
