//! Secret keys in gpg-agent, GnuPG's keeper of secret keys: signs and decrypts with them, wherever they are, also on
//! cards.
//!
//! - [`AgentKeys`] is a store of secret keys ([`secret::SecretKeys`]) that asks the agent of a GnuPG home directory. The
//!   agent names keys by their keygrip; [`Certificates`] says which OpenPGP keys these are.
//! - [`AllKeys`] looks into the files of [`secret::file`] and into the agent, always.
//! - [`socket`] finds the agent's socket as `gpgconf --list-dirs agent-socket` does; [`Agent`] connects to it, and starts
//!   the agent where that is allowed.
//! - [`connection`] speaks the Assuan protocol with bounded lines and answers; [`sexp`] reads and writes s-expressions.
//! - [`card`]: what an OpenPGP card says of itself, by way of the agent's scdaemon; [`card_key`]: keys that it has made.
//! - [`key_file`] reads what a file in `private-keys-v1.d` says of a key without its secret; [`key_form`] reads the secret in it
//!   with the passphrase, and writes such files.
//!
//! The agent asks for the passphrases of its keys with its pinentry and remembers them; nothing here sees them, except in
//! loopback mode. [`Agent::passphrase`] asks for those of other things.

#[cfg(not(unix))]
compile_error!("gpg-agent is reached by a Unix socket: build without the feature `agent`");

pub mod card;
pub mod card_key;
pub mod connection;
pub mod description;
pub mod key_file;
pub mod key_form;
pub mod sexp;
pub mod socket;

mod all_keys;
mod certificates;
mod ciphertext;
mod environment;
mod error;
mod keys;
mod open_key;
mod passphrase;
mod session;
mod signature;
mod start;
mod stub;
mod transfer;

pub use all_keys::AllKeys;
pub use certificates::{Certificates, KnownKey, PublicKey};
pub use error::{Error, Result};
pub use keys::AgentKeys;
pub use passphrase::PassphraseQuestion;
pub use session::{Agent, PinentryMode};
pub use stub::Stub;
