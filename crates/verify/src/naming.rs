//! Digests that serve as identifiers: fingerprints, keygrips, names of attributes, signature digests.
//!
//! No signature is made over them, so that SHA-1 needs no collision detection as in [`crate::hash`].

use aws_lc_rs::digest::{Algorithm, Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256};
pub use libcrypto::ripemd160;

/// Returns the SHA-1 of the concatenated parts.
pub fn sha1(parts: &[&[u8]]) -> [u8; 20] {
    digest(&SHA1_FOR_LEGACY_USE_ONLY, parts)
}

/// Returns the SHA2-256 of the concatenated parts.
pub fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    digest(&SHA256, parts)
}

/// A SHA2-256 over a common prefix, from which several digests can be finished.
#[derive(Clone)]
pub struct Sha256(Context);

impl Sha256 {
    /// Hashes the concatenated parts of the prefix.
    pub fn begin(parts: &[&[u8]]) -> Self {
        let mut context = Context::new(&SHA256);
        parts.iter().for_each(|part| context.update(part));
        Self(context)
    }

    /// Returns the digest of the prefix and the parts. It can be called again with other parts.
    pub fn end(&self, parts: &[&[u8]]) -> [u8; 32] {
        end(self.0.clone(), parts)
    }
}

fn digest<const N: usize>(algorithm: &'static Algorithm, parts: &[&[u8]]) -> [u8; N] {
    end(Context::new(algorithm), parts)
}

fn end<const N: usize>(mut context: Context, parts: &[&[u8]]) -> [u8; N] {
    for part in parts {
        context.update(part);
    }
    context.finish().as_ref().try_into().expect("N is the algorithm's output length")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_standards_test_vectors_come_out() {
        assert_eq!(hex(&sha1(&[b"a", b"bc"])), "a9993e364706816aba3e25717850c26c9cd0d89d");
        assert_eq!(
            hex(&sha256(&[b"ab", b"c"])),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        let begun = Sha256::begin(&[b"a"]);
        assert_eq!((begun.end(&[b"b", b"c"]), begun.end(&[])), (sha256(&[b"abc"]), sha256(&[b"a"])));
        assert_eq!(hex(&ripemd160(b"abc")), "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc");
    }
}
