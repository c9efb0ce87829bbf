//! Servers on loopback, for what goes over the network.
//!
//! - [`Nginx`]: a real web server with TLS, whose certificate an authority of the test's own has signed;
//! - [`Keyserver`]: a keyserver with a certificate database, which counts what it is asked;
//! - [`Sks`]: a real keyserver, with a database of the test's own;
//! - [`Liar`]: a server that answers what it should not;
//! - [`Socks`]: a SOCKS proxy that notes the names of its users;
//! - [`Dns`]: a real DNS server, which signs its zone;
//! - [`Namespace`]: a network of the test's own, where programs that take no other port or name find these servers.

mod dns;
mod http;
mod keyserver;
mod liar;
mod namespace;
mod nginx;
mod sks;
mod socks;

pub use dns::{Dns, Record};
pub use keyserver::{Keyserver, Version2};
pub use liar::{Liar, Lie};
pub use namespace::Namespace;
pub use nginx::Nginx;
pub use sks::Sks;
pub use socks::Socks;
