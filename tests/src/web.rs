//! Servers on loopback, for what goes over the network.
//!
//! - [`Nginx`]: a real web server with TLS, whose certificate an authority of the test's own has signed;
//! - [`Keyserver`]: a keyserver with a certificate database, which counts what it is asked;
//! - [`Liar`]: a server that answers what it should not;
//! - [`Socks`]: a SOCKS proxy that notes the names of its users.

mod http;
mod keyserver;
mod liar;
mod nginx;
mod socks;

pub use keyserver::Keyserver;
pub use liar::{Liar, Lie};
pub use nginx::Nginx;
pub use socks::Socks;
