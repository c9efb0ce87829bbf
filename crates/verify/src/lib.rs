//! Verdicts on OpenPGP signatures.
//!
//! A caller passes a batch of [`Check`]s (an issuer key, a digest, a signature value) to [`verify`], which uses all
//! cores and returns a [`Verdict`] for each. A caller with many batches uses a [`Verifier`]. A verdict says only
//! whether the equation holds; time, expiry, revocation and policy are decided elsewhere.
//!
//! - [`cores`]: work on all cores.
//! - [`hash`]: the digests of OpenPGP, SHA-1 with collision detection.
//! - [`policy`]: which algorithms and sizes are accepted, and since when.
//! - [`limits`]: limits for what a foreign certificate may cost.
//! - [`naming`]: digests that identify keys and attributes.

pub mod algorithm;
pub mod cores;
pub mod hash;
pub mod limits;
pub mod naming;
pub mod policy;

#[cfg(test)]
mod agreement;
mod check;
mod digest_info;
mod fast;
mod mpi;
mod reference;
#[cfg(test)]
mod vectors;
mod verifier;

pub use algorithm::{HashAlgorithm, PublicKeyAlgorithm};
pub use check::{Check, PublicKey, SignatureValue, Verdict};
pub use digest_info::digest_info;
pub use verifier::{Verifier, verify};
