//! String-to-key: keys derived from passwords (RFC 9580, 3.7).

use aws_lc_rs::digest;
use libcrypto::argon2::{Cost, argon2id};
use verify::HashAlgorithm;
use verify::hash::Hasher;
use zeroize::Zeroizing;

use crate::error::{MAX_ARGON2_EXPONENT, MAX_HASHED};
use crate::{Error, Result};

/// How a key is derived from a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum S2k {
    /// One hash without salt; never written.
    Simple {
        /// The hash algorithm.
        hash: HashAlgorithm,
    },
    /// One hash with a salt.
    Salted {
        /// The hash algorithm.
        hash: HashAlgorithm,
        /// The salt.
        salt: [u8; 8],
    },
    /// A hash over the repeated salt and password.
    Iterated {
        /// The hash algorithm.
        hash: HashAlgorithm,
        /// The salt.
        salt: [u8; 8],
        /// The coded number of bytes to hash (RFC 9580, 3.7.1.3).
        count: u8,
    },
    /// Argon2id.
    Argon2 {
        /// The salt.
        salt: [u8; 16],
        /// The number of passes.
        passes: u8,
        /// The number of lanes.
        lanes: u8,
        /// The binary logarithm of the memory in KiB.
        exponent: u8,
    },
}

/// The most memory that Argon2 may fill for one key, all passes together, in KiB: 8 passes over the largest memory.
pub const MAX_ARGON2_WORK: u64 = 8 << MAX_ARGON2_EXPONENT;

impl S2k {
    /// Returns the iterated kind with a new salt, which hashes at least `bytes` bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Random`].
    pub fn iterated(hash: HashAlgorithm, bytes: u64) -> Result<Self> {
        Ok(Self::Iterated { hash, salt: random()?, count: encode_count(bytes) })
    }

    /// Returns Argon2id with 3 passes over 16 MiB in one lane.
    ///
    /// OWASP considers 3 passes over 12 MiB as strong as its other recommendations. The 64 MiB that RFC 9106 recommends
    /// would be most of the memory that processing a message may take.
    ///
    /// # Errors
    ///
    /// [`Error::Random`].
    pub fn argon2() -> Result<Self> {
        Ok(Self::Argon2 { salt: random()?, passes: 3, lanes: 1, exponent: 14 })
    }

    /// Parses the specifier at the beginning of `bytes`; also returns the bytes after it.
    ///
    /// # Errors
    ///
    /// [`Error::CutShort`] and [`Error::UnknownS2k`].
    pub fn parse(bytes: &[u8]) -> Result<(Self, &[u8])> {
        const CUT_SHORT: Error = Error::CutShort;
        let (&kind, rest) = bytes.split_first().ok_or(CUT_SHORT)?;
        if !matches!(kind, 0 | 1 | 3 | 4) {
            return Err(Error::UnknownS2k(kind));
        }
        if kind == 4 {
            let (&salt, rest) = rest.split_first_chunk().ok_or(CUT_SHORT)?;
            let (&[passes, lanes, exponent], rest) = rest.split_first_chunk().ok_or(CUT_SHORT)?;
            return Ok((Self::Argon2 { salt, passes, lanes, exponent }, rest));
        }
        let (&hash, rest) = rest.split_first().ok_or(CUT_SHORT)?;
        let hash = HashAlgorithm(hash);
        if kind == 0 {
            return Ok((Self::Simple { hash }, rest));
        }
        let (&salt, rest) = rest.split_first_chunk().ok_or(CUT_SHORT)?;
        if kind == 1 {
            return Ok((Self::Salted { hash, salt }, rest));
        }
        let (&count, rest) = rest.split_first().ok_or(CUT_SHORT)?;
        Ok((Self::Iterated { hash, salt, count }, rest))
    }

    /// Returns the specifier as it is written in packets.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Simple { hash } => vec![0, hash.0],
            Self::Salted { hash, salt } => [&[1, hash.0], &salt[..]].concat(),
            Self::Iterated { hash, salt, count } => [&[3, hash.0], &salt[..], &[*count]].concat(),
            Self::Argon2 { salt, passes, lanes, exponent } => {
                [&[4], &salt[..], &[*passes, *lanes, *exponent]].concat()
            }
        }
    }

    /// Returns how much memory Argon2 fills, all passes together, in KiB; 0 for the other kinds.
    pub fn argon2_work(&self) -> u64 {
        match *self {
            Self::Argon2 { passes, exponent, .. } => {
                let memory = 1u64.checked_shl(exponent.into()).unwrap_or(u64::MAX);
                memory.saturating_mul(passes.into())
            }
            Self::Simple { .. } | Self::Salted { .. } | Self::Iterated { .. } => 0,
        }
    }

    /// Derives a key of `size` bytes.
    ///
    /// # Errors
    ///
    /// Those of [`fill`](Self::fill).
    pub fn key(&self, password: &[u8], size: usize) -> Result<Zeroizing<Vec<u8>>> {
        let mut key = Zeroizing::new(vec![0; size]);
        self.fill(password, &mut key)?;
        Ok(key)
    }

    /// Derives a key that fills `key` as the iterated kind does, hashing any number of bytes: gpg-agent's files have
    /// numbers that cannot be coded in a byte.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownHash`], and [`Error::TooMuchToHash`] beyond the limit.
    pub fn fill_iterated(
        hash: HashAlgorithm,
        salt: &[u8; 8],
        bytes: u64,
        password: &[u8],
        key: &mut [u8],
    ) -> Result<()> {
        if bytes > MAX_HASHED {
            return Err(Error::TooMuchToHash(bytes));
        }
        hash_repeatedly(hash, salt, password, bytes, key)
    }

    /// Derives a key that fills `key`.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownHash`]; [`Error::ImpossibleArgon2`], [`Error::TooExpensive`] beyond the limits, and
    /// [`Error::Memory`].
    pub fn fill(&self, password: &[u8], key: &mut [u8]) -> Result<()> {
        match *self {
            Self::Simple { hash } => hash_repeatedly(hash, &[], password, 0, key),
            Self::Salted { hash, salt } => hash_repeatedly(hash, &salt, password, 0, key),
            Self::Iterated { hash, salt, count } => {
                hash_repeatedly(hash, &salt, password, decode_count(count), key)
            }
            Self::Argon2 { passes, exponent, .. }
                if exponent > MAX_ARGON2_EXPONENT || self.argon2_work() > MAX_ARGON2_WORK =>
            {
                Err(Error::TooExpensive { exponent, passes })
            }
            Self::Argon2 { salt, passes, lanes, exponent } => {
                argon2(&salt, passes, lanes, 1 << exponent, password, key)
            }
        }
    }
}

/// Returns random bytes from the system.
///
/// # Errors
///
/// [`Error::Random`].
pub fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| Error::Random)?;
    Ok(bytes)
}

/// Decodes a coded number of bytes (RFC 9580, 3.7.1.3).
pub fn decode_count(count: u8) -> u64 {
    (16 + u64::from(count & 15)) << (u32::from(count >> 4) + 6)
}

/// Returns the smallest coded number that stands for at least `bytes` bytes; the largest one if none does.
pub fn encode_count(bytes: u64) -> u8 {
    (0..=255).find(|&count| decode_count(count) >= bytes).unwrap_or(255)
}

fn argon2(salt: &[u8], passes: u8, lanes: u8, memory: u32, password: &[u8], key: &mut [u8]) -> Result<()> {
    if passes == 0 || lanes == 0 || memory < 8 * u32::from(lanes) {
        return Err(Error::ImpossibleArgon2);
    }
    let cost = Cost { passes: passes.into(), lanes: lanes.into(), memory };
    argon2id(password, salt, cost, key).map_err(|_| Error::Memory)
}

/// Hashes salt and password, repeated up to `count` bytes, at least once. For a key longer than a digest, further
/// digests follow, each over one more zero byte before the salt (RFC 9580, 3.7.1.1 to 3.7.1.3).
fn hash_repeatedly(
    hash: HashAlgorithm,
    salt: &[u8],
    password: &[u8],
    count: u64,
    key: &mut [u8],
) -> Result<()> {
    let salted = Zeroizing::new([salt, password].concat());
    let total = count.max(salted.len() as u64);
    // Several KiB of whole repetitions, since hashing is faster with long input.
    let repeated = Zeroizing::new(salted.repeat((32 << 10) / salted.len().max(1) + 1));
    let (mut filled, mut zeros) = (0, 0);
    while filled < key.len() {
        let mut context = Hash::new(hash)?;
        context.update(&vec![0; zeros]);
        let mut left = total;
        while left > 0 {
            let piece = (repeated.len() as u64).min(left);
            context.update(&repeated[..piece as usize]);
            left -= piece;
        }
        filled += context.finish(&mut key[filled..]);
        zeros += 1;
    }
    Ok(())
}

/// A running hash, by the fastest library for the algorithm. SHA-1 is computed without collision detection, since two
/// passwords with the same digest are of no use to an attacker.
enum Hash {
    Aws(digest::Context),
    Other(Hasher),
}

impl Hash {
    fn new(algorithm: HashAlgorithm) -> Result<Self> {
        let fast = match algorithm {
            HashAlgorithm::SHA1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
            HashAlgorithm::SHA224 => &digest::SHA224,
            HashAlgorithm::SHA256 => &digest::SHA256,
            HashAlgorithm::SHA384 => &digest::SHA384,
            HashAlgorithm::SHA512 => &digest::SHA512,
            _ => {
                return Hasher::new(algorithm).map(Self::Other).ok_or(Error::UnknownHash(algorithm));
            }
        };
        Ok(Self::Aws(digest::Context::new(fast)))
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Aws(context) => context.update(bytes),
            Self::Other(hasher) => hasher.update(bytes),
        }
    }

    /// Copies as much of the digest to `out` as fits, and returns how many bytes that is.
    fn finish(self, out: &mut [u8]) -> usize {
        let mut copy = |digest: &[u8]| {
            let count = digest.len().min(out.len());
            out[..count].copy_from_slice(&digest[..count]);
            count
        };
        match self {
            Self::Aws(context) => copy(context.finish().as_ref()),
            Self::Other(hasher) => copy(hasher.finish().expect("only SHA-1 looks for collisions").as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequoia_openpgp::crypto::S2K as Reference;

    #[test]
    fn counts_are_coded_as_the_rfc_says() {
        assert_eq!((decode_count(0), decode_count(0x60), decode_count(255)), (1024, 65536, 65_011_712));
        assert_eq!(
            (encode_count(0), encode_count(65_536), encode_count(65_537), encode_count(u64::MAX)),
            (0, 0x60, 0x61, 255)
        );
    }

    #[test]
    #[allow(deprecated)]
    fn every_kind_makes_the_keys_that_another_implementation_makes() {
        let salt = *b"saltsalt";
        for hash in [1, 2, 3, 8, 9, 10, 11].map(HashAlgorithm) {
            let theirs = sequoia_openpgp::types::HashAlgorithm::from(hash.0);
            for size in [8, 16] {
                for (ours, reference) in [
                    (S2k::Simple { hash }, Reference::Simple { hash: theirs }),
                    (S2k::Salted { hash, salt }, Reference::Salted { hash: theirs, salt }),
                    (
                        S2k::Iterated { hash, salt, count: 0x30 },
                        Reference::Iterated { hash: theirs, salt, hash_bytes: decode_count(0x30) as u32 },
                    ),
                ] {
                    let expected = reference.derive_key(&"a password".into(), size).expect("a key");
                    assert_eq!(
                        ours.key(b"a password", size).expect("a key").as_slice(),
                        expected.as_ref(),
                        "{ours:?}"
                    );
                }
            }
        }
        for (passes, lanes, exponent, size) in [(2, 2, 8, 32), (1, 1, 3, 16), (3, 4, 5, 24), (1, 7, 10, 64)] {
            for password in ["", "a password"] {
                let ours = S2k::Argon2 { salt: [7; 16], passes, lanes, exponent };
                let theirs = Reference::Argon2 { salt: [7; 16], t: passes, p: lanes, m: exponent };
                let expected = theirs.derive_key(&password.into(), size).expect("a key");
                let key = ours.key(password.as_bytes(), size).expect("a key");
                assert_eq!(key.as_slice(), expected.as_ref(), "{ours:?}");
            }
        }
    }

    #[test]
    fn a_key_longer_than_a_digest_goes_on_with_that_of_a_zero_before_the_password() {
        let s2k = S2k::Simple { hash: HashAlgorithm::SHA1 };
        let key = s2k.key(b"a password", 50).expect("a key");
        assert_eq!(key[..20], *s2k.key(b"a password", 20).expect("a key"));
        assert_eq!(key[20..40], *s2k.key(b"\0a password", 20).expect("a key"));
        assert_eq!(key[40..], *s2k.key(b"\0\0a password", 10).expect("a key"));
    }

    #[test]
    fn parameters_are_read_as_they_are_written_and_never_cost_more_than_a_limit() {
        for s2k in [
            S2k::Simple { hash: HashAlgorithm::SHA1 },
            S2k::Salted { hash: HashAlgorithm::SHA256, salt: [3; 8] },
            S2k::Iterated { hash: HashAlgorithm::SHA512, salt: [4; 8], count: 238 },
            S2k::Argon2 { salt: [5; 16], passes: 1, lanes: 4, exponent: 21 },
        ] {
            let bytes = s2k.to_bytes();
            assert_eq!(S2k::parse(&bytes).expect("parameters"), (s2k, &[][..]));
            assert!((0..bytes.len()).all(|length| S2k::parse(&bytes[..length]).is_err()));
        }
        let costly = S2k::Argon2 { salt: [0; 16], passes: 255, lanes: 1, exponent: 31 };
        assert_eq!(costly.key(b"x", 16), Err(Error::TooExpensive { exponent: 31, passes: 255 }));
        for (passes, lanes) in [(0, 1), (1, 0), (1, 64)] {
            let impossible = S2k::Argon2 { salt: [0; 16], passes, lanes, exponent: 8 };
            assert_eq!(impossible.key(b"x", 16), Err(Error::ImpossibleArgon2));
        }
        assert_eq!(S2k::parse(&[2, 8, 0, 0, 0, 0, 0, 0, 0, 0]), Err(Error::UnknownS2k(2)));
    }
}
