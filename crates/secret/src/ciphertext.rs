//! Encrypted session keys.

/// The algorithm-specific fields of an encrypted session key (RFC 9580, 5.1.3 to 5.1.7), with numbers as big-endian
/// bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ciphertext<'a> {
    /// RSA: the session key with PKCS #1 v1.5 padding to the power of e.
    Rsa {
        /// The number.
        c: &'a [u8],
    },
    /// Elgamal.
    Elgamal {
        /// g to the power of k.
        e: &'a [u8],
        /// The padded session key times y to the power of k.
        c: &'a [u8],
    },
    /// ECDH.
    Ecdh {
        /// The ephemeral point, as the bytes of its number.
        e: &'a [u8],
        /// The wrapped session key, without its length byte.
        key: &'a [u8],
    },
    /// X25519 (RFC 9580).
    X25519 {
        /// The ephemeral public key.
        e: &'a [u8; 32],
        /// The wrapped session key, without length and cipher bytes.
        key: &'a [u8],
    },
    /// X448 (RFC 9580).
    X448 {
        /// The ephemeral public key.
        e: &'a [u8; 56],
        /// The wrapped session key, without length and cipher bytes.
        key: &'a [u8],
    },
}
