//! Putting a passphrase on a key.

use std::time::{Duration, Instant};

use symmetric::{Aead, AeadKey, Cfb, Cipher, S2k, decode_count};
use verify::HashAlgorithm;
use zeroize::Zeroizing;

use crate::derive::{derive, expand, refused};
use crate::protection::{Check, Locked, write_locked};
use crate::unlock::AeadContext;
use crate::{Error, Passphrase, Result, SecretKey, Unlocked};

/// How a passphrase is put on a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// A key for AES-256 from a repeated SHA-256 over salt and passphrase, the secret checked by a SHA-1 (usage 254):
    /// every implementation of the last twenty years reads it.
    Iterated {
        /// How many bytes are hashed, coded (RFC 9580, 3.7.1.3).
        count: u8,
    },
    /// A key for AES-256 in OCB mode from Argon2id (usage 253; RFC 9580).
    Argon2 {
        /// Passes over the memory.
        passes: u8,
        /// Lanes.
        lanes: u8,
        /// Memory: 2 to the power of this, in KiB.
        exponent: u8,
    },
}

/// What every lock encrypts with.
const CIPHER: Cipher = Cipher::Aes256;

/// The mode of those that authenticate.
const MODE: Aead = Aead::Ocb;

/// What unlocking an iterated lock is to cost (gpg-agent's aim).
const AIM: Duration = Duration::from_millis(100);

/// The least count that is calibrated: 65,536 bytes, gpg's since ever. The most is the most that can be written.
const LEAST_COUNT: u8 = 0x60;

impl Lock {
    /// Argon2id as RFC 9106, section 4 recommends it where memory is short: 3 passes over 64 MiB in 4 lanes.
    pub const ARGON2: Self = Self::Argon2 { passes: 3, lanes: 4, exponent: 16 };

    /// Returns what a key of this version is locked with by default.
    ///
    /// For version 4 it is measured how often SHA-256 has to be repeated to take about a tenth of a second here, between
    /// 65,536 bytes and the most that can be written (65,011,712); that takes a few milliseconds.
    pub fn for_version(version: u8) -> Self {
        if version == 6 { Self::ARGON2 } else { Self::Iterated { count: calibrated() } }
    }
}

/// Measures how much can be hashed in the time aimed at, by the processor's clock where others work beside.
fn calibrated() -> u8 {
    /// Enough to be measured: some milliseconds.
    const SAMPLE: u32 = 1 << 20;
    let bytes = vec![0x5a; 1 << 16];
    let taken = |()| {
        let start = Instant::now();
        let mut hasher = verify::hash::Hasher::new(HashAlgorithm::SHA256).expect("SHA-256 is always there");
        for _ in 0..SAMPLE >> 16 {
            hasher.update(&bytes);
        }
        let _ = hasher.finish();
        start.elapsed()
    };
    // The quickest of three: the others were disturbed.
    let quickest = [(); 3].map(taken).into_iter().min().unwrap_or(AIM);
    let bytes = f64::from(SAMPLE) * AIM.as_secs_f64() / quickest.as_secs_f64().max(1e-6);
    (LEAST_COUNT..u8::MAX).find(|&count| decode_count(count) as f64 >= bytes).unwrap_or(u8::MAX)
}

impl Unlocked {
    /// Returns the key, locked with a passphrase under a new salt.
    ///
    /// # Errors
    ///
    /// [`Error::Random`], and [`Error::Unsupported`] for a lock that does not go with the key's version.
    pub fn lock(&self, passphrase: &Passphrase, lock: Lock) -> Result<SecretKey> {
        let key = self.fingerprint();
        let (check, s2k) = match lock {
            Lock::Iterated { count } => {
                (Check::Sha1, S2k::Iterated { hash: HashAlgorithm::SHA256, salt: random()?, count })
            }
            Lock::Argon2 { passes, lanes, exponent } => {
                (Check::Aead(MODE.number()), S2k::Argon2 { salt: random()?, passes, lanes, exponent })
            }
        };
        let locked = Locked { check, cipher: CIPHER.number(), s2k };
        let derived = derive(s2k, key, passphrase, CIPHER)?;
        let mut body = self.public_body().to_vec();
        let version = key.version();
        if let Check::Aead(mode) = check {
            let nonce: [u8; 15] = random()?;
            let context = AeadContext::new(self.role(), self.public_body(), locked.cipher, mode);
            let sealer = AeadKey::new(CIPHER, MODE, &expand(&derived, &context.info));
            let mut data = Zeroizing::new(self.material().to_vec());
            let tag =
                sealer.map_err(|error| refused(error, key))?.seal(&nonce, &context.associated, &mut data);
            write_locked(version, &locked, &nonce, &[&data[..], &tag].concat(), &mut body);
        } else {
            let iv: [u8; 16] = random()?;
            let mut data = with_sha1(self.material());
            Cfb::new(CIPHER, &derived).encrypt(&mut { iv }, &mut data);
            write_locked(version, &locked, &iv, &data, &mut body);
        }
        SecretKey::parse(self.role(), &body)
    }
}

impl Unlocked {
    /// Returns the key, locked as keys of its version are by default, or without protection for an empty passphrase.
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
    getrandom::fill(&mut bytes).map_err(Error::Random)?;
    Ok(bytes)
}

/// Appends what checks a plain secret by its SHA-1.
fn with_sha1(material: &[u8]) -> Zeroizing<Vec<u8>> {
    let digest = verify::naming::sha1(&[material]);
    let mut checked = Zeroizing::new(Vec::with_capacity(material.len() + digest.len()));
    checked.extend_from_slice(material);
    checked.extend_from_slice(&digest);
    checked
}
