//! Keys from passwords (RFC 9580, 3.7).

use argon2::{Algorithm, Argon2, Params, Version};
use aws_lc_rs::digest;
use verify::HashAlgorithm;
use verify::hash::Hasher;
use zeroize::Zeroizing;

use crate::{Error, Result};

/// How a password becomes a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum S2k {
    /// Hashed once, without salt: only read.
    Simple {
        /// The hash.
        hash: HashAlgorithm,
    },
    /// Hashed once with a salt.
    Salted {
        /// The hash.
        hash: HashAlgorithm,
        /// The salt.
        salt: [u8; 8],
    },
    /// Hashed again and again with a salt.
    Iterated {
        /// The hash.
        hash: HashAlgorithm,
        /// The salt.
        salt: [u8; 8],
        /// The number of octets to hash, in the form of RFC 9580, 3.7.1.3.
        count: u8,
    },
    /// Argon2id.
    Argon2 {
        /// The salt.
        salt: [u8; 16],
        /// Passes.
        passes: u8,
        /// Lanes.
        lanes: u8,
        /// The binary logarithm of the memory in KiB.
        memory: u8,
    },
}

/// What foreign data may ask for: passes times KiB, 2 GiB of memory at most.
const MAX_ARGON2_COST: u64 = 1 << 24;
const MAX_ARGON2_MEMORY: u8 = 21;

impl S2k {
    /// Returns the iterated kind with a new salt and at least `octets` to hash.
    ///
    /// # Errors
    ///
    /// If the system gives no random numbers.
    pub fn iterated(hash: HashAlgorithm, octets: u64) -> Result<Self> {
        Ok(Self::Iterated { hash, salt: random()?, count: encode_count(octets) })
    }

    /// Returns Argon2id with 3 passes over 16 MiB in one lane.
    ///
    /// OWASP takes 3 passes over 12 MiB for as strong as its other choices. RFC 9106's 64 MiB would be most of the memory
    /// that a message may take.
    ///
    /// # Errors
    ///
    /// If the system gives no random numbers.
    pub fn argon2() -> Result<Self> {
        Ok(Self::Argon2 { salt: random()?, passes: 3, lanes: 1, memory: 14 })
    }

    /// Reads one at the beginning of `bytes`; also returns what follows.
    pub(crate) fn parse(bytes: &[u8]) -> Result<(Self, &[u8])> {
        const CUT: Error = Error::Malformed("a password's parameters are cut short");
        let (&kind, rest) = bytes.split_first().ok_or(CUT)?;
        if kind == 4 {
            let (salt, rest) = rest.split_first_chunk().ok_or(CUT)?;
            let (&[passes, lanes, memory], rest) = rest.split_first_chunk().ok_or(CUT)?;
            return Ok((Self::Argon2 { salt: *salt, passes, lanes, memory }, rest));
        }
        let (&hash, rest) = rest.split_first().ok_or(CUT)?;
        let hash = HashAlgorithm(hash);
        if kind == 0 {
            return Ok((Self::Simple { hash }, rest));
        }
        let (&salt, rest) = rest.split_first_chunk().ok_or(CUT)?;
        match (kind, rest) {
            (1, rest) => Ok((Self::Salted { hash, salt }, rest)),
            (3, [count, rest @ ..]) => Ok((Self::Iterated { hash, salt, count: *count }, rest)),
            (3, []) => Err(CUT),
            (number, _) => Err(Error::Unsupported { what: "the way from passwords to keys", number }),
        }
    }

    /// Returns its octets in a packet.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Simple { hash } => vec![0, hash.0],
            Self::Salted { hash, salt } => [&[1, hash.0], &salt[..]].concat(),
            Self::Iterated { hash, salt, count } => [&[3, hash.0], &salt[..], &[*count]].concat(),
            Self::Argon2 { salt, passes, lanes, memory } => {
                [&[4], &salt[..], &[*passes, *lanes, *memory]].concat()
            }
        }
    }

    /// Makes a key of `size` octets.
    ///
    /// # Errors
    ///
    /// If the hash is unknown, or Argon2's parameters are not allowed.
    pub fn key(&self, password: &[u8], size: usize) -> Result<Zeroizing<Vec<u8>>> {
        match self {
            Self::Simple { hash } => hashed(*hash, &[], password, 0, size),
            Self::Salted { hash, salt } => hashed(*hash, salt, password, 0, size),
            Self::Iterated { hash, salt, count } => hashed(*hash, salt, password, decode_count(*count), size),
            Self::Argon2 { salt, passes, lanes, memory } => {
                argon2(salt, *passes, *lanes, *memory, password, size)
            }
        }
    }
}

/// Returns random octets of the system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N]> {
    let mut octets = [0; N];
    getrandom::fill(&mut octets).map_err(|_| Error::Random)?;
    Ok(octets)
}

/// Returns how many octets a coded count stands for (RFC 9580, 3.7.1.3).
pub fn decode_count(count: u8) -> u64 {
    (16 + u64::from(count & 15)) << (u32::from(count >> 4) + 6)
}

/// Returns the least coded count that stands for at least `octets`.
pub fn encode_count(octets: u64) -> u8 {
    (0..=255).find(|&count| decode_count(count) >= octets).unwrap_or(255)
}

fn argon2(
    salt: &[u8],
    passes: u8,
    lanes: u8,
    memory: u8,
    password: &[u8],
    size: usize,
) -> Result<Zeroizing<Vec<u8>>> {
    const REFUSED: Error = Error::Limit("Argon2 with these parameters");
    if memory > MAX_ARGON2_MEMORY || u64::from(passes) << memory > MAX_ARGON2_COST {
        return Err(REFUSED);
    }
    let params = Params::new(1 << memory, passes.into(), lanes.into(), Some(size)).map_err(|_| REFUSED)?;
    let mut key = Zeroizing::new(vec![0; size]);
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    argon2.hash_password_into(password, salt, &mut key).map_err(|_| REFUSED)?;
    Ok(key)
}

/// Hashes salt and password, repeated up to `count` octets, at least once.
fn hashed(
    hash: HashAlgorithm,
    salt: &[u8],
    password: &[u8],
    count: u64,
    size: usize,
) -> Result<Zeroizing<Vec<u8>>> {
    let once = Zeroizing::new([salt, password].concat());
    let total = count.max(once.len() as u64);
    // Whole repetitions up to some KiB, so that the hash gets long pieces.
    let repeated = Zeroizing::new(once.repeat((32 << 10) / once.len().max(1) + 1));
    let mut key = Zeroizing::new(Vec::with_capacity(size + 64));
    for zeros in 0.. {
        if key.len() >= size {
            break;
        }
        let mut context = Hash::new(hash)?;
        context.update(&vec![0; zeros]);
        let mut left = total;
        while left > 0 {
            let piece = (repeated.len() as u64).min(left);
            context.update(&repeated[..piece as usize]);
            left -= piece;
        }
        context.finish(&mut key);
    }
    key.truncate(size);
    Ok(key)
}

/// A running hash, by the fastest library for it: nobody gains from two passwords of the same SHA-1, which need not be
/// looked for.
enum Hash {
    Fast(digest::Context),
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
                let unsupported = Error::Unsupported { what: "the hash", number: algorithm.0 };
                return Hasher::new(algorithm).map(Self::Other).ok_or(unsupported);
            }
        };
        Ok(Self::Fast(digest::Context::new(fast)))
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Fast(context) => context.update(bytes),
            Self::Other(hasher) => hasher.update(bytes),
        }
    }

    fn finish(self, out: &mut Vec<u8>) {
        match self {
            Self::Fast(context) => out.extend_from_slice(context.finish().as_ref()),
            Self::Other(hasher) => {
                out.extend_from_slice(hasher.finish().expect("only SHA-1 looks for collisions").as_bytes());
            }
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
        let ours = S2k::Argon2 { salt: [7; 16], passes: 2, lanes: 2, memory: 8 };
        let theirs = Reference::Argon2 { salt: [7; 16], t: 2, p: 2, m: 8 };
        let expected = theirs.derive_key(&"a password".into(), 32).expect("a key");
        assert_eq!(ours.key(b"a password", 32).expect("a key").as_slice(), expected.as_ref());
    }

    #[test]
    fn parameters_are_read_as_they_are_written_and_never_cost_more_than_a_limit() {
        for s2k in [
            S2k::Simple { hash: HashAlgorithm::SHA1 },
            S2k::Salted { hash: HashAlgorithm::SHA256, salt: [3; 8] },
            S2k::Iterated { hash: HashAlgorithm::SHA512, salt: [4; 8], count: 238 },
            S2k::Argon2 { salt: [5; 16], passes: 1, lanes: 4, memory: 21 },
        ] {
            let bytes = s2k.to_bytes();
            assert_eq!(S2k::parse(&bytes).expect("parameters"), (s2k, &[][..]));
            assert!((0..bytes.len()).all(|length| S2k::parse(&bytes[..length]).is_err()));
        }
        let costly = S2k::Argon2 { salt: [0; 16], passes: 255, lanes: 1, memory: 31 };
        assert!(matches!(costly.key(b"x", 16), Err(Error::Limit(_))));
        assert!(matches!(
            S2k::parse(&[2, 8, 0, 0, 0, 0, 0, 0, 0, 0]),
            Err(Error::Unsupported { number: 2, .. })
        ));
    }
}
