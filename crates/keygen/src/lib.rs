//! New OpenPGP keys.
//!
//! - [`Profile`]: describes a new certificate: [`Algorithm`]s, subkeys, preferences, lifetimes, user IDs.
//! - [`profile_file`]: profiles that users write.
//! - [`generate()`]: generates secret keys and a certificate from a profile, which may also name [`ExistingKeys`];
//!   [`subkey`]: generates one more key.
//! - [`rsa`]: the numbers of an RSA key, whose primes are searched in parallel on all cores.
//! - [`Progress`]: observes the search.
//!
//! Nothing is stored here. Each new key is returned after it was tried once.

pub mod error;
pub mod profile;
pub mod profile_file;
pub mod progress;
pub mod rsa;

mod algorithm;
mod generate;
mod group;
mod material;
mod preferences;
mod prime;
mod random;
mod sieve;

pub use algorithm::{Algorithm, Version};
pub use error::{Error, Result};
pub use generate::{ExistingKeys, Generated, NoExistingKeys, generate, subkey};
pub use group::{DsaSize, ElgamalSize};
pub use preferences::Preferences;
pub use profile::{Plan, Profile, Source};
pub use profile_file::ProfileError;
pub use progress::{Progress, Silent, Step};
