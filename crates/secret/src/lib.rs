//! OpenPGP secret keys: reading, locking, unlocking, using, and where they live.
//!
//! - [`SecretKey`]: a secret key packet as others write it, its secret part plain, locked or elsewhere
//!   ([`Protection`]); [`Unlocked`]: one whose secret part is at hand, and was found to belong to its public part;
//!   [`Lock`]: how a passphrase is put on it.
//! - [`Signer`] and [`Decryptor`]: what signs and what opens session keys, wherever the secret is.
//! - [`SecretKeys`]: where secret keys live, [`mod@file`]: in files of one's own. Nothing above the trait may assume that
//!   they are files, or that a secret can be had at all.
//! - [`Passphrase`]: one, in memory that is wiped; [`Ask`]: where one comes from.
//!
//! Keys on [`curve25519`] sign by aws-lc, [`elgamal`] is OpenSSL's big numbers; the other asymmetric operations are
//! those of sequoia-openpgp with OpenSSL, which is initialised when the first of them is asked for; ciphers and key
//! derivations those of `symmetric`. Nothing here reads the clock, except to calibrate a lock.

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
pub use fields::write_number;
pub use input::read_all;
pub use key::SecretKey;
pub use keys::{Name, SecretKeys, Stored, StoredKey};
pub use lock::Lock;
pub use passphrase::Passphrase;
pub use protection::{Check, Locked, Protection};
pub use role::Role;
pub use signer::{Decryptor, OpenKey, Signer};
pub use symmetric::S2k;
pub use unlocked::Unlocked;
