//! What both listings call signatures.

use keyhoard::cert::facts::SignatureType;

/// What stands for a name that is not known.
pub(super) const NO_USER_ID: &[u8] = b"[User ID not found]";

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
