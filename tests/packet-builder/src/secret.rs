//! What makes signatures.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RSA_PKCS1_SHA256,
    RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RsaKeyPair,
};

use crate::{Hash, mpi};

/// The numbers of an RSA key, as PKCS #1 orders them.
#[derive(Clone, Debug)]
pub(crate) struct RsaNumbers {
    /// n, e, d, p, q, d mod p - 1, d mod q - 1, 1/q mod p.
    numbers: Vec<Vec<u8>>,
}

impl RsaNumbers {
    /// Reads the numbers of an `RSAPrivateKey` (RFC 8017, A.1.2).
    pub(crate) fn of(der: &[u8]) -> RsaNumbers {
        let (mut rest, _) = element(der);
        let mut numbers = Vec::new();
        while !rest.is_empty() {
            let (number, after) = element(rest);
            numbers.push(number.to_vec());
            rest = after;
        }
        numbers.remove(0); // The version.
        RsaNumbers { numbers }
    }

    /// Returns the public fields of a key packet.
    pub(crate) fn public(&self) -> Vec<u8> {
        [mpi(&self.numbers[0]), mpi(&self.numbers[1])].concat()
    }

    /// Returns the secret fields of a key packet: d, p, q, u. OpenPGP's p is the other prime, so that u is 1/q mod p.
    pub(crate) fn secret(&self) -> Vec<u8> {
        [2, 4, 3, 7].iter().flat_map(|&place: &usize| mpi(&self.numbers[place])).collect()
    }
}

/// Splits DER into the content of its first element and what is after it.
fn element(der: &[u8]) -> (&[u8], &[u8]) {
    let (header, length) = match der[1] {
        short @ 0..0x80 => (2, short as usize),
        long => {
            let count = (long & 0x7F) as usize;
            (2 + count, der[2..2 + count].iter().fold(0, |sum, &byte| sum << 8 | byte as usize))
        }
    };
    (&der[header..header + length], &der[header + length..])
}

/// The secret part of a key.
#[derive(Clone, Debug)]
pub(crate) enum Secret {
    /// There is none: signatures are forged.
    None,
    /// The seed of an Ed25519 key.
    Ed25519([u8; 32]),
    /// An `RSAPrivateKey`.
    Rsa(&'static [u8]),
    /// An `ECPrivateKey` on P-256.
    P256(&'static [u8]),
}

impl Secret {
    /// Returns the signature's fields over `data`, which `hash` digests.
    ///
    /// # Panics
    ///
    /// If there is no secret part, or RSA or ECDSA does not know the digest (Ed25519 signs any).
    pub(crate) fn sign(&self, native: bool, hash: Hash, data: &[u8]) -> Vec<u8> {
        match self {
            Secret::None => panic!("a key without a secret part makes no real signatures"),
            Secret::Ed25519(seed) => {
                let signature = ed25519(seed).sign(&hash.digest(data));
                if native { signature.as_ref().to_vec() } else { halves(signature.as_ref()) }
            }
            Secret::Rsa(der) => rsa(der, hash, data),
            Secret::P256(der) => {
                assert_eq!(hash, Hash::SHA256, "ECDSA is written with SHA-256 only");
                let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
                let pair = EcdsaKeyPair::from_private_key_der(algorithm, der).expect("a whole key");
                halves(pair.sign(&SystemRandom::new(), data).expect("it can sign").as_ref())
            }
        }
    }
}

/// Returns the two numbers of a signature, each half of its bytes.
fn halves(signature: &[u8]) -> Vec<u8> {
    let (r, s) = signature.split_at(signature.len() / 2);
    [mpi(r), mpi(s)].concat()
}

fn rsa(der: &[u8], hash: Hash, data: &[u8]) -> Vec<u8> {
    let padding = match hash {
        Hash::SHA256 => &RSA_PKCS1_SHA256,
        Hash::SHA384 => &RSA_PKCS1_SHA384,
        Hash::SHA512 => &RSA_PKCS1_SHA512,
        other => panic!("RSA with {other:?} is not known"),
    };
    let pair = RsaKeyPair::from_der(der).expect("a whole key");
    let mut signature = vec![0; pair.public_modulus_len()];
    pair.sign(padding, &SystemRandom::new(), data, &mut signature).expect("it can sign");
    mpi(&signature)
}

/// Returns the key pair of a seed.
pub(crate) fn ed25519(seed: &[u8; 32]) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(seed).expect("any 32 bytes are a seed")
}

/// Returns the public key of a seed.
pub(crate) fn ed25519_public(seed: &[u8; 32]) -> Vec<u8> {
    ed25519(seed).public_key().as_ref().to_vec()
}

/// Returns the public point of an `ECPrivateKey` on P-256.
pub(crate) fn p256_public(der: &[u8]) -> Vec<u8> {
    let pair =
        EcdsaKeyPair::from_private_key_der(&ECDSA_P256_SHA256_FIXED_SIGNING, der).expect("a whole key");
    pair.public_key().as_ref().to_vec()
}
