//! What the user configures about the network: the table `network` of `config.toml`.
//!
//! ```toml
//! [network]
//! # Asked by `fetch` and `refresh`, in this order. An empty list: no keyserver.
//! keyservers = ["vks://keys.openpgp.org", "hkps://keyserver.ubuntu.com"]
//! # What `encrypt --to someone@example.org` may do if no key is here: "ask" (on a terminal), "never", or "wkd".
//! unknown-recipients = "ask"
//! # How long a request may take, in seconds.
//! timeout = 30
//! # Instead of the proxies of the environment. Through socks5h, as Tor has it, every key is asked for over another circuit.
//! proxy = "socks5h://127.0.0.1:9050"
//! # How long `refresh` waits after a key, in seconds.
//! refresh-pause = 1.0
//!
//! # Addresses that are taken for names: the only way to a server in a private network that is not written as a number.
//! # "none" says that the name does not exist.
//! [network.addresses]
//! "keys.corp.example" = "10.0.0.5:8443"
//!
//! # Records OPENPGPKEY, which `fetch` asks for after the Web Key Directory; only with DNSSEC.
//! [network.dns]
//! openpgpkey = true
//! server = "127.0.0.1:53"               # instead of those of /etc/resolv.conf
//! trust-anchor = "/etc/keys.dnskey"     # instead of the root zone's keys
//! ```

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use network::proxy::{Environment, Proxies};
use network::{Client, DnsSettings, FixedAddress, Keyserver, Settings};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::{Error, Result};

/// The keyserver that is asked if the user names none.
const KEYSERVER: &str = "vks://keys.openpgp.org";

/// What `config.toml` says about the network.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct NetworkConfiguration {
    /// The keyservers, in the order in which they are asked.
    pub keyservers: Vec<String>,
    /// What is done about recipients whose keys are not here.
    pub unknown_recipients: UnknownRecipients,
    /// How long a request may take, in seconds.
    pub timeout: u64,
    /// The proxy, instead of those of the environment.
    pub proxy: Option<String>,
    /// How long a refresh waits after a key.
    #[serde(deserialize_with = "seconds")]
    pub refresh_pause: Duration,
    /// Addresses that are taken for names; `none` for a name that does not exist.
    pub addresses: BTreeMap<String, String>,
    /// How the DNS is asked.
    pub dns: DnsConfiguration,
}

/// What `config.toml` says about keys in the DNS.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct DnsConfiguration {
    /// Whether `fetch` asks for records OPENPGPKEY.
    pub openpgpkey: bool,
    /// The resolver, an address with or without a port, instead of the system's.
    pub server: Option<String>,
    /// A file of DNSKEY records that are trusted, instead of the root zone's.
    pub trust_anchor: Option<PathBuf>,
}

impl DnsConfiguration {
    fn settings(&self) -> Result<DnsSettings> {
        let server = self.server.as_deref().map(|text| match fixed_address(text)? {
            FixedAddress::At(server) => Ok(server),
            FixedAddress::Nowhere => {
                let reason = "not the address of a resolver";
                Err(Error::Network(network::Error::Address { text: text.to_owned(), reason }))
            }
        });
        Ok(DnsSettings { server: server.transpose()?, trust_anchor: self.trust_anchor.clone() })
    }
}

/// What a command that encrypts may do about an address without a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnknownRecipients {
    /// Ask the user on the terminal whether the Web Key Directory may be asked; without a terminal nothing.
    #[default]
    Ask,
    /// Nothing.
    Never,
    /// Ask the Web Key Directory.
    Wkd,
}

impl Default for NetworkConfiguration {
    fn default() -> Self {
        Self {
            keyservers: vec![KEYSERVER.to_owned()],
            unknown_recipients: UnknownRecipients::default(),
            timeout: 30,
            proxy: None,
            refresh_pause: Duration::from_secs(1),
            addresses: BTreeMap::new(),
            dns: DnsConfiguration::default(),
        }
    }
}

impl NetworkConfiguration {
    /// Returns the keyservers.
    ///
    /// # Errors
    ///
    /// [`Error::Network`] for what is no address of one.
    pub fn servers(&self) -> Result<Vec<Keyserver>> {
        self.keyservers.iter().map(|server| Ok(server.parse()?)).collect()
    }

    /// Returns how long a refresh waits after a key; not at all if all servers are on this machine.
    pub fn pause(&self, servers: &[Keyserver]) -> Duration {
        let are_local = !servers.is_empty() && servers.iter().all(Keyserver::is_local);
        if are_local { Duration::ZERO } else { self.refresh_pause }
    }

    /// Makes a client, which sends nothing by itself; the environment may name proxies.
    ///
    /// # Errors
    ///
    /// [`Error::Network`] for wrong addresses, and if the system lacks something.
    pub fn client(&self, environment: Environment<'_>) -> Result<Client> {
        let proxies = match &self.proxy {
            Some(proxy) => Proxies::for_all(proxy)?,
            None => Proxies::of_environment(environment)?,
        };
        let addresses = self.addresses.iter().map(|(host, address)| {
            Ok((host.trim_end_matches('.').to_ascii_lowercase(), fixed_address(address)?))
        });
        let addresses = addresses.collect::<Result<_>>()?;
        let timeout = Duration::from_secs(self.timeout.max(1));
        Ok(Client::new(Settings { timeout, proxies, addresses, dns: self.dns.settings()? })?)
    }
}

fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Duration, D::Error> {
    let seconds = f64::deserialize(deserializer)?;
    Duration::try_from_secs_f64(seconds).map_err(|_| D::Error::custom("not a number of seconds"))
}

fn fixed_address(text: &str) -> Result<FixedAddress> {
    if text == "none" {
        return Ok(FixedAddress::Nowhere);
    }
    let address = text.parse::<SocketAddr>().or_else(|_| text.parse::<IpAddr>().map(|ip| (ip, 0).into()));
    let reason = "not an address such as 10.0.0.5 or 10.0.0.5:8443, and not none";
    let wrong = |_| Error::Network(network::Error::Address { text: text.to_owned(), reason });
    address.map(FixedAddress::At).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_numbers_with_or_without_a_port() {
        let address = |text: &str| fixed_address(text).ok();
        assert_eq!(address("none"), Some(FixedAddress::Nowhere));
        assert_eq!(address("10.0.0.5"), Some(FixedAddress::At("10.0.0.5:0".parse().expect("an address"))));
        assert_eq!(address("[::1]:99"), Some(FixedAddress::At("[::1]:99".parse().expect("an address"))));
        assert_eq!(address("localhost"), None);
    }

    #[test]
    fn what_is_left_out_has_its_usual_value() {
        let read: NetworkConfiguration =
            toml::from_str("keyservers = []\nunknown-recipients = 'wkd'").expect("right");
        assert_eq!((read.timeout, read.unknown_recipients), (30, UnknownRecipients::Wkd));
        assert_eq!(read.servers().expect("none is wrong"), []);
        assert!(toml::from_str::<NetworkConfiguration>("keyserver = 'x'").is_err());
    }

    #[test]
    fn a_refresh_pauses_unless_all_servers_are_on_this_machine() {
        let read = |text: &str| toml::from_str::<NetworkConfiguration>(text);
        let pause = |servers: &[&str]| {
            let servers: Vec<Keyserver> =
                servers.iter().map(|server| server.parse().expect("a server")).collect();
            read("refresh-pause = 2").expect("right").pause(&servers)
        };
        assert_eq!(pause(&["hkp://127.0.0.1", "hkp://[::1]"]), Duration::ZERO);
        assert_eq!(pause(&["hkp://127.0.0.1", "hkp://keys.example.org"]), Duration::from_secs(2));
        // Directories are asked nevertheless.
        assert_eq!(pause(&[]), Duration::from_secs(2));
        for wrong in ["-1", "nan", "inf", "1e30", "'1'"] {
            assert!(read(&format!("refresh-pause = {wrong}")).is_err(), "{wrong}");
        }
    }
}
