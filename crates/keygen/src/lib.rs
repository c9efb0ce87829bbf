//! New OpenPGP keys.
//!
//! - [`Profile`]: what a new certificate is to be: [`Algorithm`]s, subkeys, preferences, lifetimes, user IDs.
//! - [`profile_file`]: profiles that users write.
//! - [`generate()`]: from a profile to secret keys and a certificate, of which some may be there already ([`ExistingKeys`]);
//!   [`subkey`]: one key more.
//! - [`rsa`]: the numbers of an RSA key, both primes searched at the same time on every core.
//! - [`Progress`]: who is told how that goes on.
//!
//! Nothing is kept here: what is made is handed out, after each key was used once.

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
