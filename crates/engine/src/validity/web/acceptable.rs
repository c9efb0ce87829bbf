//! Which certifications GnuPG would look at, and how the web of trust sees them.

use cert::facts::SignatureFacts;
use cert::{Fingerprint, Timestamp};
use trust::pgp::Certification;

use crate::validity::settings::TrustSettings;

/// Says whether GnuPG would look at a certification, or the revocation of one, of a certificate whose primary key was made
/// at this time.
pub(super) fn is_acceptable(
    settings: &TrustSettings,
    key_created: Timestamp,
    signature: &SignatureFacts,
) -> bool {
    accepts(settings, signature) && signature.created >= key_created && key_created <= settings.now
}

/// Says so whatever it certifies.
pub(super) fn accepts(settings: &TrustSettings, signature: &SignatureFacts) -> bool {
    signature.own.is_none()
        && signature.kind.is_over_user()
        && settings.view.shows(signature)
        && !signature.flags.unknown_critical
        && settings.digests.accepts_certification(signature.hash_algorithm, signature.created.0)
}

/// Says whether a signature certifies and never expires.
pub(super) fn never_expires(settings: &TrustSettings, signature: &SignatureFacts) -> bool {
    signature.kind.is_certification()
        && signature.kind.has_cert_level(settings.min_cert_level)
        && signature.expires.is_none()
}

/// Returns a signature as the web of trust sees it.
pub(super) fn certification(issuer: Fingerprint, signature: &SignatureFacts) -> Certification {
    Certification {
        issuer,
        kind: signature.kind,
        created: signature.created,
        expires: signature.expires,
        revocable: signature.flags.revocable,
        trust: signature.trust,
        regexp: signature.trust_regexp.as_deref().map(Box::from),
    }
}
