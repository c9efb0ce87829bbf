//! OpenPGP secret keys: reading, locking, unlocking, using and storing them.
//!
//! - [`SecretKey`]: a secret key packet, its secret part plain, locked or elsewhere ([`Protection`]); [`Unlocked`]: a
//!   key whose secret part is in memory and belongs to its public part; [`Lock`]: how a passphrase protects a key.
//! - [`Signer`] and [`Decryptor`]: sign digests and decrypt session keys, wherever the secret is.
//! - [`SecretKeys`]: a store of secret keys; [`mod@file`] implements it with files, [`MemoryKeys`] in memory. Users of the trait must not assume
//!   that keys are files, or that secrets can be exported.
//! - [`Passphrase`]: a passphrase in memory that is wiped; [`Ask`]: asks for passphrases.
//! - [`encrypt()`]: encrypts a session key to a public key; [`Ciphertext`]: what was encrypted.
//!
//! Keys on [`curve25519`] sign by aws-lc, all other keys by OpenSSL, which also encrypts and decrypts session keys and is
//! initialised at its first use; ciphers and key derivation are those of `symmetric`. Nothing reads the clock, except to
//! calibrate a lock.

pub mod ask;
pub mod curve25519;
pub mod curve448;
pub mod file;

mod asymmetric;
mod ciphertext;
mod derive;
mod dsa;
mod ecdh;
mod elgamal;
mod encryption;
mod error;
mod fields;
mod in_memory;
mod input;
mod key;
mod key_wrap;
mod keys;
mod lock;
#[cfg(unix)]
mod memory;
mod montgomery;
mod numbers;
mod passphrase;
#[cfg(not(unix))]
mod portable_memory;
mod post_quantum_encryption;
mod post_quantum_signature;
mod protection;
mod public;
mod raw_key;
mod role;
mod rsa;
mod signer;
mod specifier;
mod unlock;
mod unlocked;
#[cfg(test)]
mod vectors;
mod weierstrass;

#[cfg(not(unix))]
use portable_memory as memory;

pub use ask::{Ask, Question};
pub use asymmetric::unwrap_agreed;
pub use ciphertext::{Ciphertext, Encrypted};
pub use encryption::{encrypt, is_safe_to_encrypt_to};
pub use error::{Error, Result};
pub use fields::{Fields, write_number, write_octets};
pub use in_memory::MemoryKeys;
pub use input::read_all;
pub use key::SecretKey;
pub use key_wrap::{unwrap_from_transfer, wrap_for_transfer};
pub use keys::{Name, SecretKeys, Stored, StoredKey};
pub use lock::Lock;
pub use passphrase::Passphrase;
pub use protection::{IntegrityCheck, Locked, Protection};
pub use public::wrapping;
pub use role::Role;
pub use signer::{Decryptor, OpenKey, Signer};
pub use symmetric::S2k;
pub use unlocked::Unlocked;
