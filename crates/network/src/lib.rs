//! Requests for OpenPGP certificates: keyservers, Web Key Directories, URLs.
//!
//! Nothing here is asked unless a caller asks for it, and nothing that comes back is believed: the functions return
//! bytes, of which the crate `engine` takes what was asked for, verified.
//!
//! - [`client`]: requests with limits of time, size and redirects, and to public addresses only; [`proxy`]: through
//!   which proxy they go.
//! - [`keyserver`]: a keyserver's address, and what can be asked there: [`hkp`] is the protocol that all keyservers
//!   speak (draft-gallagher-openpgp-hkp), with the paths of its version 2 where a server offers them; [`vks`] is that of
//!   keys.openpgp.org.
//! - [`wkd`]: the Web Key Directory (draft-koch-openpgp-webkey-service); [`dns`]: records of the DNS (RFC 7929).
//!
//! Sent is what a request needs: no name of this program, no cookies, no referring page.

pub mod client;
pub mod dns;
pub mod hkp;
pub mod keyserver;
pub mod limits;
pub mod proxy;
pub mod vks;
pub mod wkd;

mod dns_settings;
mod error;
mod fetched;
mod fixed_address;
mod hkp2;
mod public_address;
mod resolver;
mod search;
mod shown;

pub use client::{Client, Settings};
pub use dns_settings::DnsSettings;
pub use error::{ClientError, Error, Result};
pub use fetched::Fetched;
pub use fixed_address::FixedAddress;
pub use keyserver::Keyserver;
pub use reqwest::Url;
pub use search::Search;
pub use shown::{shown, without_user};
