//! When two signature packets are copies of one signature.

use crate::fields::Fields;
use crate::signature::Signature;
use verify::{HashAlgorithm, PublicKeyAlgorithm};

/// A signature's value: copies of a signature have the same one, whatever their unhashed subpackets say and however
/// many zeros stand before their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SignatureValue<'a> {
    hash: HashAlgorithm,
    numbers: [&'a [u8]; 2],
}

/// What true copies of a signature have in common besides its value, on which GnuPG relies alone: around the value of
/// another signature anybody can write what its maker did not sign.
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
