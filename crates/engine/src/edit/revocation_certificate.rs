//! Revocation certificates: made in advance and stored.

use std::io::Write;

use cert::Fingerprint;
use cert::armor_writer::{ArmorWriter, Headers};
use cert::facts::{RevocationReason, SignatureType};
use cert::signed::Subject;
use sign::Subpacket;

use super::Editor;
use crate::Result;

impl Editor<'_> {
    /// Makes the revocation of a certificate and returns the signature packet; the certificate does not change.
    ///
    /// # Errors
    ///
    /// Those of signing and of the database.
    pub fn revocation_certificate(
        &mut self,
        primary: &Fingerprint,
        reason: RevocationReason,
    ) -> Result<Vec<u8>> {
        let target = self.target(primary)?;
        let mut signer = self.open(primary)?;
        let builder = self
            .new_signature(&target, SignatureType::KEY_REVOCATION, self.now)?
            .with(Subpacket::RevocationReason(reason));
        self.sign_own(builder, &target, Subject::Primary, signer.as_mut())
    }
}

/// Returns a revocation with ASCII armor; a comment header after `headers` says what it is.
pub fn armored(revocation: &[u8], headers: Headers) -> Vec<u8> {
    let headers = headers.with("Comment", b"This is a revocation certificate");
    let mut writer = ArmorWriter::new(Vec::new()).with_headers(headers);
    let written = writer.write_all(revocation).and_then(|()| writer.finish());
    written.expect("a vector takes everything")
}
