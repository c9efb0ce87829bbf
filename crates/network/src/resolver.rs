//! Resolves the names of hosts, to public addresses only.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::net::lookup_host;

use crate::fixed_address::FixedAddress;
use crate::public_address::is_public;

/// A name that stands for an address that is not public.
#[derive(Debug, thiserror::Error)]
#[error("{host} is at {address}, which is no public address")]
pub(crate) struct NotPublic {
    pub(crate) host: String,
    pub(crate) address: IpAddr,
}

/// Resolves names with the system's resolver. Every connection that is made by name has its address from here.
#[derive(Clone, Debug)]
pub(crate) struct Resolver {
    /// The addresses that the user gave for names, whatever they are.
    fixed: Arc<BTreeMap<String, FixedAddress>>,
    /// The hosts of the user's proxies, which may be anywhere.
    proxies: Arc<[String]>,
}

impl Resolver {
    pub(crate) fn new(fixed: BTreeMap<String, FixedAddress>, proxies: Vec<String>) -> Self {
        Self { fixed: Arc::new(fixed), proxies: proxies.into() }
    }

    /// Returns the addresses of a name. The port is 0, unless the user gave one.
    async fn addresses(&self, host: &str) -> io::Result<Vec<SocketAddr>> {
        let name = host.trim_end_matches('.').to_ascii_lowercase();
        match self.fixed.get(&name) {
            Some(FixedAddress::At(address)) => return Ok(vec![*address]),
            Some(FixedAddress::Nowhere) => return Err(io::Error::other(NO_SUCH_NAME)),
            None => {}
        }
        let addresses: Vec<SocketAddr> = lookup_host((name.as_str(), 0)).await?.collect();
        // The client has refused the name of this machine already, where the user did not write it.
        if name == "localhost" || self.proxies.contains(&name) {
            return Ok(addresses);
        }
        match addresses.iter().find(|address| !is_public(address.ip())) {
            Some(address) => Err(io::Error::other(NotPublic { host: name, address: address.ip() })),
            None => Ok(addresses),
        }
    }

    /// Says whether a name exists.
    ///
    /// # Errors
    ///
    /// If that cannot be found out now.
    pub(crate) async fn resolves(&self, host: &str) -> io::Result<bool> {
        match self.addresses(host).await {
            Ok(addresses) => Ok(!addresses.is_empty()),
            // It exists. Whoever connects to it is told what is wrong with it.
            Err(error) if error.get_ref().is_some_and(|cause| cause.is::<NotPublic>()) => Ok(true),
            Err(error) if is_no_such_name(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// What getaddrinfo says of a name that does not exist (EAI_NONAME, EAI_NODATA). The standard library passes on the
/// text only.
const NO_SUCH_NAME: &str = "Name or service not known";
const NO_ADDRESS: &str = "No address associated with hostname";

fn is_no_such_name(error: &io::Error) -> bool {
    let text = error.to_string();
    text.contains(NO_SUCH_NAME) || text.contains(NO_ADDRESS)
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let resolver = self.clone();
        Box::pin(async move {
            let addresses = resolver.addresses(name.as_str()).await?;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}
