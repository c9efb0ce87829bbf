//! `--keyserver`, `--keyserver-options`, `--auto-key-locate`: what may go over the network.

use engine::foreign_text::shown;

use super::{ExportSettings, ImportSettings};
use crate::options::refusal::{Outcome, Refusal};
use crate::options::words::{self, Word, flag, ignored, value};

/// What may go over the network, and how.
#[derive(Clone, Debug)]
pub(crate) struct NetworkSettings {
    /// `--keyserver`, of which the last one counts.
    pub(crate) keyserver: Option<Vec<u8>>,
    /// How keys that came over the network are imported.
    pub(crate) import: ImportSettings,
    /// What is sent to keyservers.
    pub(crate) export: ExportSettings,
    /// Asks for the key of a signature that is not here.
    pub(crate) auto_key_retrieve: bool,
    /// Asks the keyserver that a key or a signature names, before the usual one.
    pub(crate) honor_keyserver_url: bool,
    /// How long a request may take, in seconds.
    pub(crate) timeout: Option<u64>,
    /// The proxy.
    pub(crate) proxy: Option<String>,
    /// `--disable-dirmngr`: nothing goes over the network.
    pub(crate) is_disabled: bool,
    /// Where a mail address without a key is looked for.
    pub(crate) locate: Vec<Mechanism>,
}

/// A place where keys of mail addresses are looked for (`--auto-key-locate`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Mechanism {
    /// Here, which is always first unless [`Mechanism::NoDefault`] says otherwise.
    Local,
    /// Not here, but where the list says so.
    NoDefault,
    /// The Web Key Directory.
    Wkd,
    /// Records OPENPGPKEY of the DNS.
    Dane,
    /// Records CERT of the DNS.
    Cert,
    /// The keyserver of the settings.
    Keyserver,
    /// This keyserver.
    Server(String),
    /// One of gpg that is not supported, by its name in messages.
    Unsupported(&'static str),
}

impl Default for NetworkSettings {
    fn default() -> Self {
        let import = ImportSettings {
            clean: true,
            self_sigs_only: true,
            repair_pks_subkey_bug: true,
            ..ImportSettings::default()
        };
        Self {
            keyserver: None,
            import,
            export: ExportSettings::default(),
            auto_key_retrieve: false,
            honor_keyserver_url: false,
            timeout: None,
            proxy: None,
            is_disabled: false,
            locate: Vec::new(),
        }
    }
}

impl NetworkSettings {
    /// Reads the words of `--keyserver-options`, which may be those of imports and exports too. As in gpg, an unknown
    /// word is only pointed out.
    pub(crate) fn read(&mut self, text: &[u8]) -> Outcome {
        if text == b"help" {
            return words::read("keyserver options", WORDS, text, self);
        }
        let text = String::from_utf8_lossy(text);
        let mut unknown = None;
        for word in words::tokens(&text) {
            let bytes = word.as_bytes();
            let is_known = words::read("keyserver options", WORDS, bytes, self).is_ok()
                || self.import.read(bytes).is_ok()
                || self.export.read(bytes).is_ok();
            if !is_known && unknown.is_none() {
                unknown = Some(format!("keyserver option '{word}' is unknown"));
            }
        }
        unknown.map_or(Ok(()), |note| Err(Refusal::Notes(vec![note])))
    }

    /// Adds the mechanisms of `--auto-key-locate`.
    pub(crate) fn locate(&mut self, text: &[u8]) -> Outcome {
        let text = String::from_utf8_lossy(text);
        for word in text.split([' ', ',']).filter(|word| !word.is_empty()) {
            let mechanism = match word.to_ascii_lowercase().as_str() {
                "clear" => {
                    self.locate.clear();
                    continue;
                }
                "nodefault" => Mechanism::NoDefault,
                "local" => Mechanism::Local,
                "wkd" => Mechanism::Wkd,
                "keyserver" => Mechanism::Keyserver,
                "dane" => Mechanism::Dane,
                "cert" => Mechanism::Cert,
                // gpg 2.4 knows the words, and does nothing for them.
                "pka" | "ldap" => continue,
                "ntds" => Mechanism::Unsupported("NTDS"),
                _ if word.contains("://") => Mechanism::Server(word.to_owned()),
                _ => return Err(Refusal::Complaint("invalid auto-key-locate list".to_owned())),
            };
            if !self.locate.contains(&mechanism) {
                self.locate.push(mechanism);
            }
        }
        Ok(())
    }

    /// Takes a keyserver.
    pub(crate) fn keyserver(&mut self, text: &[u8]) -> Outcome {
        if text.is_empty() || text.iter().any(u8::is_ascii_whitespace) {
            return Err(Refusal::Complaint(format!("could not parse keyserver URL '{}'", shown(text))));
        }
        self.keyserver = Some(text.to_vec());
        Ok(())
    }
}

/// Words of `--keyserver-options`.
#[rustfmt::skip]
const WORDS: &[Word<NetworkSettings>] = &[
    value("http-proxy", |s, on, proxy| { s.proxy = proxy.filter(|_| on).map(str::to_owned); true }, "go through this proxy"),
    ignored("include-revoked", "include revoked keys in search results"),
    ignored("include-subkeys", "include subkeys when searching by key ID"),
    value("timeout", |s, on, seconds| {
        s.timeout = seconds.filter(|_| on).and_then(|seconds| seconds.parse().ok());
        true
    }, "wait so many seconds for an answer"),
    flag("auto-key-retrieve", |s| &mut s.auto_key_retrieve, "ask for the keys of signatures that are not here"),
    flag("honor-keyserver-url", |s| &mut s.honor_keyserver_url, "ask the keyserver that a key names, first"),
    ignored("honor-pka-record", ""),
    ignored("refresh-add-fake-v3-keyids", ""), ignored("check-cert", ""), ignored("broken-http-proxy", ""),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keyserver_options_may_be_those_of_imports() {
        let mut settings = NetworkSettings::default();
        settings.read(b"no-import-clean,timeout=5 auto-key-retrieve").expect("known words");
        assert!(!settings.import.clean && settings.import.self_sigs_only && settings.auto_key_retrieve);
        assert_eq!(settings.timeout, Some(5));
        let unknown = settings.read(b"bogus,no-self-sigs-only");
        assert_eq!(unknown, Err(Refusal::Notes(vec!["keyserver option 'bogus' is unknown".to_owned()])));
        assert!(!settings.import.self_sigs_only, "the other words count");
    }

    #[test]
    fn places_to_look_are_taken_once_each_in_their_order() {
        let mut settings = NetworkSettings::default();
        settings.locate(b"local,WKD local").expect("known words");
        assert_eq!(settings.locate, [Mechanism::Local, Mechanism::Wkd]);
        settings.locate(b"clear,nodefault,hkp://127.0.0.1").expect("known words");
        assert_eq!(settings.locate, [Mechanism::NoDefault, Mechanism::Server("hkp://127.0.0.1".to_owned())]);
        assert!(settings.locate(b"bogus").is_err());
    }
}
