//! Encrypted session keys.

use verify::PublicKeyAlgorithm;

use crate::fields::Fields;
use crate::post_quantum_encryption::Scheme;

/// The algorithm-specific fields of an encrypted session key (RFC 9580, 5.1.3 to 5.1.7, and RFC 9980, 4.3.1), with numbers as
/// big-endian bytes.
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
    /// ML-KEM with X25519 or X448 (RFC 9980).
    MlKem {
        /// The algorithm of the key.
        algorithm: PublicKeyAlgorithm,
        /// The ephemeral public key on the curve.
        e: &'a [u8],
        /// ML-KEM's ciphertext.
        c: &'a [u8],
        /// The wrapped session key, without length and cipher bytes.
        key: &'a [u8],
    },
}

/// The algorithm-specific fields of an encrypted session key, with the cipher if it is one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encrypted<'a> {
    /// The number of the cipher, which is not encrypted in packets of version 3 with X25519 or X448, alone or beside ML-KEM.
    pub cipher: Option<u8>,
    /// What was encrypted.
    pub ciphertext: Ciphertext<'a>,
}

impl<'a> Ciphertext<'a> {
    /// Reads the algorithm-specific fields of a packet of a version; `None` for another algorithm or malformed fields.
    pub fn read(algorithm: PublicKeyAlgorithm, version: u8, fields: &'a [u8]) -> Option<Encrypted<'a>> {
        type Algorithm = PublicKeyAlgorithm;
        let mut fields = Fields(fields);
        let ciphertext = match algorithm {
            Algorithm::RSA | Algorithm::RSA_ENCRYPT => Self::Rsa { c: fields.number()? },
            Algorithm::ELGAMAL | Algorithm::ELGAMAL_BOTH => {
                Self::Elgamal { e: fields.number()?, c: fields.number()? }
            }
            Algorithm::ECDH => Self::Ecdh { e: fields.number()?, key: fields.counted()? },
            Algorithm::X25519 => {
                let e = fields.take(32)?.try_into().ok()?;
                let (cipher, key) = unnumbered(version, fields.counted()?)?;
                return Some(Encrypted { cipher, ciphertext: Self::X25519 { e, key } });
            }
            Algorithm::X448 => {
                let e = fields.take(56)?.try_into().ok()?;
                let (cipher, key) = unnumbered(version, fields.counted()?)?;
                return Some(Encrypted { cipher, ciphertext: Self::X448 { e, key } });
            }
            algorithm => {
                let scheme = Scheme::of(algorithm)?;
                let (e, c) =
                    (fields.take(scheme.ephemeral_length())?, fields.take(scheme.ciphertext_length())?);
                let (cipher, key) = unnumbered(version, fields.counted()?)?;
                return Some(Encrypted { cipher, ciphertext: Self::MlKem { algorithm, e, c, key } });
            }
        };
        Some(Encrypted { cipher: None, ciphertext })
    }

    /// Returns whether keys of an algorithm decrypt it. Keys of other algorithms with the same numbers must not.
    pub fn is_for(&self, algorithm: PublicKeyAlgorithm) -> bool {
        type Algorithm = PublicKeyAlgorithm;
        match self {
            Self::Rsa { .. } => matches!(algorithm, Algorithm::RSA | Algorithm::RSA_ENCRYPT),
            Self::Elgamal { .. } => matches!(algorithm, Algorithm::ELGAMAL | Algorithm::ELGAMAL_BOTH),
            Self::Ecdh { .. } => algorithm == Algorithm::ECDH,
            Self::X25519 { .. } => algorithm == Algorithm::X25519,
            Self::X448 { .. } => algorithm == Algorithm::X448,
            Self::MlKem { algorithm: own, .. } => *own == algorithm,
        }
    }
}

/// Takes the number of the cipher off, which stands in packets of version 3 only.
fn unnumbered(version: u8, bytes: &[u8]) -> Option<(Option<u8>, &[u8])> {
    match version {
        3 => bytes.split_first().map(|(cipher, key)| (Some(*cipher), key)),
        _ => Some((None, bytes)),
    }
}
