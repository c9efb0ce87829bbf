//! Requests for OpenPGP certificates: keyservers, Web Key Directories, URLs.
//!
//! Nothing here is asked unless a caller asks for it, and nothing that comes back is believed: the functions return
//! bytes, of which the crate `keyhoard` takes what was asked for, verified.
//!
//! - [`client`]: requests with limits of time, size and redirects, and to public addresses only; [`proxy`]: through
//!   which proxy they go.
//! - [`keyserver`]: a keyserver's address, and what can be asked there: [`hkp`] is the protocol that all keyservers
//!   speak (draft-gallagher-openpgp-hkp), [`vks`] that of keys.openpgp.org.
//! - [`wkd`]: the Web Key Directory (draft-koch-openpgp-webkey-service).
//!
//! Sent is what a request needs: no name of this program, no cookies, no referring page.

pub mod client;
pub mod hkp;
pub mod keyserver;
pub mod proxy;
pub mod vks;
pub mod wkd;

mod error;
mod public_address;
mod resolver;
mod shown;

pub use client::{Client, Settings};
pub use error::{Error, Result};
pub use keyserver::{Keyserver, Search};
pub use reqwest::Url;
pub use shown::{shown, without_user};

/// Limits on what others send.
pub mod limits {
    /// The longest answer with certificates, in bytes: twice the largest certificate that is kept whole.
    pub const MAX_CERTIFICATES: usize = 2 * verify::limits::MAX_WHOLE_CERTIFICATE;
    /// The longest answer to a search, in bytes.
    pub const MAX_INDEX: usize = 1 << 20;
    /// The longest answer to an upload, in bytes.
    pub const MAX_RECEIPT: usize = 64 << 10;
    /// How often a request may be redirected.
    pub const MAX_REDIRECTS: usize = 4;
}

/// Bytes that were fetched, and from where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The bytes, as they came.
    pub bytes: Vec<u8>,
    /// The address that was asked, before any redirect, without a user and a password.
    pub url: String,
}
