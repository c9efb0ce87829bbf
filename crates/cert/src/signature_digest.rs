//! Digests under which verdicts on certifications are stored: over everything that a signature was made over.

use verify::naming::{Sha256, sha256};

use crate::identity::SignatureDigest;
use crate::packet::Packet;
use crate::signature::Signature;

/// Computes the signature digests of one certificate. The primary key, which may be large, is hashed only once.
pub(crate) struct CertificateDigester(Sha256);

impl CertificateDigester {
    /// Hashes the body of the primary key.
    pub(crate) fn new(primary: &[u8]) -> Self {
        Self(Sha256::begin(&[&length(primary), primary]))
    }

    /// Continues with the packet of a component.
    pub(crate) fn component(&self, component: Packet<'_>) -> ComponentDigester {
        ComponentDigester(self.0.end(&[&[component.tag.0], component.body]))
    }
}

/// Computes the digests of the signatures of one component.
pub(crate) struct ComponentDigester([u8; 32]);

impl ComponentDigester {
    /// Returns the digest of a signature of the component.
    pub(crate) fn signature(&self, signature: &Signature<'_>) -> SignatureDigest {
        let Signature {
            version, key_algorithm, hash_algorithm, covered, salt, digest_prefix, material, ..
        } = *signature;
        let digest = sha256(&[
            &self.0,
            &[version, key_algorithm.0, hash_algorithm.0],
            &signature.named_issuer(),
            &length(covered),
            covered,
            &length(salt),
            salt,
            &digest_prefix,
            material,
        ]);
        SignatureDigest(std::array::from_fn(|index| digest[index]))
    }
}

/// Encodes a length, which precedes each field of variable length so that the hashed encoding is unambiguous.
fn length(bytes: &[u8]) -> [u8; 4] {
    (bytes.len() as u32).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Packets, Tag};
    use crate::signature;

    /// A certification with a creation time, an issuer that is not signed, and an RSA value of nine bits.
    fn certification(hashed: u8, issuer: u8, value: u8) -> Vec<u8> {
        let mut body = vec![4, 0x10, 1, 8, 0, 6, 5, 2, 0, 0, 0, hashed];
        body.extend([0, 10, 9, 16, 0, 0, 0, 0, 0, 0, 0, issuer]);
        body.extend([0xaa, 0xbb, 0, 9, 1, value]);
        body
    }

    fn content(primary: &[u8], user_id: &[u8], signature: &[u8]) -> SignatureDigest {
        let packet = [&[0xc0 | Tag::USER_ID.0, user_id.len() as u8], user_id].concat();
        let component = Packets::new(&packet).next().expect("a packet").expect("a user ID");
        let signature = signature::parse(signature).expect("a signature");
        CertificateDigester::new(primary).component(component).signature(&signature)
    }

    #[test]
    fn the_unhashed_subpackets_do_not_count() {
        let one = content(b"key", b"user", &certification(1, 1, 1));
        assert_eq!(one, content(b"key", b"user", &certification(1, 2, 1)));
    }

    #[test]
    fn everything_else_counts() {
        let one = content(b"key", b"user", &certification(1, 1, 1));
        let others = [
            content(b"Key", b"user", &certification(1, 1, 1)),
            content(b"key", b"User", &certification(1, 1, 1)),
            content(b"keyu", b"ser", &certification(1, 1, 1)),
            content(b"key", b"user", &certification(2, 1, 1)),
            content(b"key", b"user", &certification(1, 1, 2)),
        ];
        for (index, other) in others.iter().enumerate() {
            assert_ne!(one, *other, "{index}");
        }
    }
}
