//! Which digest a key signs with.

use cert::key::Key;
use verify::{HashAlgorithm, PublicKeyAlgorithm};

/// Returns the digest that a key signs certificates with, as GnuPG 2.2 chooses it where no option does: the one of the
/// group's size for DSA and ECDSA, SHA2-256 for Ed25519, else SHA2-512.
pub fn hash_for(key: &Key<'_>) -> HashAlgorithm {
    match key.algorithm {
        PublicKeyAlgorithm::DSA => of_size(key.facts().subgroup_bits.into()),
        // Every version 6 key may use the longest digest; the version 4 keys are those GnuPG knows.
        PublicKeyAlgorithm::EDDSA_LEGACY if key.bits() <= 256 => HashAlgorithm::SHA256,
        PublicKeyAlgorithm::ECDSA => of_size(key.bits()),
        _ => HashAlgorithm::SHA512,
    }
}

/// The shortest digest of at least a group's size in bits; the longest one for P-521.
fn of_size(bits: u32) -> HashAlgorithm {
    match bits {
        0..=160 => HashAlgorithm::SHA1,
        161..=224 => HashAlgorithm::SHA224,
        225..=256 => HashAlgorithm::SHA256,
        257..=384 => HashAlgorithm::SHA384,
        _ => HashAlgorithm::SHA512,
    }
}
