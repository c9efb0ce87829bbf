//! Reproducible random numbers.

use aws_lc_rs::digest::{SHA256, digest};

/// A generator of random numbers, seeded with a number, a certificate's number and a purpose.
#[derive(Debug)]
pub(super) struct SeededRandom {
    state: [u8; 32],
}

impl SeededRandom {
    pub(super) fn new(seed: u64, number: u64, purpose: &str) -> SeededRandom {
        let mut bytes = Vec::with_capacity(16 + purpose.len());
        bytes.extend_from_slice(&seed.to_be_bytes());
        bytes.extend_from_slice(&number.to_be_bytes());
        bytes.extend_from_slice(purpose.as_bytes());
        SeededRandom { state: hash(&bytes) }
    }

    /// Returns 32 random bytes.
    pub(super) fn bytes(&mut self) -> [u8; 32] {
        let bytes = self.state;
        self.state = hash(&bytes);
        bytes
    }

    /// Returns a number below `bound`, which is not 0.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        let bytes = self.bytes();
        let (first, _) = bytes.split_first_chunk().expect("32 bytes begin with 8");
        u64::from_be_bytes(*first) % bound
    }

    /// Returns one of `choices`, which are not empty.
    pub(super) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// Returns true with a probability of 1 in `times`.
    pub(super) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}

fn hash(bytes: &[u8]) -> [u8; 32] {
    digest(&SHA256, bytes).as_ref().try_into().expect("SHA-256 has 32 bytes")
}
