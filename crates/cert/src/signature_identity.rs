//! Identifies copies of a signature.

use crate::fields::Fields;
use crate::signature::Signature;
use verify::{HashAlgorithm, PublicKeyAlgorithm};

/// The value of a signature without leading zeros, which is the same in all copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SignatureValue<'a> {
    hash: HashAlgorithm,
    numbers: [&'a [u8]; 2],
}

/// The hashed content of a signature, which true copies have in common besides the value. GnuPG compares only the
/// value, around which everybody can write other content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SignedContent<'a> {
    covered: &'a [u8],
    salt: &'a [u8],
    digest_prefix: [u8; 2],
}

impl<'a> SignedContent<'a> {
    pub(crate) fn of(signature: &Signature<'a>) -> Self {
        let Signature { covered, salt, digest_prefix, .. } = *signature;
        Self { covered, salt, digest_prefix }
    }
}

impl<'a> SignatureValue<'a> {
    pub(crate) fn of(signature: &Signature<'a>) -> Self {
        let material = signature.material;
        let mut fields = Fields::new(material, "a signature");
        let mut number = || fields.number().map_or(&[][..], |number| number.bytes);
        let numbers = match signature.key_algorithm {
            algorithm if algorithm.is_rsa() => [number(), &[]],
            PublicKeyAlgorithm::DSA
            | PublicKeyAlgorithm::ECDSA
            | PublicKeyAlgorithm::EDDSA_LEGACY
            | PublicKeyAlgorithm::ELGAMAL_BOTH => [number(), number()],
            _ => [material, &[]],
        };
        Self { hash: signature.hash_algorithm, numbers }
    }
}
