//! Certificates from the network.

use std::time::Duration;

use engine::fetch::{FetchOutcome, FetchSource, NetworkConfiguration, Request};

use crate::{Cert, Error, Fingerprint, Keyhoard, Result};

/// Asks the network for certificates: nothing else here uses it. Believed is only what was asked for and verified.
#[derive(Clone, Debug)]
#[must_use = "nothing is asked for before request() is called"]
pub struct Fetch<'k> {
    keyhoard: &'k Keyhoard,
    keyservers: Vec<String>,
    uses_directory: bool,
    timeout: Duration,
    proxy: Option<String>,
}

impl<'k> Fetch<'k> {
    pub(crate) fn new(keyhoard: &'k Keyhoard) -> Self {
        let timeout = Duration::from_secs(30);
        Self { keyhoard, keyservers: Vec::new(), uses_directory: true, timeout, proxy: None }
    }

    /// Asks this keyserver, such as `vks://keys.openpgp.org` or `hkps://keyserver.ubuntu.com`; may be called again. Without
    /// any, keys.openpgp.org is asked.
    pub fn keyserver(mut self, url: impl Into<String>) -> Self {
        self.keyservers.push(url.into());
        self
    }

    /// Does not ask the Web Key Directory of an address's domain, which else is asked first.
    pub fn without_directory(self) -> Self {
        Self { uses_directory: false, ..self }
    }

    /// Waits this long for an answer, in whole seconds, instead of 30 seconds.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Goes through this proxy, such as `socks5h://127.0.0.1:9050`; the environment is not asked for any.
    pub fn proxy(self, url: impl Into<String>) -> Self {
        Self { proxy: Some(url.into()), ..self }
    }

    /// Asks for a mail address, a fingerprint, a key ID or an `https:` URL, at one place after the other until one has it,
    /// and imports what was asked for. Returns those certificates; none if every place that answered has none.
    ///
    /// # Errors
    ///
    /// `name` for what cannot be asked for; `network` if nothing was found and a place did not answer; `database`.
    pub fn request(self, name: impl AsRef<str>) -> Result<Vec<Cert>> {
        let request = Request::parse(name.as_ref())?;
        if matches!(request, Request::File(_)) {
            return Err(Error::Name(format!("{request}: a file is imported, not fetched")));
        }
        let configuration = self.configuration();
        let (servers, client) = (configuration.servers()?, configuration.client(&|_| None)?);
        let sources = FetchSource::of(&request, self.uses_directory, false, &servers);
        let handle = &self.keyhoard.handle;
        let (mut found, mut failures) = (Vec::new(), Vec::new());
        let mut note = |source: FetchSource<'_>, outcome: &FetchOutcome| {
            match outcome {
                FetchOutcome::Nothing => {}
                FetchOutcome::Failed(error) => failures.push(format!("{source}: {}", engine::causes(error))),
                FetchOutcome::Answer { taken, .. } => found.extend(taken.here()),
            }
            Ok(())
        };
        handle.write(|store| {
            let now = handle.now();
            Ok(engine::fetch::fetch(store, &client, &request, &sources, &handle.program, now, &mut note)?)
        })?;
        if found.is_empty() && !failures.is_empty() {
            return Err(Error::Network(failures.join("; ")));
        }
        let cert = |fingerprint: Fingerprint| self.keyhoard.certs().by_fingerprint(fingerprint).transpose();
        found.into_iter().filter_map(cert).collect()
    }

    fn configuration(&self) -> NetworkConfiguration {
        let usual = NetworkConfiguration::default();
        let keyservers = if self.keyservers.is_empty() { usual.keyservers } else { self.keyservers.clone() };
        NetworkConfiguration {
            keyservers,
            timeout: self.timeout.as_secs(),
            proxy: self.proxy.clone(),
            ..NetworkConfiguration::default()
        }
    }
}

impl Keyhoard {
    /// Fetches certificates over the network (feature `network`). A database in memory cannot be read meanwhile.
    pub fn fetch(&self) -> Fetch<'_> {
        Fetch::new(self)
    }
}
