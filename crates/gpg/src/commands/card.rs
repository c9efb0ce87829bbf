//! Smartcards, by way of the agent and its scdaemon: `--card-status`, `--edit-card`, `--change-pin`.
//!
//! - [`access`]: the commands that a card is sent, and what it answers;
//! - [`data`]: what a card says of its holder, and for any use;
//! - [`command`]: the commands of `--edit-card` by their names.

mod access;
mod algorithms;
mod command;
mod data;
pub(super) mod edit;
mod factory_reset;
pub(super) mod pins;
mod session;
pub(super) mod status;
