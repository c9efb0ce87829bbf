//! aws-lc: RSA, ECDSA on the NIST curves and Ed25519, of the usual sizes.
//!
//! If aws-lc verifies a signature, that is final. If it rejects one, that is final where [`Issuer::rejects_reliably`]
//! says so; otherwise [`crate::reference`] decides. Verifying uses no randomness, so that aws-lc's generator, which is
//! slow to start, is never used.

use crate::mpi::{Fields, bits, ed25519_legacy_point, padded};
use crate::{HashAlgorithm, PublicKey, PublicKeyAlgorithm, SignatureValue, hash::Digest};
use aws_lc_rs::digest;
use aws_lc_rs::signature::{
    self, ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA384_ASN1, ECDSA_P256_SHA512_ASN1, ECDSA_P384_SHA256_ASN1,
    ECDSA_P384_SHA384_ASN1, ECDSA_P384_SHA512_ASN1, ECDSA_P521_SHA256_ASN1, ECDSA_P521_SHA384_ASN1,
    ECDSA_P521_SHA512_ASN1, ParsedPublicKey, RSA_PKCS1_1024_8192_SHA1_FOR_LEGACY_USE_ONLY as RSA_SHA1,
    RSA_PKCS1_1024_8192_SHA256_FOR_LEGACY_USE_ONLY as RSA_SHA256,
    RSA_PKCS1_1024_8192_SHA512_FOR_LEGACY_USE_ONLY as RSA_SHA512, RSA_PKCS1_2048_8192_SHA384 as RSA_SHA384,
    RsaPublicKeyComponents, VerificationAlgorithm,
};

/// A public key prepared to verify signatures over digests of one hash algorithm.
pub(crate) struct Issuer {
    key: ParsedPublicKey,
    family: Family,
}

enum Family {
    /// The length of the modulus in bytes, the hash algorithm, and whether the numbers are those of a usual key: an odd
    /// modulus, and an odd exponent of 2 to 32 bits.
    Rsa(usize, &'static digest::Algorithm, bool),
    Ecdsa(&'static digest::Algorithm),
    /// The signature is two numbers, as GnuPG writes them.
    Ed25519Legacy,
    Ed25519,
}

impl Issuer {
    /// Prepares a key; `None` if aws-lc does not support its algorithm, its size or the hash algorithm.
    pub(crate) fn new(key: PublicKey<'_>, hash: HashAlgorithm) -> Option<Self> {
        let mut fields = Fields(key.material);
        match key.algorithm {
            algorithm if algorithm.is_rsa() => Self::rsa(fields, hash),
            PublicKeyAlgorithm::ECDSA => Self::ecdsa(fields, hash),
            PublicKeyAlgorithm::EDDSA_LEGACY => {
                Self::ed25519(ed25519_legacy_point(fields)?, Family::Ed25519Legacy)
            }
            PublicKeyAlgorithm::ED25519 => Self::ed25519(fields.bytes()?, Family::Ed25519),
            _ => None,
        }
    }

    fn rsa(mut fields: Fields<'_>, hash: HashAlgorithm) -> Option<Self> {
        let (n, e) = (fields.mpi()?, fields.mpi()?);
        let (parameters, digest) = match hash {
            HashAlgorithm::SHA1 => (&RSA_SHA1, &digest::SHA1_FOR_LEGACY_USE_ONLY),
            HashAlgorithm::SHA256 => (&RSA_SHA256, &digest::SHA256),
            HashAlgorithm::SHA384 => (&RSA_SHA384, &digest::SHA384),
            HashAlgorithm::SHA512 => (&RSA_SHA512, &digest::SHA512),
            _ => return None,
        };
        let size = bits(n);
        let range = parameters.min_modulus_len() as usize..=parameters.max_modulus_len() as usize;
        if !range.contains(&size) {
            return None;
        }
        let key = RsaPublicKeyComponents { n, e }.to_parsed_public_key(parameters).ok()?;
        let is_odd = |number: &[u8]| number.last().is_some_and(|last| last & 1 == 1);
        let is_usual = is_odd(n) && is_odd(e) && (2..=32).contains(&bits(e));
        Some(Self { key, family: Family::Rsa(n.len(), digest, is_usual) })
    }

    fn ecdsa(mut fields: Fields<'_>, hash: HashAlgorithm) -> Option<Self> {
        let curve = Curve::from_oid(fields.oid()?)?;
        let (algorithm, digest) = curve.with(hash)?;
        // aws-lc also reads keys in the form of X.509, which are no points.
        let point = fields.mpi().filter(|point| curve.has_form_of_point(point))?;
        let key = ParsedPublicKey::new(algorithm, point).ok()?;
        Some(Self { key, family: Family::Ecdsa(digest) })
    }

    fn ed25519(point: &[u8; 32], family: Family) -> Option<Self> {
        Some(Self { key: ParsedPublicKey::new(&signature::ED25519, point).ok()?, family })
    }

    /// Returns whether a rejection by aws-lc is final. For usual keys both libraries do the same computation, and a
    /// flood of forged signatures is then rejected in half the time.
    pub(crate) fn rejects_reliably(&self) -> bool {
        match self.family {
            Family::Rsa(_, _, is_usual) => is_usual,
            Family::Ed25519Legacy | Family::Ed25519 => true,
            Family::Ecdsa(_) => false,
        }
    }

    /// Returns whether aws-lc verifies the signature; `None` if its encoding is not one that aws-lc supports.
    pub(crate) fn verifies(&self, digest: &Digest, signature: SignatureValue<'_>) -> Option<bool> {
        let mut fields = Fields(signature.material);
        let digest = digest.as_bytes();
        match self.family {
            Family::Rsa(length, algorithm, _) => {
                let value = fields.mpi()?;
                let mut bytes = [0; MAX_RSA_BYTES];
                let bytes = &mut bytes[..length];
                bytes[length.checked_sub(value.len())?..].copy_from_slice(value);
                let digest = digest::Digest::import_less_safe(digest, algorithm).ok()?;
                Some(self.key.verify_digest_sig(&digest, bytes).is_ok())
            }
            Family::Ecdsa(algorithm) => {
                let signature = der_sequence(fields.mpi()?, fields.mpi()?)?;
                let digest = digest::Digest::import_less_safe(digest, algorithm).ok()?;
                Some(self.key.verify_digest_sig(&digest, signature.as_bytes()).is_ok())
            }
            Family::Ed25519Legacy => {
                let mut bytes = [0; 64];
                bytes[..32].copy_from_slice(&padded::<32>(fields.mpi()?)?);
                bytes[32..].copy_from_slice(&padded::<32>(fields.mpi()?)?);
                Some(self.key.verify_sig(digest, &bytes).is_ok())
            }
            Family::Ed25519 => Some(self.key.verify_sig(digest, fields.bytes::<64>()?).is_ok()),
        }
    }
}

/// The largest RSA modulus that aws-lc's parameters accept, in bytes.
const MAX_RSA_BYTES: usize = 8192 / 8;

enum Curve {
    P256,
    P384,
    P521,
}

impl Curve {
    fn from_oid(oid: &[u8]) -> Option<Self> {
        match oid {
            [0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7] => Some(Self::P256),
            [0x2b, 0x81, 4, 0, 0x22] => Some(Self::P384),
            [0x2b, 0x81, 4, 0, 0x23] => Some(Self::P521),
            _ => None,
        }
    }

    /// Returns whether bytes are a point in the uncompressed or the compressed form (SEC 1, 2.3.3).
    fn has_form_of_point(&self, bytes: &[u8]) -> bool {
        let size = match self {
            Self::P256 => 32,
            Self::P384 => 48,
            Self::P521 => 66,
        };
        match bytes {
            [4, coordinates @ ..] => coordinates.len() == 2 * size,
            [2 | 3, coordinate @ ..] => coordinate.len() == size,
            _ => false,
        }
    }

    fn with(
        &self,
        hash: HashAlgorithm,
    ) -> Option<(&'static dyn VerificationAlgorithm, &'static digest::Algorithm)> {
        let [sha256, sha384, sha512]: [&'static dyn VerificationAlgorithm; 3] = match self {
            Self::P256 => [&ECDSA_P256_SHA256_ASN1, &ECDSA_P256_SHA384_ASN1, &ECDSA_P256_SHA512_ASN1],
            Self::P384 => [&ECDSA_P384_SHA256_ASN1, &ECDSA_P384_SHA384_ASN1, &ECDSA_P384_SHA512_ASN1],
            Self::P521 => [&ECDSA_P521_SHA256_ASN1, &ECDSA_P521_SHA384_ASN1, &ECDSA_P521_SHA512_ASN1],
        };
        match hash {
            HashAlgorithm::SHA256 => Some((sha256, &digest::SHA256)),
            HashAlgorithm::SHA384 => Some((sha384, &digest::SHA384)),
            HashAlgorithm::SHA512 => Some((sha512, &digest::SHA512)),
            _ => None,
        }
    }
}

/// An ECDSA signature in DER: a sequence of two integers.
struct DerSequence {
    bytes: [u8; 3 + 2 * (2 + 67)],
    len: usize,
}

impl DerSequence {
    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    fn push_integer(&mut self, value: &[u8]) {
        let sign = needs_sign(value);
        self.push(&[2, value.len() as u8 + u8::from(sign)]);
        if sign {
            self.push(&[0]);
        }
        self.push(value);
    }
}

fn needs_sign(value: &[u8]) -> bool {
    value.first().is_none_or(|first| first & 0x80 != 0)
}

/// Encodes r and s, which have no leading zeros, in DER; `None` if one is longer than for any supported curve.
fn der_sequence(r: &[u8], s: &[u8]) -> Option<DerSequence> {
    if r.len() > 66 || s.len() > 66 {
        return None;
    }
    let length = [r, s].iter().map(|value| 2 + value.len() + usize::from(needs_sign(value))).sum::<usize>();
    let mut der = DerSequence { bytes: [0; _], len: 0 };
    match length {
        0..0x80 => der.push(&[0x30, length as u8]),
        _ => der.push(&[0x30, 0x81, length as u8]),
    }
    der.push_integer(r);
    der.push_integer(s);
    Some(der)
}
