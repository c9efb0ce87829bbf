//! Commands that use the network, and what other commands look up there.

mod answers;
mod servers;

pub(super) mod fetch_keys;
pub(super) mod locate;
pub(super) mod receive;
pub(super) mod refresh;
pub(super) mod retrieve;
pub(super) mod search;
pub(super) mod send;
