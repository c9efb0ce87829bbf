//! Digests as RSA signs them (RFC 8017, 9.2).

use crate::HashAlgorithm;

/// Returns a digest with the prefix that names its hash algorithm (RFC 9580, 5.2.3.1), as it stands after the padding of
/// an RSA signature; `None` for an unknown algorithm.
pub fn digest_info(hash: HashAlgorithm, digest: &[u8]) -> Option<Vec<u8>> {
    Some([prefix(hash)?, digest].concat())
}

/// Returns the encoding of `DigestInfo` in DER up to the digest.
fn prefix(hash: HashAlgorithm) -> Option<&'static [u8]> {
    Some(match hash {
        HashAlgorithm::MD5 => {
            &[0x30, 0x20, 0x30, 0x0c, 6, 8, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 2, 5, 5, 0, 4, 0x10]
        }
        HashAlgorithm::SHA1 => &[0x30, 0x21, 0x30, 9, 6, 5, 0x2b, 0x0e, 3, 2, 0x1a, 5, 0, 4, 0x14],
        HashAlgorithm::RIPEMD160 => &[0x30, 0x21, 0x30, 9, 6, 5, 0x2b, 0x24, 3, 2, 1, 5, 0, 4, 0x14],
        HashAlgorithm::SHA224 => const { &of_nist(4, 0x1c) },
        HashAlgorithm::SHA256 => const { &of_nist(1, 0x20) },
        HashAlgorithm::SHA384 => const { &of_nist(2, 0x30) },
        HashAlgorithm::SHA512 => const { &of_nist(3, 0x40) },
        HashAlgorithm::SHA3_256 => const { &of_nist(8, 0x20) },
        HashAlgorithm::SHA3_512 => const { &of_nist(10, 0x40) },
        _ => return None,
    })
}

/// Returns the prefix of an algorithm of NIST: the identifier 2.16.840.1.101.3.4.2 and `number`, and the length of the
/// digest.
const fn of_nist(number: u8, length: u8) -> [u8; 19] {
    [0x30, 0x11 + length, 0x30, 0x0d, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, number, 5, 0, 4, length]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Hasher;
    use sequoia_openpgp::types::HashAlgorithm as TheirAlgorithm;

    #[test]
    fn every_algorithm_has_the_prefix_that_sequoia_has() {
        for hash in HashAlgorithm::ALL {
            let mut hasher = Hasher::new(hash).expect("a known algorithm");
            hasher.update(b"message");
            let digest = hasher.finish().expect("no collision");
            let theirs = TheirAlgorithm::from(hash.0).oid().expect("a known algorithm");
            let info = digest_info(hash, digest.as_bytes()).expect("a known algorithm");
            assert_eq!(info, [theirs, digest.as_bytes()].concat(), "{hash:?}");
            assert_eq!(usize::from(info[1]) + 2, info.len(), "{hash:?}");
        }
        assert_eq!(digest_info(HashAlgorithm(99), &[0; 20]), None);
    }
}
