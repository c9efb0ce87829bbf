//! What is accepted for what, and since when.

use crate::HashAlgorithm;

/// Says whether a digest is too weak for any signature (GnuPG's `--weak-digest`, whose default is MD5).
pub fn is_weak(hash: HashAlgorithm) -> bool {
    hash == HashAlgorithm::MD5
}
