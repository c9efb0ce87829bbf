//! A key revocation that comes without its certificate.

use cert::clean::{CleanOptions, Cleaned, clean};
use cert::facts::{Issuer, SignatureFacts};
use cert::packet::{Packet, Packets};
use cert::signature::{self, Signature};
use cert::split::{RawCertificate, RawRevocation};
use cert::{Facts, Fingerprint, Flaw, RemovedSignatures};
use store::{ReadCertificates, Timestamp};

use super::event::ImportRefusal;
use crate::Result;
use crate::certifications::CertificationStatus;

/// A revocation of a key, without the key.
#[derive(Clone, Debug)]
pub struct StandaloneRevocation<'a> {
    /// What it says.
    pub facts: SignatureFacts,
    /// What it is worth.
    pub status: CertificationStatus,
    /// Its packet's body.
    pub body: &'a [u8],
}

/// Examines a standalone revocation, of a key that is looked up in `keyring`; `None` if it cannot be read.
///
/// # Errors
///
/// The database's errors.
pub fn examine<'a>(
    revocation: &'a RawRevocation,
    keyring: Option<&dyn ReadCertificates>,
    now: Timestamp,
) -> Result<Option<StandaloneRevocation<'a>>> {
    let Ok((packet, signature)) = signature_of(revocation) else { return Ok(None) };
    let look_up = |keyring| with_primary_key(revocation, |issuer| stored_primary_key(keyring, issuer));
    let raw = keyring.map(look_up).transpose()?;
    let status = match raw {
        Some(Ok(raw)) => status(&raw, now),
        Some(Err(_)) | None => CertificationStatus::NoIssuer,
    };
    // Facts tell by it which signatures are a certificate's own; that matters to nobody here.
    let primary = signature.issuer().fingerprint.unwrap_or(Fingerprint::V4([0; 20]));
    let facts = signature.facts(packet.span, &primary);
    Ok(Some(StandaloneRevocation { facts, status, body: packet.body }))
}

fn status(raw: &RawCertificate, now: Timestamp) -> CertificationStatus {
    match clean(raw, &CleanOptions::default(), now) {
        Ok(Cleaned { certificate, .. }) if revokes(&certificate.facts) => {
            CertificationStatus::Good(certificate.facts.primary().fingerprint)
        }
        _ => CertificationStatus::Bad,
    }
}

/// Says whether the revocation behind a primary key was made by it.
pub(super) fn revokes(cleaned: &Facts) -> bool {
    cleaned.components[0].signatures.iter().any(SignatureFacts::verifies)
}

/// Puts the revocation behind the primary key that it says to be made by: cleaned and merged like any other copy of
/// that certificate, it counts only if it verifies. `look_up` returns the packet of the issuer's primary key.
pub(super) fn with_primary_key(
    revocation: &RawRevocation,
    look_up: impl FnOnce(&Issuer) -> Result<Option<Vec<u8>>>,
) -> Result<std::result::Result<RawCertificate, ImportRefusal>> {
    let issuer = match signature_of(revocation) {
        Ok((_, signature)) => signature.issuer(),
        Err(flaw) => {
            return Ok(Err(cert::Error::Malformed { position: revocation.position, flaw }.into()));
        }
    };
    let primary = look_up(&issuer)?;
    Ok(primary.ok_or(ImportRefusal::UnknownKey(issuer.key_id)).map(|mut bytes| {
        bytes.extend_from_slice(&revocation.bytes);
        RawCertificate {
            position: revocation.position,
            bytes,
            secrets: Vec::new(),
            notes: Vec::new(),
            origins: Vec::new(),
            signatures_left_out: RemovedSignatures::default(),
        }
    }))
}

fn signature_of(revocation: &RawRevocation) -> std::result::Result<(Packet<'_>, Signature<'_>), Flaw> {
    match Packets::new(&revocation.bytes).next() {
        Some(Ok(packet)) => Ok((packet, signature::parse(packet.body)?)),
        _ => Err(Flaw::NotAPacket),
    }
}

/// Looks for the key among primary keys only: anybody can list it as a subkey.
pub(super) fn stored_primary_key(
    snapshot: &dyn ReadCertificates,
    issuer: &Issuer,
) -> Result<Option<Vec<u8>>> {
    let primaries = snapshot.primaries_by_id(issuer.key_id)?;
    let Some((id, _)) = primaries.into_iter().find(|(_, primary)| issuer.may_be(primary)) else {
        return Ok(None);
    };
    Ok(snapshot.bytes(id)?.and_then(|bytes| primary_key(&bytes)))
}

/// Returns the packet that a certificate begins with; `None` if a damaged database holds no packet there.
pub(super) fn primary_key(certificate: &[u8]) -> Option<Vec<u8>> {
    let packet = Packets::new(certificate).next()?.ok()?;
    Some(packet.span.of(certificate).to_vec())
}
