//! The hash algorithms of OpenPGP.
//!
//! [`Hasher`] computes the digests that signatures are made over; its SHA-1 detects collision attacks.

use crate::HashAlgorithm;
use aws_lc_rs::digest;
use openssl::hash::MessageDigest;
use sha1_checked::Digest as _;

/// A finished digest.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Digest {
    bytes: [u8; 64],
    len: u8,
}

impl Digest {
    /// Returns the bytes of the digest.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Returns the first two bytes of the digest, which every signature contains as a quick check.
    pub fn prefix(&self) -> [u8; 2] {
        [self.bytes[0], self.bytes[1]]
    }

    fn new(digest: &[u8]) -> Self {
        let mut bytes = [0; 64];
        bytes[..digest.len()].copy_from_slice(digest);
        Self { bytes, len: digest.len() as u8 }
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A digest that is being computed; a clone continues from the same state.
#[derive(Clone)]
pub struct Hasher(State);

#[derive(Clone)]
enum State {
    /// SHA-2 and SHA-3.
    Aws(digest::Context),
    Sha1(Box<sha1_checked::Sha1>),
    /// MD5 and RIPEMD-160, for which OpenSSL is initialised.
    Openssl(openssl::hash::Hasher),
}

impl Hasher {
    /// Starts a digest; `None` for an unknown algorithm.
    pub fn new(algorithm: HashAlgorithm) -> Option<Self> {
        let state = match algorithm {
            HashAlgorithm::MD5 => openssl_state(MessageDigest::md5()),
            HashAlgorithm::SHA1 => {
                State::Sha1(Box::new(sha1_checked::Sha1::builder().safe_hash(false).build()))
            }
            HashAlgorithm::RIPEMD160 => openssl_state(MessageDigest::ripemd160()),
            _ => State::Aws(digest::Context::new(aws_algorithm(algorithm)?)),
        };
        Some(Self(state))
    }

    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            State::Aws(context) => context.update(bytes),
            State::Sha1(context) => context.update(bytes),
            State::Openssl(context) => context.update(bytes).expect(MEMORY),
        }
    }

    /// Finishes the digest; `None` if the input of SHA-1 looks like a collision attack.
    pub fn finish(self) -> Option<Digest> {
        match self.0 {
            State::Aws(context) => Some(Digest::new(context.finish().as_ref())),
            State::Sha1(context) => {
                let result = context.try_finalize();
                (!result.has_collision()).then(|| Digest::new(result.hash()))
            }
            State::Openssl(mut context) => Some(Digest::new(&context.finish().expect(MEMORY))),
        }
    }
}

/// What OpenSSL's digests need and nothing else: they take any bytes.
const MEMORY: &str = "memory for a digest";

fn openssl_state(algorithm: MessageDigest) -> State {
    libcrypto::initialise();
    State::Openssl(openssl::hash::Hasher::new(algorithm).expect(MEMORY))
}

/// Returns aws-lc's implementation of a SHA-2 or SHA-3 algorithm.
fn aws_algorithm(algorithm: HashAlgorithm) -> Option<&'static digest::Algorithm> {
    match algorithm {
        HashAlgorithm::SHA224 => Some(&digest::SHA224),
        HashAlgorithm::SHA256 => Some(&digest::SHA256),
        HashAlgorithm::SHA384 => Some(&digest::SHA384),
        HashAlgorithm::SHA512 => Some(&digest::SHA512),
        HashAlgorithm::SHA3_256 => Some(&digest::SHA3_256),
        HashAlgorithm::SHA3_512 => Some(&digest::SHA3_512),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn hashed(algorithm: HashAlgorithm, bytes: &[u8]) -> String {
        let mut hasher = Hasher::new(algorithm).expect("a known algorithm");
        hasher.update(bytes);
        hex(hasher.finish().expect("no collision").as_bytes())
    }

    #[test]
    fn every_digest_of_rfc_9580_gives_its_published_value_for_abc() {
        let published = [
            (HashAlgorithm::MD5, "900150983cd24fb0d6963f7d28e17f72"),
            (HashAlgorithm::SHA1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (HashAlgorithm::RIPEMD160, "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"),
            (HashAlgorithm::SHA224, "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
            (HashAlgorithm::SHA256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                HashAlgorithm::SHA384,
                "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed\
                 8086072ba1e7cc2358baeca134c825a7",
            ),
            (
                HashAlgorithm::SHA512,
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
                 2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            ),
            (HashAlgorithm::SHA3_256, "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"),
            (
                HashAlgorithm::SHA3_512,
                "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e\
                 10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0",
            ),
        ];
        for (algorithm, value) in published {
            assert_eq!(hashed(algorithm, b"abc"), value, "{algorithm:?}");
        }
        assert!(Hasher::new(HashAlgorithm(99)).is_none());
    }

    #[test]
    fn md5_and_ripemd160_agree_with_rustcrypto_at_every_length() {
        for bytes in (0..200).map(|length| vec![length; length.into()]) {
            assert_eq!(hashed(HashAlgorithm::MD5, &bytes), hex(&md5::Md5::digest(&bytes)));
            assert_eq!(hashed(HashAlgorithm::RIPEMD160, &bytes), hex(&ripemd::Ripemd160::digest(&bytes)));
        }
    }

    #[test]
    fn a_clone_goes_on_from_the_shared_prefix() {
        for algorithm in
            [HashAlgorithm::SHA1, HashAlgorithm::SHA256, HashAlgorithm::MD5, HashAlgorithm::RIPEMD160]
        {
            let mut prefix = Hasher::new(algorithm).expect("a known algorithm");
            prefix.update(&[7; 1000]);
            for suffix in [&b"one"[..], b"two"] {
                let mut whole = prefix.clone();
                whole.update(suffix);
                let digest = whole.finish().expect("no collision");
                assert_eq!(hex(digest.as_bytes()), hashed(algorithm, &[&[7; 1000], suffix].concat()));
            }
        }
    }

    /// The beginnings of the two PDF files of the SHAttered attack, which have the same SHA-1.
    const SHATTERED: [&[u8]; 2] =
        [include_bytes!("testdata/shattered-1.bin"), include_bytes!("testdata/shattered-2.bin")];

    #[test]
    fn sha1_gives_no_digest_of_a_collision_attack() {
        assert_eq!(crate::naming::sha1(&[SHATTERED[0]]), crate::naming::sha1(&[SHATTERED[1]]));
        for bytes in SHATTERED {
            let mut hasher = Hasher::new(HashAlgorithm::SHA1).expect("a known algorithm");
            hasher.update(bytes);
            assert_eq!(hasher.finish(), None);
        }
    }
}
