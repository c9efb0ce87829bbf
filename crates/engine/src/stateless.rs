//! OpenPGP without a database: certificates, keys, messages and signatures come from files or from memory, and nothing is
//! kept. It is what the Stateless OpenPGP interface asks for (draft-dkg-openpgp-stateless-cli).
//!
//! - [`Certificates`] and [`Keys`]: what its `CERTS` and `KEYS` hold; [`Password`]: what its passwords are.
//! - [`generate`], [`Keys::relock`], [`revoke`], [`update()`], [`Certificates::merge`]: the life of a key.
//! - [`certify`], [`validate`]: who says whose a user ID is.
//! - [`sign()`], [`sign_inline`], [`verify()`], [`verify_inline`], [`split`]: signatures over data.
//! - [`encrypt`], [`decrypt`]: messages.
//! - [`armor`], [`dearmor`]: packets as text.
//! - [`Failure`]: why something was not done, in the interface's own terms.

mod armoring;
mod certificates;
mod certification;
mod decryption;
mod encryption;
mod failure;
mod keys;
mod mail;
mod packets;
mod password;
mod revocation;
mod signatures;
mod text;
mod update;

pub use armoring::{armor, dearmor};
pub use certificates::Certificates;
pub use certification::{Request, Wanted, certify, validate};
pub use decryption::{Decrypted, Decryption, decrypt};
pub use encryption::{Encryption, Profile, encrypt};
pub use failure::{Failure, Kind, Result};
pub use keys::{Keys, generate, key_profile, key_profiles};
pub use password::Password;
pub use revocation::revoke;
pub use signatures::{
    Inline, Period, Signers, Verification, sign, sign_inline, split, verify, verify_inline,
};
pub use update::{Update, update};
