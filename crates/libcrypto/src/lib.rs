//! OpenSSL, initialised at its first use and without any configuration.
//!
//! Every crate that calls the `openssl` crate depends on this one and calls [`initialise`] before. Without it the first
//! call would initialise OpenSSL by itself, and with it what `openssl.cnf`, or the file that the variable `OPENSSL_CONF`
//! names, tells it to load.
//!
//! - [`initialise`]: before every other use;
//! - [`legacy`]: before algorithms of OpenSSL's legacy provider: Blowfish, CAST5, IDEA and RIPEMD-160;
//! - [`Curve`]: the curves of ECDSA and ECDH keys.

mod curve;
mod initialisation;

pub use curve::Curve;
pub use initialisation::{Unavailable, initialise, legacy};
