//! The keyserver, the client, and gpg's codes for what goes wrong.

use std::{env, fs};

use engine::causes;
use engine::configuration::Configuration;
use engine::network::{self, Client, Keyserver};

use crate::code::Code;
use crate::failure::{CodedFailure, Failure};
use crate::home::Home;
use crate::settings::Settings;
use crate::streams::Streams;

/// The keyserver of gpg, if nothing names another.
const DEFAULT: &str = "hkps://keyserver.ubuntu.com";
/// Where Tor waits for what `use-tor` sends through it.
const TOR: &str = "socks5h://127.0.0.1:9050";

/// What `dirmngr.conf` says; other options of dirmngr have no effect here.
#[derive(Debug, Default, PartialEq, Eq)]
struct DirmngrConf {
    keyserver: Option<String>,
    proxy: Option<String>,
    uses_tor: bool,
}

impl DirmngrConf {
    fn read(home: &Home) -> Self {
        Self::parse(&fs::read_to_string(home.directory().join("dirmngr.conf")).unwrap_or_default())
    }

    fn parse(text: &str) -> Self {
        let mut read = Self::default();
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
            let (name, value) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let value = || Some(value.trim().trim_matches('"').to_owned()).filter(|value| !value.is_empty());
            match name.trim_start_matches("--") {
                // The first one is asked.
                "keyserver" => read.keyserver = read.keyserver.or_else(value),
                "http-proxy" => read.proxy = value(),
                "use-tor" => read.uses_tor = true,
                "no-use-tor" => read.uses_tor = false,
                _ => {}
            }
        }
        read
    }
}

/// Returns the keyserver: that of `--keyserver`, of `dirmngr.conf`, or gpg's.
pub(super) fn keyserver(settings: &Settings) -> anyhow::Result<Keyserver> {
    let given = settings.network.keyserver.as_ref().map(|given| String::from_utf8_lossy(given).into_owned());
    let named = given.or_else(|| DirmngrConf::read(&settings.home).keyserver);
    Ok(named.as_deref().unwrap_or(DEFAULT).parse()?)
}

/// Makes the client.
pub(super) fn client(settings: &Settings) -> anyhow::Result<Client> {
    anyhow::ensure!(!settings.network.is_disabled, "the network is not used: --disable-dirmngr");
    let mut configuration = Configuration::read()?.network;
    let conf = DirmngrConf::read(&settings.home);
    let tor = conf.uses_tor.then(|| TOR.to_owned());
    configuration.proxy = settings.network.proxy.clone().or(configuration.proxy).or(tor).or(conf.proxy);
    configuration.timeout = settings.network.timeout.unwrap_or(configuration.timeout);
    Ok(configuration.client(&|name| env::var_os(name))?)
}

/// Returns the failure of a request, and says what is behind a code that does not.
pub(super) fn failure(error: &network::Error, settings: &Settings, streams: &mut Streams) -> Failure {
    let code = code(error);
    if code == Code::GENERAL || settings.verbose > 0 {
        streams.info(causes(error));
    }
    of_dirmngr(code).into()
}

/// Returns a failure as gpg reports those of dirmngr.
pub(super) fn of_dirmngr(code: Code) -> CodedFailure {
    CodedFailure { code, value: code.with_dirmngr() }
}

fn code(error: &network::Error) -> Code {
    match error {
        network::Error::Unreachable { .. }
        | network::Error::NotConnected { .. }
        | network::Error::Timeout { .. } => Code::NO_KEYSERVER,
        network::Error::Resolve { .. } => Code::NO_NAME,
        network::Error::Status { .. } => Code::NO_DATA,
        _ => Code::GENERAL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dirmngrs_configuration_names_keyserver_and_proxy() {
        let conf = DirmngrConf::parse(
            "# use-tor\n\nkeyserver  hkp://a\nkeyserver hkp://b\nhttp-proxy \"http://p:1\"\nverbose\n",
        );
        let expected = DirmngrConf {
            keyserver: Some("hkp://a".to_owned()),
            proxy: Some("http://p:1".to_owned()),
            uses_tor: false,
        };
        assert_eq!(conf, expected);
        assert!(DirmngrConf::parse("use-tor").uses_tor);
    }
}
