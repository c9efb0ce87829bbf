//! How the DNS is asked for certificates.

use std::net::SocketAddr;
use std::path::PathBuf;

/// Whom the DNS is asked through, and what its signatures are validated with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DnsSettings {
    /// The resolver, instead of those of the system (`/etc/resolv.conf`).
    pub server: Option<SocketAddr>,
    /// A file of DNSKEY records that are trusted, instead of the root zone's.
    pub trust_anchor: Option<PathBuf>,
}
