//! Revoking certificates.

use cert::Timestamp;
use cert::facts::{RevocationReason, SignatureType};
use cert::signed::Subject;
use secret::Signer;
use sign::{Builder, Subpacket, hash_for};

use super::{Certificates, Keys, Password, Result, packets};

/// Returns the certificates of keys, each with its revocation. No reason is given.
///
/// # Errors
///
/// [`Kind::KeyIsProtected`](super::Kind::KeyIsProtected).
pub fn revoke(keys: &Keys, passwords: &[Password], now: Timestamp) -> Result<Certificates> {
    let mut revoked = Vec::with_capacity(keys.certificates.len());
    for certificate in &keys.certificates {
        let mut primary = keys.unlock(&certificate.facts.primary().fingerprint, passwords)?;
        let hash = hash_for(&primary.key());
        let reason = RevocationReason { code: 0, comment: Vec::new() };
        let revocation = Builder::new(SignatureType::KEY_REVOCATION, hash, now)
            .with(Subpacket::RevocationReason(reason))
            .over(packets::primary(certificate)?, Subject::Primary)
            .by(&mut primary)?;
        let mut addition = packets::Addition::new(certificate);
        addition.add(&revocation);
        revoked.push(addition.finish()?);
    }
    Ok(revoked.into())
}
