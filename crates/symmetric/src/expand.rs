//! Keys derived from keys (RFC 9580, 3.7.2.1, 5.1.6, 5.1.7 and 5.13.2).

use aws_lc_rs::hkdf::{HKDF_SHA256, HKDF_SHA512, KeyType, Salt};

/// The hash algorithm of a derivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HkdfHash {
    /// SHA-256.
    Sha256,
    /// SHA-512.
    Sha512,
}

struct Size(usize);

impl KeyType for Size {
    fn len(&self) -> usize {
        self.0
    }
}

/// Derives as many bytes as `out` holds from a key, with HKDF (RFC 5869). Intermediate values are wiped.
///
/// # Panics
///
/// If `out` is longer than 255 digests, the most that HKDF can derive; keys and nonces are much shorter.
pub fn expand(hash: HkdfHash, key: &[u8], salt: &[u8], info: &[u8], out: &mut [u8]) {
    let algorithm = match hash {
        HkdfHash::Sha256 => HKDF_SHA256,
        HkdfHash::Sha512 => HKDF_SHA512,
    };
    let extracted = Salt::new(algorithm, salt).extract(key);
    let info = [info];
    let expanded = extracted.expand(&info, Size(out.len())).and_then(|material| material.fill(out));
    expanded.expect("the sizes of keys are below HKDF's limit");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_vector_of_rfc_5869_holds() {
        let salt: Vec<u8> = (0..=0x0c).collect();
        let info: Vec<u8> = (0xf0..=0xf9).collect();
        let mut out = [0; 42];
        expand(HkdfHash::Sha256, &[0x0b; 22], &salt, &info, &mut out);
        assert_eq!(out[..8], [0x3c, 0xb2, 0x5f, 0x25, 0xfa, 0xac, 0xd5, 0x7a]);
        assert_eq!(out[34..], [0x34, 0x00, 0x72, 0x08, 0xd5, 0xb8, 0x87, 0x18, 0x58, 0x65][2..]);
    }
}
