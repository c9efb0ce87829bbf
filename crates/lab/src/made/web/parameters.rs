//! The parameters of a web of trust.

use crate::made::key::Key;
use crate::made::seeded_random::SeededRandom;

/// The parameters of a web of trust, which determine every byte of it.
///
/// Key 0 is trusted ultimately. Every key has some certifications by keys a little before it, so that long chains
/// lead away from key 0, some by any key. Key 1, which key 0 has certified, has certified two of five keys, and has an
/// undefined owner trust.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Web {
    /// How many keys, at least 2
    #[arg(value_parser = clap::value_parser!(u64).range(2..))]
    pub keys: u64,
    /// How many certifications a key has on average
    #[arg(long, default_value_t = 10)]
    pub certifications: u64,
    /// How many keys have an owner trust
    // They are the first ones.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    pub introducers: u64,
    /// Another number makes other keys
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

impl Web {
    /// The current time of the web, in seconds since 1970: the beginning of 2026.
    pub const NOW: u64 = 1_767_225_600;

    /// Returns a small web, of 5 to 200 keys.
    pub fn small(seed: u64) -> Web {
        let mut random = SeededRandom::new(seed, 0, "small web");
        let most = random.one_of(&[12, 30, 60, 200]);
        let keys = 5 + random.below(most - 4);
        Web {
            keys,
            certifications: 2 + random.below(8),
            introducers: keys.div_ceil(1 + random.below(3)),
            seed,
        }
    }

    /// Returns the fingerprint of the key with this number in upper-case hexadecimal.
    pub fn fingerprint(&self, number: u64) -> String {
        Key::new(self.seed, number).fingerprint_text()
    }

    /// Returns the owner trust as `gpg --import-ownertrust` reads it. Some keys are disabled.
    pub fn owner_trust(&self) -> String {
        (0..self.introducers.min(self.keys))
            .map(|number| format!("{}:{}:\n", self.fingerprint(number), self.owner_trust_of(number)))
            .collect()
    }

    /// Chooses an owner trust: GnuPG's values (undefined 2, never 3, marginal 4, full 5, ultimate 6) and flag
    /// (disabled 128).
    fn owner_trust_of(&self, number: u64) -> u8 {
        let mut random = SeededRandom::new(self.seed, number, "owner trust");
        let trust = match number {
            0 => 6,
            1 => 2,
            _ => random.one_of(&[2, 3, 4, 4, 4, 4, 4, 5, 5, 5, 5, 6]),
        };
        if random.once_in(12) { trust | 128 } else { trust }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_webs_have_5_to_200_keys() {
        let sizes: Vec<u64> = (0..2000).map(|seed| Web::small(seed).keys).collect();
        assert_eq!((sizes.iter().min(), sizes.iter().max()), (Some(&5), Some(&200)));
    }

    #[test]
    fn key_0_is_trusted_ultimately_and_only_introducers_have_owner_trust() {
        let web = Web { keys: 50, certifications: 3, introducers: 20, seed: 9 };
        let text = web.owner_trust();
        assert_eq!(text.lines().count(), 20);
        let (fingerprint, trust) = text.lines().next().unwrap().split_once(':').unwrap();
        assert_eq!(fingerprint, web.fingerprint(0));
        assert_eq!(trust.trim_end_matches(':').parse::<u8>().unwrap() & 127, 6);
    }
}
