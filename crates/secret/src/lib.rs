//! OpenPGP secret keys: reading, locking, unlocking, using and storing them.
//!
//! - [`SecretKey`]: a secret key packet, its secret part plain, locked or elsewhere ([`Protection`]); [`Unlocked`]: a
//!   key whose secret part is in memory and belongs to its public part; [`Lock`]: how a passphrase protects a key.
//! - [`Signer`] and [`Decryptor`]: sign digests and decrypt session keys, wherever the secret is.
//! - [`SecretKeys`]: a store of secret keys; [`mod@file`] implements it with files. Users of the trait must not assume
//!   that keys are files, or that secrets can be exported.
//! - [`Passphrase`]: a passphrase in memory that is wiped; [`Ask`]: asks for passphrases.
//!
//! Keys on [`curve25519`] sign by aws-lc, [`elgamal`] uses OpenSSL's big numbers. Other asymmetric operations are those
//! of sequoia-openpgp with OpenSSL, which is initialised at its first use; ciphers and key derivation are those of
//! `symmetric`. Nothing reads the clock, except to calibrate a lock.

pub mod ask;
pub mod curve25519;
pub mod elgamal;
pub mod file;

mod asymmetric;
mod ciphertext;
mod derive;
mod error;
mod fields;
mod input;
mod key;
mod keys;
mod lock;
mod memory;
mod numbers;
mod passphrase;
mod protection;
mod public;
mod role;
mod signer;
mod specifier;
mod unlock;
mod unlocked;

pub use ask::{Ask, Question};
pub use ciphertext::Ciphertext;
pub use error::{Error, Result};
pub use fields::{Fields, write_number};
pub use input::read_all;
pub use key::SecretKey;
pub use keys::{Name, SecretKeys, Stored, StoredKey};
pub use lock::Lock;
pub use passphrase::Passphrase;
pub use protection::{Check, Locked, Protection};
pub use public::wrapping;
pub use role::Role;
pub use signer::{Decryptor, OpenKey, Signer};
pub use symmetric::S2k;
pub use unlocked::Unlocked;
