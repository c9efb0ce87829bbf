//! The user's configuration: files in `keyhoard`, in the XDG configuration directory.
//!
//! `config.toml` has settings for all commands of both programs:
//!
//! ```toml
//! # Follow the output of gpg 2.2.40, not 2.4.9.
//! compat = "2.2"
//! # Is started with the question as its only argument, and writes the passphrase as the first line.
//! passphrase-program = "/usr/local/bin/ask-passphrase"
//! # Where gpg-keyhoard puts new and imported secret keys: agent (where gpg-agent is installed) or files.
//! secret-keys = "files"
//! # Whether gpg-keyhoard takes over what GnuPG has in a home directory when it is first used there: ask, yes or no.
//! import-home = "yes"
//! # gpg-keyhoard writes the certificates of a home directory into its pubring.kbx too, for programs that read that file.
//! write-pubring = true
//! ```
//!
//! ```toml
//! # The key that `keyhoard` signs and certifies with, of several that could.
//! default-key = "0123456789ABCDEF0123456789ABCDEF01234567"
//! # `keyhoard encrypt` encrypts to one's own keys, too.
//! encrypt-to-self = true
//! # `gpg-keyhoard` makes RSA keys of fewer than 2048 bits when it is asked to, for tests and old programs.
//! allow-weak-keys = true
//! ```
//!
//! Its table `network` says what goes over the network: `fetch::NetworkConfiguration`, with the feature `network`.
//!
//! A file that somebody else can change is an error.

use std::path::PathBuf;
use std::str::FromStr;

use serde::Deserialize;

#[cfg(feature = "network")]
use crate::fetch::NetworkConfiguration;
use crate::{Error, ForeignError, Result, database, permissions};

/// What `config.toml` says.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Configuration {
    /// The program that is asked for passphrases, instead of the user on the terminal.
    pub passphrase_program: Option<PathBuf>,
    /// Whose output `gpg-keyhoard` follows.
    #[serde(default)]
    pub compat: Compat,
    /// The user's own key that signs and certifies, of several that could: its fingerprint or another name.
    pub default_key: Option<String>,
    /// Messages are encrypted to the user's own keys, too.
    #[serde(default)]
    pub encrypt_to_self: bool,
    /// `gpg-keyhoard` makes RSA keys that are too small to be safe.
    #[serde(default)]
    pub allow_weak_keys: bool,
    /// Whether `gpg-keyhoard` takes over the certificates, owner trust and TOFU data of GnuPG in a home directory, and the
    /// secret keys of GnuPG before 2.1.
    #[serde(default)]
    pub import_home: ImportHome,
    /// `gpg-keyhoard` writes the certificates of a home directory into its `pubring.kbx` too, and takes over what other
    /// programs put there.
    #[serde(default)]
    pub write_pubring: bool,
    /// Where `gpg-keyhoard` puts new and imported secret keys.
    #[serde(default)]
    pub secret_keys: SecretKeyPlace,
    /// What goes over the network.
    #[cfg(feature = "network")]
    #[serde(default)]
    pub network: NetworkConfiguration,
}

/// The GnuPG whose output `gpg-keyhoard` and `gpgv-keyhoard` follow where GnuPG's versions differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum Compat {
    /// Debian 12's 2.2.40.
    #[serde(rename = "2.2")]
    V2_2,
    /// Debian testing's 2.4.9.
    #[default]
    #[serde(rename = "2.4")]
    V2_4,
}

impl Compat {
    /// Returns the version number.
    pub fn version(self) -> &'static str {
        match self {
            Self::V2_2 => "2.2.40",
            Self::V2_4 => "2.4.9",
        }
    }
}

impl FromStr for Compat {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "2.2" => Ok(Self::V2_2),
            "2.4" => Ok(Self::V2_4),
            _ => Err(format!("'{text}' is neither 2.2 nor 2.4")),
        }
    }
}

/// Where `gpg-keyhoard` puts secret keys that it makes or imports, and who asks for the passphrases of those in files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SecretKeyPlace {
    /// Into gpg-agent where one is installed, whose pinentry asks; else as [`Files`](Self::Files).
    #[default]
    Agent,
    /// Into files beside the database. An agent is only asked for the keys that it has.
    Files,
}

impl FromStr for SecretKeyPlace {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "agent" => Ok(Self::Agent),
            "files" => Ok(Self::Files),
            _ => Err(format!("'{text}' is neither agent nor files")),
        }
    }
}

/// Whether what GnuPG has in a home directory is taken over when it is first used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImportHome {
    /// The user is asked on a terminal; elsewhere the command that does it is named once.
    #[default]
    Ask,
    /// It is.
    Yes,
    /// It is not, and nothing is said of it.
    No,
}

impl Configuration {
    /// Reads `config.toml`; where there is none, nothing is configured.
    ///
    /// # Errors
    ///
    /// What is wrong with the file, or that somebody else can change it.
    pub fn read() -> Result<Self> {
        read("config.toml", |text| Ok(toml::from_str(text)?))
    }
}

/// Reads a file of the user's configuration; the default if there is none.
pub(crate) fn read<T: Default>(
    name: &str,
    parse: impl FnOnce(&str) -> std::result::Result<T, ForeignError>,
) -> Result<T> {
    let Some(path) = file(name) else { return Ok(T::default()) };
    let Some(text) = permissions::configuration(&path)? else { return Ok(T::default()) };
    parse(&text).map_err(|source| Error::ForeignFile { path, source })
}

/// Returns the place of a file that users may write: in `keyhoard`, in the XDG configuration directory.
pub(crate) fn file(name: &str) -> Option<PathBuf> {
    let directory = database::variable("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
    let directory = directory.or_else(|| Some(database::home()?.join(".config")))?;
    Some(directory.join("keyhoard").join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_refused_by_its_name() {
        let read = toml::from_str::<Configuration>("passphrase-programme = 'x'").expect_err("a mistake");
        assert!(read.to_string().contains("unknown field `passphrase-programme`"), "{read}");
        let read = toml::from_str::<Configuration>("passphrase-program = '/bin/ask'").expect("right");
        assert_eq!(read.passphrase_program, Some(PathBuf::from("/bin/ask")));
        assert_eq!(toml::from_str::<Configuration>(""), Ok(Configuration::default()));
        let read = toml::from_str::<Configuration>("import-home = 'no'").expect("right");
        assert_eq!(read.import_home, ImportHome::No);
        assert!(toml::from_str::<Configuration>("import-home = 'maybe'").is_err());
        let read = toml::from_str::<Configuration>("write-pubring = true").expect("right");
        assert!(read.write_pubring);
        let read = toml::from_str::<Configuration>("secret-keys = 'files'").expect("right");
        assert_eq!(read.secret_keys, SecretKeyPlace::Files);
        assert!(toml::from_str::<Configuration>("secret-keys = 'card'").is_err());
    }

    #[test]
    fn the_gnupg_that_is_followed_is_2_4_unless_another_is_named() {
        assert_eq!(Configuration::default().compat, Compat::V2_4);
        let read = toml::from_str::<Configuration>("compat = '2.2'").expect("right");
        assert_eq!(read.compat, Compat::V2_2);
        assert!(toml::from_str::<Configuration>("compat = '2.3'").is_err());
    }
}
