//! OpenSSL, initialised at its first use and without any configuration.
//!
//! Every crate that calls the `openssl` crate depends on this one and calls [`initialise`] before. Without it the first
//! call would initialise OpenSSL by itself, and with it what `openssl.cnf`, or the file that the variable `OPENSSL_CONF`
//! names, tells it to load.
//!
//! - [`initialise`]: before every other use;
//! - [`legacy`]: before algorithms of OpenSSL's legacy provider: Blowfish, CAST5 and IDEA;
//! - [`argon2`]: keys from passwords;
//! - [`ripemd160()`]: a digest that needs no initialisation;
//! - [`is_about_input`]: whether an error of OpenSSL's is one of the input;
//! - [`Curve`]: the curves of ECDSA and ECDH keys;
//! - [`post_quantum`]: ML-KEM, ML-DSA and SLH-DSA.

pub mod argon2;
pub mod post_quantum;

mod curve;
mod initialisation;
mod reason;
mod ripemd160;

pub use curve::Curve;
pub use initialisation::{Unavailable, initialise, legacy};
pub use reason::is_about_input;
pub use ripemd160::ripemd160;
