//! What both listings call signatures.

use keyhoard::cert::facts::SignatureType;
use keyhoard::certifications::{Refusal, Standing};
use keyhoard::listing::IssuerName;

use crate::code::Code;

/// Returns what a signature is called; `None` for one that does not belong on a key.
pub(super) fn word(kind: SignatureType) -> Option<&'static [u8]> {
    match kind {
        SignatureType::KEY_REVOCATION
        | SignatureType::SUBKEY_REVOCATION
        | SignatureType::CERTIFICATION_REVOCATION => Some(b"rev"),
        SignatureType::SUBKEY_BINDING | SignatureType::DIRECT_KEY => Some(b"sig"),
        kind => kind.is_certification().then_some(b"sig"),
    }
}

/// Returns who made a signature, as listings call them.
pub(super) fn issuer_name(issuer: IssuerName<'_>) -> &[u8] {
    match issuer {
        IssuerName::NotAsked => b"",
        IssuerName::NoKey | IssuerName::NoUserId => b"[User ID not found]",
        IssuerName::UserId(name) => name,
    }
}

/// Returns the mark of a signature that was checked: good, bad, not checked for want of a key, not checked because of
/// an error.
pub(super) fn mark(standing: Standing) -> u8 {
    match standing {
        Standing::Good(_) => b'!',
        Standing::Bad => b'-',
        Standing::NoIssuer | Standing::UnusableIssuer(_) => b'?',
        Standing::Refused(_) => b'%',
    }
}

/// Returns gpg's words for why a signature was refused.
pub(super) fn code(refusal: Refusal) -> Code {
    match refusal {
        Refusal::WeakDigest => Code::InvalidDigest,
        Refusal::Time => Code::TimeConflict,
        Refusal::Misplaced => Code::InvalidSignatureClass,
        Refusal::Unsupported => Code::InvalidPublicKeyAlgorithm,
        Refusal::NotEntrusted | Refusal::Unchecked => Code::General,
    }
}
