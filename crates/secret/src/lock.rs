//! Locks secret keys with a passphrase.

use std::time::{Duration, Instant};

use symmetric::{Aead, Cfb, Cipher, S2k, decode_count};
use verify::HashAlgorithm;
use zeroize::Zeroizing;

use crate::derive::{authenticated, derive};
use crate::protection::{IntegrityCheck, Locked};
use crate::{Passphrase, Result, SecretKey, Unlocked};

/// How a passphrase protects a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// AES-256 with a key from a repeated SHA-256 over salt and passphrase, and a SHA-1 over the secret (usage 254),
    /// which every implementation of the last twenty years reads.
    Iterated {
        /// The coded number of bytes to hash (RFC 9580, 3.7.1.3).
        count: u8,
    },
    /// AES-256 in OCB mode with a key from Argon2id (usage 253; RFC 9580).
    Argon2 {
        /// The number of passes over the memory.
        passes: u8,
        /// The number of lanes.
        lanes: u8,
        /// The binary logarithm of the memory in KiB.
        exponent: u8,
    },
}

/// The cipher of all locks.
const CIPHER: Cipher = Cipher::Aes256;

/// The mode of authenticated locks.
const MODE: Aead = Aead::Ocb;

/// The time that unlocking an iterated lock should take, as in gpg-agent.
const UNLOCK_TIME: Duration = Duration::from_millis(100);

/// The coded count below which calibration never goes: 65,536 bytes, as in gpg. The upper limit is the largest count
/// that can be coded.
const MIN_COUNT: u8 = 0x60;

impl Lock {
    /// Argon2id with the parameters that RFC 9106, section 4, recommends for little memory: 3 passes over 64 MiB in 4
    /// lanes.
    pub const ARGON2: Self = Self::Argon2 { passes: 3, lanes: 4, exponent: 16 };

    /// Returns the default for keys of a version.
    ///
    /// For version 4 it measures, in a few milliseconds, how many bytes SHA-256 hashes in a tenth of a second on this
    /// machine; the count is at least 65,536 bytes and at most the largest that can be coded (65,011,712).
    pub fn for_version(version: u8) -> Self {
        if version == 6 { Self::ARGON2 } else { Self::Iterated { count: calibrated_count() } }
    }
}

/// Measures how many bytes can be hashed in [`UNLOCK_TIME`], and returns that as a coded count.
fn calibrated_count() -> u8 {
    /// Bytes of a measurement, which takes some milliseconds.
    const SAMPLE_BYTES: u32 = 1 << 20;
    let bytes = vec![0x5a; 1 << 16];
    let measure = |()| {
        let start = Instant::now();
        let mut hasher = verify::hash::Hasher::new(HashAlgorithm::SHA256).expect("SHA-256 is always there");
        for _ in 0..SAMPLE_BYTES >> 16 {
            hasher.update(&bytes);
        }
        let _ = hasher.finish();
        start.elapsed()
    };
    // The fastest of three measurements, since other processes only slow them down.
    let fastest = [(); 3].map(measure).into_iter().min().unwrap_or(UNLOCK_TIME);
    let bytes = f64::from(SAMPLE_BYTES) * UNLOCK_TIME.as_secs_f64() / fastest.as_secs_f64().max(1e-6);
    (MIN_COUNT..u8::MAX).find(|&count| decode_count(count) as f64 >= bytes).unwrap_or(u8::MAX)
}

impl Unlocked {
    /// Returns the key locked with a passphrase and a new salt.
    ///
    /// # Errors
    ///
    /// [`Error::Random`](crate::Error::Random), and [`Error::Unsupported`](crate::Error::Unsupported) for a lock that
    /// keys of this version cannot have.
    pub fn lock(&self, passphrase: &Passphrase, lock: Lock) -> Result<SecretKey> {
        let key = self.fingerprint();
        let (check, s2k) = match lock {
            Lock::Iterated { count } => {
                (IntegrityCheck::Sha1, S2k::Iterated { hash: HashAlgorithm::SHA256, salt: random()?, count })
            }
            Lock::Argon2 { passes, lanes, exponent } => (
                IntegrityCheck::Aead(MODE.number()),
                S2k::Argon2 { salt: random()?, passes, lanes, exponent },
            ),
        };
        let locked = Locked { check, cipher: CIPHER.number(), s2k };
        let derived = derive(s2k, key, passphrase, CIPHER)?;
        let join = |iv: &[u8], data: &[u8]| {
            SecretKey::from_locked(self.role(), self.public_body(), &locked, iv, data)
        };
        if let IntegrityCheck::Aead(_) = check {
            let nonce: [u8; 15] = random()?;
            let (aead, associated) =
                authenticated(CIPHER, MODE, &derived, self.role(), self.public_body(), key)?;
            let mut data = Zeroizing::new(self.material().to_vec());
            let tag = aead.seal(&nonce, &associated, &mut data);
            join(&nonce, &[&data[..], &tag].concat())
        } else {
            let iv: [u8; 16] = random()?;
            // The SHA-1 checks the secret after unlocking.
            let digest = verify::naming::sha1(&[self.material()]);
            let mut data = Zeroizing::new([self.material(), &digest].concat());
            Cfb::new(CIPHER, &derived).encrypt(&mut { iv }, &mut data);
            join(&iv, &data)
        }
    }

    /// Returns the key locked with the default for its version, or without protection if the passphrase is empty.
    ///
    /// # Errors
    ///
    /// Those of [`lock`](Self::lock).
    pub fn locked_anew(&self, passphrase: &Passphrase) -> Result<SecretKey> {
        if passphrase.is_empty() {
            return Ok(self.plain());
        }
        self.lock(passphrase, Lock::for_version(self.fingerprint().version()))
    }
}

fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}
