//! Addresses that the user gave for names.

use std::net::SocketAddr;

/// What the user says of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FixedAddress {
    /// It is there. A port other than 0 counts where a URL has none.
    At(SocketAddr),
    /// It does not exist.
    Nowhere,
}
