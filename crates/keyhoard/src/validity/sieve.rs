//! Telling apart quickly the keys of which nothing is known, which are most in a big database.

use cert::Fingerprint;

/// So many bits for each key: of sixteen others one is taken for known.
const BITS: usize = 16;

/// A set of keys that may seem to have more than it has.
pub(super) struct Sieve {
    /// By the last bits of fingerprints: whoever makes these alike only has them looked up as others are.
    bits: Vec<u64>,
}

impl Sieve {
    pub(super) fn new<'k>(keys: impl Iterator<Item = &'k Fingerprint> + Clone) -> Self {
        let words = (keys.clone().count() * BITS / 64).next_power_of_two();
        let mut sieve = Self { bits: vec![0; words] };
        for key in keys {
            let (word, bit) = sieve.place(key);
            sieve.bits[word] |= bit;
        }
        sieve
    }

    /// Says whether it may have a key; what it has not, it certainly has not.
    pub(super) fn may_have(&self, key: &Fingerprint) -> bool {
        let (word, bit) = self.place(key);
        self.bits[word] & bit != 0
    }

    fn place(&self, key: &Fingerprint) -> (usize, u64) {
        let end = key.as_bytes().last_chunk().map_or(0, |end| u64::from_be_bytes(*end));
        ((end >> 6) as usize & (self.bits.len() - 1), 1 << (end & 63))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(numbers: std::ops::Range<u16>) -> Vec<Fingerprint> {
        let key = |number: u16| {
            let mut bytes = [7; 20];
            bytes[12..]
                .copy_from_slice(&(u64::from(number) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
            Fingerprint::V4(bytes)
        };
        numbers.map(key).collect()
    }

    #[test]
    fn it_has_every_key_that_went_in_and_few_others() {
        let (known, others) = (keys(0..1000), keys(1000..5000));
        let sieve = Sieve::new(known.iter());
        assert!(known.iter().all(|key| sieve.may_have(key)));
        let mistaken = others.iter().filter(|key| sieve.may_have(key)).count();
        assert!(mistaken < others.len() / 8, "{mistaken} of {}", others.len());
    }

    #[test]
    fn an_empty_one_has_no_key() {
        let sieve = Sieve::new([].iter());
        assert!(!keys(0..1000).iter().any(|key| sieve.may_have(key)));
    }
}
