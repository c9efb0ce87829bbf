//! Verdicts on OpenPGP signatures.
//!
//! A caller gathers [`Check`]s (an issuer key, a digest, a signature value) and hands all of them to
//! [`verify`] at once; the batch is spread over the cores and comes back as one [`Verdict`] each. Who has many batches
//! gives them to one [`Verifier`].
//! A verdict is the bare equation: time, expiry, revocation and policy are none of its business.
//!
//! - [`hash`]: the digests of OpenPGP, SHA-1 with collision detection.
//! - [`policy`]: which algorithms and sizes are accepted, and since when.
//! - [`limits`]: what a foreign certificate may cost.
//! - [`naming`]: digests that name keys and attributes.

pub mod algorithm;
pub mod hash;
pub mod limits;
pub mod naming;
pub mod policy;

#[cfg(test)]
mod agreement;
mod check;
mod fast;
mod mpi;
mod reference;
mod verifier;

pub use algorithm::{HashAlgorithm, PublicKeyAlgorithm};
pub use check::{Check, PublicKey, SignatureValue, Verdict};
pub use verifier::{Verifier, verify};
