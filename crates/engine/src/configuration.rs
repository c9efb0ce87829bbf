//! The user's configuration: files in `keyhoard`, in the XDG configuration directory.
//!
//! `config.toml` has settings for all commands of both programs:
//!
//! ```toml
//! # Is started with the question as its only argument, and writes the passphrase as the first line.
//! passphrase-program = "/usr/local/bin/ask-passphrase"
//! # Whether gpg-keyhoard takes over what GnuPG has in a home directory when it is first used there: ask, yes or no.
//! import-home = "yes"
//! ```
//!
//! Its table `network` says what goes over the network: [`NetworkConfiguration`].
//!
//! A file that somebody else can change is an error.

use std::path::PathBuf;

use serde::Deserialize;

use crate::fetch::NetworkConfiguration;
use crate::{Error, ForeignError, Result, database, permissions};

/// What `config.toml` says.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Configuration {
    /// The program that is asked for passphrases, instead of the user on the terminal.
    pub passphrase_program: Option<PathBuf>,
    /// Whether `gpg-keyhoard` takes over the certificates, owner trust and TOFU data of GnuPG in a home directory.
    #[serde(default)]
    pub import_home: ImportHome,
    /// What goes over the network.
    #[serde(default)]
    pub network: NetworkConfiguration,
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
fn file(name: &str) -> Option<PathBuf> {
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
    }
}
