//! New OpenPGP keys.
//!
//! - [`rsa`]: the numbers of an RSA key, both primes searched at the same time on every core.

pub mod error;
pub mod progress;
pub mod rsa;

mod bignum;
mod prime;
mod random;
mod sieve;

pub use error::{Error, Result};
