//! Keyhoard, the library: what a command does, as one function each.
//!
//! - [`certifications`]: signatures by other keys, verified; [`check`]: counted, and who certified whom;
//!   [`compact`]: certificates without what is of no use.
//! - [`configuration`]: what users configure.
//! - [`copy`]: everything that a database holds, into another one.
//! - [`database`]: where the database is, and opening it.
//! - [`delete`]: certificates go; [`secret_keys`]: which of them have a secret key that would be left alone.
//! - [`descriptor`]: numbered file descriptors that the calling program opened.
//! - [`designated_revocation`]: revocations that other keys were trusted with.
//! - [`doctor`]: is the database as the bytes of its certificates say?
//! - [`decryption`]: what opens messages, and where their content goes only once it was checked; [`recipients`]: the keys that
//!   messages are encrypted to.
//! - [`edit`]: the life of a key: user IDs, subkeys, expiry, certifications, revocations.
//! - [`export`]: from rows to bytes that others can read; [`output_file`]: to files that appear whole or not at all.
//! - [`find`]: from the names that users give to certificates.
//! - [`generate`]: new keys, made, kept and entered.
//! - [`git_signatures`]: the signed tags and commits of a repository.
//! - [`import`]: from a stream of bytes to rows.
//! - [`keyring_file`]: keyrings that others keep in files, read as they are.
//! - [`listing`]: everything a front shows of a certificate, as plain values.
//! - [`migrate`]: takes over the certificates of GnuPG and of other certificate stores.
//! - [`owner_trust`]: how far the user trusts the owners of keys, given and exchanged.
//! - [`passphrase`]: asked for on the terminal, or read where the user says.
//! - [`policy`]: what is accepted for reading, verifying and writing.
//! - [`secret_transfer`]: secret keys as GnuPG exports them.
//! - [`signatories`]: the keys that sign content; [`verification`]: whose signatures are over content, and what they are
//!   worth.
//! - [`sql`]: statements that users write.
//! - [`undo`]: takes back what an entry of the journal did.
//! - [`validity`]: how sure one may be of user IDs.

pub mod certifications;
pub mod check;
pub mod compact;
pub mod configuration;
pub mod copy;
pub mod database;
pub mod decryption;
pub mod delete;
pub mod descriptor;
pub mod designated_revocation;
pub mod doctor;
pub mod edit;
pub mod export;
pub mod find;
pub mod generate;
pub mod git_signatures;
pub mod import;
pub mod keyring_file;
pub mod listing;
pub mod migrate;
pub mod output_file;
pub mod owner_trust;
pub mod passphrase;
pub mod policy;
pub mod recipients;
pub mod secret_keys;
pub mod secret_transfer;
pub mod signatories;
pub mod sql;
pub mod tofu;
pub mod undo;
pub mod validity;
pub mod verification;

mod again;
mod error;
mod stored;

pub use cert;
pub use error::{Error, Result, causes};
pub use keygen;
pub use message;
pub use secret;
pub use sign;
pub use store;
pub use trust;
pub use verify;
