//! What both listings call signatures.

use engine::cert::facts::SignatureType;
use engine::certifications::{CertificationStatus, Unverifiable};
use engine::listing::IssuerName;

use crate::code::Code;

/// Returns the name of a signature type; `None` for one that does not belong on a key.
pub(super) fn word(kind: SignatureType) -> Option<&'static [u8]> {
    match kind {
        SignatureType::KEY_REVOCATION
        | SignatureType::SUBKEY_REVOCATION
        | SignatureType::CERTIFICATION_REVOCATION => Some(b"rev"),
        SignatureType::SUBKEY_BINDING | SignatureType::DIRECT_KEY => Some(b"sig"),
        kind => kind.is_certification().then_some(b"sig"),
    }
}

/// Returns the issuer of a signature as listings name it.
pub(super) fn issuer_name(issuer: IssuerName<'_>) -> &[u8] {
    match issuer {
        IssuerName::NotAsked => b"",
        IssuerName::NoKey | IssuerName::NoUserId => b"[User ID not found]",
        IssuerName::UserId(name) => name,
    }
}

/// Returns the mark of a signature that was checked: good, bad, not checked for want of a key, not checked because of
/// an error.
pub(crate) fn mark(standing: CertificationStatus) -> u8 {
    match standing {
        CertificationStatus::Good(_) => b'!',
        CertificationStatus::Bad => b'-',
        CertificationStatus::NoIssuer | CertificationStatus::UnusableIssuer(_) => b'?',
        CertificationStatus::Refused(_) => b'%',
    }
}

/// Returns gpg's words for why a signature was refused.
pub(crate) fn code(refusal: Unverifiable) -> Code {
    match refusal {
        Unverifiable::WeakDigest => Code::INVALID_DIGEST,
        Unverifiable::Time => Code::TIME_CONFLICT,
        Unverifiable::Misplaced => Code::INVALID_SIGNATURE_CLASS,
        Unverifiable::Unsupported => Code::INVALID_PUBLIC_KEY_ALGORITHM,
        Unverifiable::NotEntrusted | Unverifiable::Unchecked => Code::GENERAL,
    }
}
