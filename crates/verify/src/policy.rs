//! What is accepted for what, and since when: the rules of GnuPG 2.2.
//!
//! A verdict never depends on these rules, so that they can change without a stored verdict going stale.

use crate::{HashAlgorithm, PublicKeyAlgorithm};

/// Which digests are accepted in signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigestPolicy {
    /// A bit for each digest that is accepted in nothing.
    weak: u64,
    /// SHA-1 is accepted in certifications by other keys whenever they were made.
    sha1_certifications: bool,
}

impl DigestPolicy {
    /// GnuPG 2.2's without options: MD5 is weak, and SHA-1 in newer certifications by other keys.
    pub const GNUPG: Self = Self { weak: 1 << HashAlgorithm::MD5.0, sha1_certifications: false };

    /// Calls one more digest weak (`--weak-digest`).
    pub fn with_weak(self, hash: HashAlgorithm) -> Self {
        Self { weak: self.weak | 1_u64.checked_shl(hash.0.into()).unwrap_or(0), ..self }
    }

    /// Calls no digest weak (`--allow-weak-digest-algos`).
    pub fn without_weak(self) -> Self {
        Self { weak: 0, ..self }
    }

    /// Accepts SHA-1 in certifications by other keys (`--allow-weak-key-signatures`).
    pub fn with_sha1_certifications(self) -> Self {
        Self { sha1_certifications: true, ..self }
    }

    /// Says whether a digest is too weak for any signature.
    pub fn is_weak(self, hash: HashAlgorithm) -> bool {
        1_u64.checked_shl(hash.0.into()).is_some_and(|bit| self.weak & bit != 0)
    }

    /// Says whether a digest is accepted in a certification, or the revocation of one, that another key made over a
    /// user ID at `created` (seconds since 1970).
    ///
    /// Chosen-prefix collisions make later SHA-1 certifications worthless, while a self-signature is only ever made
    /// over what its maker chose.
    pub fn accepts_certification(self, hash: HashAlgorithm, created: u32) -> bool {
        let is_late = hash == HashAlgorithm::SHA1 && created > END_OF_SHA1_CERTIFICATIONS;
        !self.is_weak(hash) && (self.sha1_certifications || !is_late)
    }
}

/// 2019-01-19 00:00 UTC, the last second at which GnuPG accepts a SHA-1 certification by another key.
const END_OF_SHA1_CERTIFICATIONS: u32 = 1_547_856_000;

/// Says whether a digest is too weak for any signature where no option says otherwise.
pub fn is_weak(hash: HashAlgorithm) -> bool {
    DigestPolicy::GNUPG.is_weak(hash)
}

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

    const GNUPG: DigestPolicy = DigestPolicy::GNUPG;

    #[test]
    fn md5_is_accepted_for_nothing() {
        assert!(is_weak(HashAlgorithm::MD5));
        assert!(!GNUPG.accepts_certification(HashAlgorithm::MD5, 0));
        assert!(!GNUPG.with_sha1_certifications().accepts_certification(HashAlgorithm::MD5, 0));
        assert!(GNUPG.without_weak().accepts_certification(HashAlgorithm::MD5, u32::MAX));
    }

    #[test]
    fn sha1_certifications_by_others_end_with_the_19th_of_january_2019() {
        assert!(!is_weak(HashAlgorithm::SHA1));
        assert!(GNUPG.accepts_certification(HashAlgorithm::SHA1, 1_547_856_000));
        assert!(!GNUPG.accepts_certification(HashAlgorithm::SHA1, 1_547_856_001));
        assert!(GNUPG.accepts_certification(HashAlgorithm::SHA256, u32::MAX));
        assert!(GNUPG.with_sha1_certifications().accepts_certification(HashAlgorithm::SHA1, u32::MAX));
    }

    #[test]
    fn what_is_called_weak_is_accepted_for_nothing() {
        let policy = GNUPG.with_weak(HashAlgorithm::SHA1).with_sha1_certifications();
        assert!(policy.is_weak(HashAlgorithm::SHA1) && policy.is_weak(HashAlgorithm::MD5));
        assert!(!policy.accepts_certification(HashAlgorithm::SHA1, 0));
        assert!(!GNUPG.with_weak(HashAlgorithm(200)).is_weak(HashAlgorithm(200 - 64)));
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
