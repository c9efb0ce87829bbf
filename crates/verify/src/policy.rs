//! Which algorithms are accepted, and since when: the rules of GnuPG 2.2.
//!
//! Verdicts do not depend on these rules, so that stored verdicts stay valid when the rules change.

use crate::{HashAlgorithm, PublicKeyAlgorithm};

/// Which hash algorithms are accepted in signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigestPolicy {
    /// A bit for each hash algorithm that is never accepted.
    weak: u64,
    /// The latest creation time of certifications by other keys in which SHA-1 is accepted; `None` for none.
    sha1_certifications: Option<u32>,
    /// The latest creation time of self-signatures in which SHA-1 is accepted.
    sha1_self_signatures: u32,
}

impl Default for DigestPolicy {
    fn default() -> Self {
        Self::GNUPG
    }
}

impl DigestPolicy {
    /// The default of GnuPG 2.2: MD5 is never accepted, SHA-1 not in newer certifications by other keys.
    pub const GNUPG: Self = Self {
        weak: 1 << HashAlgorithm::MD5.0,
        sha1_certifications: Some(END_OF_SHA1_CERTIFICATIONS),
        sha1_self_signatures: u32::MAX,
    };
    /// The default of GnuPG 2.4: MD5 is never accepted, SHA-1 not in any certification by another key.
    pub const GNUPG_2_4: Self = Self { sha1_certifications: None, ..Self::GNUPG };

    /// Rejects one more hash algorithm (`--weak-digest`).
    pub fn with_weak(self, hash: HashAlgorithm) -> Self {
        Self { weak: self.weak | 1_u64.checked_shl(hash.0.into()).unwrap_or(0), ..self }
    }

    /// Rejects what RFC 9580 (9.5) does not accept in signatures over data: SHA-1 and RIPEMD-160, too.
    pub fn of_data(self) -> Self {
        self.with_weak(HashAlgorithm::SHA1).with_weak(HashAlgorithm::RIPEMD160)
    }

    /// Rejects no hash algorithm (`--allow-weak-digest-algos`).
    pub fn without_weak(self) -> Self {
        Self { weak: 0, ..self }
    }

    /// Rejects SHA-1 in recent self-signatures: those made since February 2023 (RFC 9580, 9.5).
    pub fn without_recent_sha1(self) -> Self {
        Self { sha1_self_signatures: END_OF_SHA1_SELF_SIGNATURES, ..self }
    }

    /// Accepts SHA-1 in certifications by other keys (`--allow-weak-key-signatures`).
    pub fn with_sha1_certifications(self) -> Self {
        Self { sha1_certifications: Some(u32::MAX), ..self }
    }

    /// Returns whether a hash algorithm is too weak for any signature.
    pub fn is_weak(self, hash: HashAlgorithm) -> bool {
        1_u64.checked_shl(hash.0.into()).is_some_and(|bit| self.weak & bit != 0)
    }

    /// Returns whether a hash algorithm is accepted in a self-signature that was made at `created` (seconds since 1970).
    pub fn accepts_self_signature(self, hash: HashAlgorithm, created: u32) -> bool {
        !self.is_weak(hash) && (hash != HashAlgorithm::SHA1 || created <= self.sha1_self_signatures)
    }

    /// Returns whether a hash algorithm is accepted in a certification, or the revocation of one, that another key made
    /// over a user ID at `created` (seconds since 1970).
    ///
    /// Chosen-prefix collisions make later SHA-1 certifications worthless. They do not affect self-signatures, whose
    /// content the issuer chooses.
    pub fn accepts_certification(self, hash: HashAlgorithm, created: u32) -> bool {
        let is_early = self.sha1_certifications.is_some_and(|latest| created <= latest);
        !self.is_weak(hash) && (hash != HashAlgorithm::SHA1 || is_early)
    }
}

/// Returns whether a hash algorithm is accepted in the binding signature of a subkey of this algorithm: those of RFC 9980
/// need a better one than SHA-1 (RFC 9980, 7.2).
pub fn accepts_subkey_binding(subkey: PublicKeyAlgorithm, hash: HashAlgorithm) -> bool {
    let is_broken = matches!(hash, HashAlgorithm::MD5 | HashAlgorithm::SHA1 | HashAlgorithm::RIPEMD160);
    !(is_broken && subkey.is_post_quantum())
}

/// 2023-02-01 00:00 UTC, the latest creation time of self-signatures in which SHA-1 resists well enough.
const END_OF_SHA1_SELF_SIGNATURES: u32 = 1_675_209_600;

/// 2019-01-19 00:00 UTC, the latest creation time of SHA-1 certifications by other keys that GnuPG 2.2 accepts.
const END_OF_SHA1_CERTIFICATIONS: u32 = 1_547_856_000;

/// The smallest RSA, DSA and Elgamal keys in bits that are accepted in signatures and encrypted to.
pub const MIN_KEY_BITS: u32 = 2048;
/// The smallest ones that are accepted in signatures of the time before [`END_OF_SMALL_KEYS`].
pub const MIN_EARLY_KEY_BITS: u32 = 1024;
/// 2014-01-01 00:00 UTC: from then on nobody should have used keys of less than [`MIN_KEY_BITS`] (NIST SP 800-131A).
pub const END_OF_SMALL_KEYS: u32 = 1_388_534_400;

/// Returns whether a key of this size in bits is large enough for a signature made, or a message encrypted, at `used`
/// (seconds since 1970). GnuPG 2.2 accepts keys of any size.
pub fn is_large_enough(algorithm: PublicKeyAlgorithm, bits: u32, used: u32) -> bool {
    let is_of_numbers = algorithm.is_rsa()
        || matches!(
            algorithm,
            PublicKeyAlgorithm::DSA | PublicKeyAlgorithm::ELGAMAL | PublicKeyAlgorithm::ELGAMAL_BOTH
        );
    let least = if used < END_OF_SMALL_KEYS { MIN_EARLY_KEY_BITS } else { MIN_KEY_BITS };
    !is_of_numbers || bits >= least
}

/// Returns whether a hash algorithm is too weak for any signature by default.
pub fn is_weak(hash: HashAlgorithm) -> bool {
    DigestPolicy::GNUPG.is_weak(hash)
}

/// Returns whether GnuPG 2.2 knows a public-key algorithm; it drops signatures of all others at import.
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
    fn gnupg_2_4_accepts_no_sha1_certifications_by_others_unless_asked() {
        let policy = DigestPolicy::GNUPG_2_4;
        assert!(!policy.accepts_certification(HashAlgorithm::SHA1, 0));
        assert!(policy.with_sha1_certifications().accepts_certification(HashAlgorithm::SHA1, u32::MAX));
        assert!(policy.accepts_certification(HashAlgorithm::SHA256, u32::MAX));
        assert!(!policy.is_weak(HashAlgorithm::SHA1));
    }

    #[test]
    fn what_is_called_weak_is_accepted_for_nothing() {
        let policy = GNUPG.with_weak(HashAlgorithm::SHA1).with_sha1_certifications();
        assert!(policy.is_weak(HashAlgorithm::SHA1) && policy.is_weak(HashAlgorithm::MD5));
        assert!(!policy.accepts_certification(HashAlgorithm::SHA1, 0));
        assert!(!GNUPG.with_weak(HashAlgorithm(200)).is_weak(HashAlgorithm(200 - 64)));
    }

    #[test]
    fn no_binding_of_a_post_quantum_subkey_is_made_with_sha1() {
        let (new, old) = (PublicKeyAlgorithm::ML_KEM_768_X25519, PublicKeyAlgorithm::ECDH);
        for hash in HashAlgorithm::ALL {
            assert_eq!(accepts_subkey_binding(new, hash), hash.0 > 3, "{hash:?}");
            assert!(accepts_subkey_binding(old, hash), "{hash:?}");
        }
    }

    #[test]
    fn small_keys_made_signatures_until_2014() {
        use PublicKeyAlgorithm as Algorithm;
        for (algorithm, bits, used, expected) in [
            (Algorithm::RSA, 2048, u32::MAX, true),
            (Algorithm::RSA, 2047, u32::MAX, false),
            (Algorithm::RSA, 1024, u32::MAX, false),
            (Algorithm::DSA, 1024, END_OF_SMALL_KEYS, false),
            (Algorithm::DSA, 1024, END_OF_SMALL_KEYS - 1, true),
            (Algorithm::RSA, 1024, 0, true),
            (Algorithm::RSA, 1023, 0, false),
            (Algorithm::RSA, 768, 0, false),
            (Algorithm::ELGAMAL, 1024, u32::MAX, false),
            (Algorithm::ED25519, 255, u32::MAX, true),
        ] {
            assert_eq!(is_large_enough(algorithm, bits, used), expected, "{algorithm:?} {bits} {used}");
        }
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
