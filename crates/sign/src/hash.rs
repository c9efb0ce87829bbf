//! The default hash algorithm of a key.

use cert::key::Key;
use verify::{HashAlgorithm, PublicKeyAlgorithm};

/// Returns the hash algorithm with which a key signs certificates by default, as in GnuPG 2.2: by the size of the group
/// for DSA and ECDSA, SHA2-256 for Ed25519, else SHA2-512.
pub fn hash_for(key: &Key<'_>) -> HashAlgorithm {
    match key.algorithm {
        PublicKeyAlgorithm::DSA => for_size(key.facts().subgroup_bits.into()),
        // Ed25519 of version 4, as in GnuPG; other EdDSA keys use the longest digest.
        PublicKeyAlgorithm::EDDSA_LEGACY if key.bits() <= 256 => HashAlgorithm::SHA256,
        PublicKeyAlgorithm::ECDSA => for_size(key.bits()),
        _ => HashAlgorithm::SHA512,
    }
}

/// Returns the hash algorithm with which a key signs certificates by default, as in Debian's GnuPG 2.4: SHA2-512 for
/// Ed25519 too.
pub fn hash_for_2_4(key: &Key<'_>) -> HashAlgorithm {
    match key.algorithm {
        PublicKeyAlgorithm::EDDSA_LEGACY => HashAlgorithm::SHA512,
        _ => hash_for(key),
    }
}

/// Returns the hash algorithm with the shortest digest of at least `bits` bits; the longest one for P-521.
fn for_size(bits: u32) -> HashAlgorithm {
    match bits {
        0..=160 => HashAlgorithm::SHA1,
        161..=224 => HashAlgorithm::SHA224,
        225..=256 => HashAlgorithm::SHA256,
        257..=384 => HashAlgorithm::SHA384,
        _ => HashAlgorithm::SHA512,
    }
}
