//! Algorithm numbers as they stand in packets.

use libcrypto::post_quantum::{KeyEncapsulation, SignatureScheme};

/// A public-key algorithm number (RFC 9580, 9.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PublicKeyAlgorithm(pub u8);

impl PublicKeyAlgorithm {
    /// RSA, for both uses.
    pub const RSA: Self = Self(1);
    /// RSA, encryption only (deprecated).
    pub const RSA_ENCRYPT: Self = Self(2);
    /// RSA, signing only (deprecated).
    pub const RSA_SIGN: Self = Self(3);
    /// Kyber with ECDH, as GnuPG 2.5 writes it (LibrePGP); only recognised.
    pub const KYBER: Self = Self(8);
    /// Elgamal, encryption only.
    pub const ELGAMAL: Self = Self(16);
    /// DSA.
    pub const DSA: Self = Self(17);
    /// ECDH.
    pub const ECDH: Self = Self(18);
    /// ECDSA.
    pub const ECDSA: Self = Self(19);
    /// Elgamal for both uses, withdrawn since its signatures leak the key.
    pub const ELGAMAL_BOTH: Self = Self(20);
    /// EdDSA as GnuPG 2.1 and v4 keys write it.
    pub const EDDSA_LEGACY: Self = Self(22);
    /// X25519 (RFC 9580).
    pub const X25519: Self = Self(25);
    /// X448 (RFC 9580).
    pub const X448: Self = Self(26);
    /// Ed25519 (RFC 9580).
    pub const ED25519: Self = Self(27);
    /// Ed448 (RFC 9580).
    pub const ED448: Self = Self(28);
    /// ML-DSA-65 with Ed25519 (RFC 9980).
    pub const ML_DSA_65_ED25519: Self = Self(30);
    /// ML-DSA-87 with Ed448 (RFC 9980).
    pub const ML_DSA_87_ED448: Self = Self(31);
    /// SLH-DSA-SHAKE-128s (RFC 9980).
    pub const SLH_DSA_SHAKE_128S: Self = Self(32);
    /// SLH-DSA-SHAKE-128f (RFC 9980).
    pub const SLH_DSA_SHAKE_128F: Self = Self(33);
    /// SLH-DSA-SHAKE-256s (RFC 9980).
    pub const SLH_DSA_SHAKE_256S: Self = Self(34);
    /// ML-KEM-768 with X25519 (RFC 9980).
    pub const ML_KEM_768_X25519: Self = Self(35);
    /// ML-KEM-1024 with X448 (RFC 9980).
    pub const ML_KEM_1024_X448: Self = Self(36);

    /// Returns whether it is one of the three numbers of RSA.
    pub fn is_rsa(self) -> bool {
        matches!(self, Self::RSA | Self::RSA_ENCRYPT | Self::RSA_SIGN)
    }

    /// Returns whether keys of this algorithm can make signatures of the algorithm `signature`.
    pub fn verifies(self, signature: Self) -> bool {
        self == signature || (self.is_rsa() && signature.is_rsa())
    }

    /// Returns the name of an algorithm of RFC 9980, as in its table of algorithms but in lower case.
    pub fn post_quantum_name(self) -> Option<&'static str> {
        Some(match self {
            Self::ML_DSA_65_ED25519 => "ml-dsa-65+ed25519",
            Self::ML_DSA_87_ED448 => "ml-dsa-87+ed448",
            Self::SLH_DSA_SHAKE_128S => "slh-dsa-shake-128s",
            Self::SLH_DSA_SHAKE_128F => "slh-dsa-shake-128f",
            Self::SLH_DSA_SHAKE_256S => "slh-dsa-shake-256s",
            Self::ML_KEM_768_X25519 => "ml-kem-768+x25519",
            Self::ML_KEM_1024_X448 => "ml-kem-1024+x448",
            _ => return None,
        })
    }

    /// Returns whether it is an algorithm of RFC 9980.
    pub fn is_post_quantum(self) -> bool {
        self.post_quantum_name().is_some()
    }

    /// Returns whether keys of a version may be of this algorithm: those of RFC 9980 need version 6, but for ML-KEM-768
    /// with X25519, which keys of version 4 may be too (RFC 9980, 3.5).
    pub fn suits_version(self, version: u8) -> bool {
        match version {
            6 => true,
            4 => self == Self::ML_KEM_768_X25519 || !self.is_post_quantum(),
            _ => !self.is_post_quantum(),
        }
    }

    /// Returns the post-quantum part of the algorithm's signatures.
    pub fn signature_scheme(self) -> Option<SignatureScheme> {
        Some(match self {
            Self::ML_DSA_65_ED25519 => SignatureScheme::MlDsa65,
            Self::ML_DSA_87_ED448 => SignatureScheme::MlDsa87,
            Self::SLH_DSA_SHAKE_128S => SignatureScheme::SlhDsaShake128s,
            Self::SLH_DSA_SHAKE_128F => SignatureScheme::SlhDsaShake128f,
            Self::SLH_DSA_SHAKE_256S => SignatureScheme::SlhDsaShake256s,
            _ => return None,
        })
    }

    /// Returns the post-quantum part of the algorithm's encryption.
    pub fn key_encapsulation(self) -> Option<KeyEncapsulation> {
        match self {
            Self::ML_KEM_768_X25519 => Some(KeyEncapsulation::MlKem768),
            Self::ML_KEM_1024_X448 => Some(KeyEncapsulation::MlKem1024),
            _ => None,
        }
    }

    /// Returns the part of the algorithm that is Ed25519, Ed448, X25519 or X448, or the algorithm itself if it is one of
    /// them.
    pub fn curve_part(self) -> Option<Self> {
        match self {
            Self::ED25519 | Self::ML_DSA_65_ED25519 => Some(Self::ED25519),
            Self::ED448 | Self::ML_DSA_87_ED448 => Some(Self::ED448),
            Self::X25519 | Self::ML_KEM_768_X25519 => Some(Self::X25519),
            Self::X448 | Self::ML_KEM_1024_X448 => Some(Self::X448),
            _ => None,
        }
    }

    /// Returns the length in bytes of the public fields of keys, where it is fixed (RFC 9580, 5.5.5; RFC 9980).
    pub fn fixed_public_length(self) -> Option<usize> {
        let curve = self.curve_part().map(|curve| match curve {
            Self::X448 => 56,
            Self::ED448 => 57,
            _ => 32,
        });
        let scheme = self.signature_scheme().map(SignatureScheme::public_length);
        let kem = self.key_encapsulation().map(KeyEncapsulation::public_length);
        [curve, scheme, kem].into_iter().flatten().reduce(|a, b| a + b)
    }

    /// Returns the length in bytes of the fields of signatures, where it is fixed (RFC 9580, 5.2.3; RFC 9980).
    pub fn fixed_signature_length(self) -> Option<usize> {
        let curve = match self.curve_part() {
            Some(Self::ED25519) => Some(64),
            Some(Self::ED448) => Some(114),
            _ => None,
        };
        let scheme = self.signature_scheme().map(SignatureScheme::signature_length);
        [curve, scheme].into_iter().flatten().reduce(|a, b| a + b)
    }

    /// Returns whether session keys are encrypted without checksum, and beside the number of the cipher, which must be
    /// AES where it is named (RFC 9580, 5.1.6 and 5.1.7; RFC 9980, 4.3.1).
    pub fn encrypts_bare_session_keys(self) -> bool {
        matches!(self.curve_part(), Some(Self::X25519 | Self::X448))
    }
}

/// A hash algorithm number (RFC 9580, 9.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HashAlgorithm(pub u8);

impl HashAlgorithm {
    /// MD5.
    pub const MD5: Self = Self(1);
    /// SHA-1.
    pub const SHA1: Self = Self(2);
    /// RIPEMD-160.
    pub const RIPEMD160: Self = Self(3);
    /// SHA2-256.
    pub const SHA256: Self = Self(8);
    /// SHA2-384.
    pub const SHA384: Self = Self(9);
    /// SHA2-512.
    pub const SHA512: Self = Self(10);
    /// SHA2-224.
    pub const SHA224: Self = Self(11);
    /// SHA3-256.
    pub const SHA3_256: Self = Self(12);
    /// SHA3-512.
    pub const SHA3_512: Self = Self(14);

    /// All known algorithms, in the order of their numbers.
    pub const ALL: [Self; 9] = [
        Self::MD5,
        Self::SHA1,
        Self::RIPEMD160,
        Self::SHA256,
        Self::SHA384,
        Self::SHA512,
        Self::SHA224,
        Self::SHA3_256,
        Self::SHA3_512,
    ];

    /// Returns the text name (RFC 9580, 9.5) that headers of clear-signed text use; `None` if the algorithm is unknown.
    pub fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::MD5 => "MD5",
            Self::SHA1 => "SHA1",
            Self::RIPEMD160 => "RIPEMD160",
            Self::SHA256 => "SHA256",
            Self::SHA384 => "SHA384",
            Self::SHA512 => "SHA512",
            Self::SHA224 => "SHA224",
            Self::SHA3_256 => "SHA3-256",
            Self::SHA3_512 => "SHA3-512",
            _ => return None,
        })
    }

    /// Finds an algorithm by its text name, in any case, or by `H` and its number, as in GnuPG.
    pub fn named(name: &str) -> Option<Self> {
        let number = name.strip_prefix(['H', 'h']).and_then(|number| number.parse().ok()).map(Self);
        let matches = |algorithm: &Self| {
            Some(*algorithm) == number
                || algorithm.name().is_some_and(|known| known.eq_ignore_ascii_case(name))
        };
        Self::ALL.into_iter().find(matches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_signatures_of_rfc_9980_are_as_long_as_its_tables_say() {
        for (number, key, signature) in [
            (30, 32 + 1952, Some(64 + 3309)),
            (31, 57 + 2592, Some(114 + 4627)),
            (32, 32, Some(7856)),
            (33, 32, Some(17088)),
            (34, 64, Some(29792)),
            (35, 32 + 1184, None),
            (36, 56 + 1568, None),
        ] {
            let algorithm = PublicKeyAlgorithm(number);
            assert!(algorithm.is_post_quantum() && algorithm.suits_version(6), "{number}");
            assert_eq!(algorithm.fixed_public_length(), Some(key), "{number}");
            assert_eq!(algorithm.fixed_signature_length(), signature, "{number}");
            assert_eq!(algorithm.suits_version(4), number == 35, "{number}");
            assert!(!algorithm.suits_version(5), "{number}");
        }
        for number in (0..=29).chain(37..=255) {
            let algorithm = PublicKeyAlgorithm(number);
            assert!(!algorithm.is_post_quantum() && algorithm.suits_version(4), "{number}");
        }
    }

    #[test]
    fn a_digest_is_found_by_its_name_and_number() {
        for hash in HashAlgorithm::ALL {
            let name = hash.name().expect("a name");
            assert_eq!(HashAlgorithm::named(&name.to_lowercase()), Some(hash));
            assert_eq!(HashAlgorithm::named(&format!("H{}", hash.0)), Some(hash));
        }
        assert_eq!(HashAlgorithm::named("SHA"), None);
        assert_eq!(HashAlgorithm::named("H99"), None);
    }
}
