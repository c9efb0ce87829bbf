//! Algorithm numbers as they stand in packets.

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

    /// Returns whether it is one of the three numbers of RSA.
    pub fn is_rsa(self) -> bool {
        matches!(self, Self::RSA | Self::RSA_ENCRYPT | Self::RSA_SIGN)
    }

    /// Returns whether keys of this algorithm can make signatures of the algorithm `signature`.
    pub fn verifies(self, signature: Self) -> bool {
        self == signature || (self.is_rsa() && signature.is_rsa())
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
