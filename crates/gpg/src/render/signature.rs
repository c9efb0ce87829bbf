//! The names of signatures in both listings.

use engine::cert::facts::{SignatureFacts, SignatureType};
use engine::certifications::{CertificationStatus, Unverifiable};
use engine::listing::{IssuerName, KeyListing, ListedSignature};
use engine::verify::HashAlgorithm;

use crate::code::Code;
use crate::settings::ListSettings;

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

/// Says whether a signature names the primary key as its issuer.
pub(super) fn is_own(listing: &KeyListing<'_>, facts: &SignatureFacts) -> bool {
    facts.issuer.key_id == listing.fingerprint().key_id()
}

/// Says whether listings for people leave a signature out, since its algorithms are not accepted.
pub(super) fn is_hidden(
    listing: &KeyListing<'_>,
    listed: &ListedSignature<'_>,
    settings: &ListSettings,
) -> bool {
    if settings.flags.unusable_sigs {
        return false;
    }
    match listed.status {
        Some(CertificationStatus::Refused(refusal)) => {
            matches!(refusal, Unverifiable::WeakDigest | Unverifiable::Unsupported)
        }
        _ => {
            listed.facts.hash_algorithm == HashAlgorithm::SHA1
                && !settings.weak_key_signatures
                && !is_own(listing, listed.facts)
        }
    }
}

/// Returns the signatures of a component that a listing for people shows, in its order.
pub(super) fn shown<'s, 'a>(
    listing: &KeyListing<'_>,
    signatures: &'s [ListedSignature<'a>],
    settings: &ListSettings,
) -> Vec<&'s ListedSignature<'a>> {
    let mut shown: Vec<_> =
        signatures.iter().filter(|listed| !is_hidden(listing, listed, settings)).collect();
    if settings.flags.sorted_sigs {
        shown.sort_by_key(|listed| {
            let facts = listed.facts;
            (!is_own(listing, facts), facts.issuer.key_id, facts.created, facts.kind.0)
        });
    }
    shown
}
