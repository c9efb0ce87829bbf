//! What is accepted for what, and since when: the rules of GnuPG 2.2 with its default options.
//!
//! A verdict never depends on these rules, so that they can change without a stored verdict going stale.

use crate::{HashAlgorithm, PublicKeyAlgorithm};

/// Says whether a digest is too weak for any signature (GnuPG's `--weak-digest`, whose default is MD5).
pub fn is_weak(hash: HashAlgorithm) -> bool {
    hash == HashAlgorithm::MD5
}

/// Says whether a digest is accepted in a certification, or the revocation of one, that another key made over a
/// user ID at `created` (seconds since 1970).
///
/// Chosen-prefix collisions make later SHA-1 certifications worthless, while a self-signature is only ever made
/// over what its maker chose.
pub fn accepts_certification(hash: HashAlgorithm, created: u32) -> bool {
    !is_weak(hash) && (hash != HashAlgorithm::SHA1 || created <= END_OF_SHA1_CERTIFICATIONS)
}

/// 2019-01-19 00:00 UTC, the last second at which GnuPG accepts a SHA-1 certification by another key.
const END_OF_SHA1_CERTIFICATIONS: u32 = 1_547_856_000;

/// Says whether GnuPG 2.2 knows a public-key algorithm; it drops signatures of all others at import.
pub fn is_known_to_gnupg(algorithm: PublicKeyAlgorithm) -> bool {
    algorithm.is_rsa()
        || matches!(
            algorithm,
            PublicKeyAlgorithm::ELGAMAL
                | PublicKeyAlgorithm::DSA
                | PublicKeyAlgorithm::ECDH
                | PublicKeyAlgorithm::ECDSA
                | PublicKeyAlgorithm::EDDSA_LEGACY
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn md5_is_accepted_for_nothing() {
        assert!(is_weak(HashAlgorithm::MD5));
        assert!(!accepts_certification(HashAlgorithm::MD5, 0));
    }

    #[test]
    fn sha1_certifications_by_others_end_with_the_19th_of_january_2019() {
        assert!(!is_weak(HashAlgorithm::SHA1));
        assert!(accepts_certification(HashAlgorithm::SHA1, 1_547_856_000));
        assert!(!accepts_certification(HashAlgorithm::SHA1, 1_547_856_001));
        assert!(accepts_certification(HashAlgorithm::SHA256, u32::MAX));
    }

    #[test]
    fn gnupg_2_2_knows_no_algorithm_of_rfc_9580_and_no_signing_elgamal() {
        assert!(is_known_to_gnupg(PublicKeyAlgorithm::EDDSA_LEGACY));
        for algorithm in
            [PublicKeyAlgorithm::ED25519, PublicKeyAlgorithm::ED448, PublicKeyAlgorithm::ELGAMAL_BOTH]
        {
            assert!(!is_known_to_gnupg(algorithm));
        }
    }
}
