//! New OpenPGP keys.
//!
//! - [`Profile`]: describes a new certificate: [`Algorithm`]s, subkeys, preferences, lifetimes, user IDs.
//! - [`profile_file`]: profiles that users write.
//! - [`generate()`]: generates secret keys and a certificate from a profile, which may also name [`ExistingKeys`];
//!   [`subkey`]: generates one more key; [`certify`]: the certificate of keys that are on a card.
//! - [`Size`]: the size of an RSA key, for which a generator runs on each core.
//! - [`Progress`]: observes the search for primes.
//!
//! Nothing is stored here. Each new key is returned after it was tried once.

pub mod error;
pub mod profile;
pub mod profile_file;
pub mod progress;

mod algorithm;
mod aws_lc;
mod generate;
mod group;
mod material;
mod preferences;
mod race;
mod rsa;

pub use algorithm::{Algorithm, Version};
pub use error::{Error, Result};
pub use generate::{Certified, ExistingKeys, Generated, NoExistingKeys, certify, generate, subkey};
pub use group::{DsaSize, ElgamalSize};
pub use libcrypto::Curve;
pub use preferences::Preferences;
pub use profile::{DecryptionSubkey, KeySource, Plan, Profile};
pub use profile_file::ProfileError;
pub use progress::{Progress, Silent, Step};
pub use rsa::Size;
