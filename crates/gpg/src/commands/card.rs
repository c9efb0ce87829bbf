//! Smartcards, by way of the agent and its scdaemon: `--card-status`, `--edit-card`, `--change-pin`, and what `--edit-key`
//! does with cards.
//!
//! - [`access`]: the commands that a card is sent, and what it answers;
//! - [`data`]: what a card says of its holder, and for any use;
//! - [`command`]: the commands of `--edit-card` by their names;
//! - [`new_keys`]: keys that the card makes;
//! - [`key_reference`]: keys of the agent that become keys of the card, and subkeys that the card makes.

pub(super) mod access;
mod algorithms;
mod command;
pub(super) mod data;
pub(super) mod edit;
pub(super) mod existing;
mod factory_reset;
mod generate;
mod kdf;
pub(super) mod key_reference;
pub(super) mod new_keys;
pub(super) mod pins;
pub(super) mod status;
