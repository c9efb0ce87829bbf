//! The user's configuration: files in `keyhoard`, in the XDG configuration directory.
//!
//! `config.toml` has settings for all commands of both programs:
//!
//! ```toml
//! # Is started with the question as its only argument, and writes the passphrase as the first line.
//! passphrase-program = "/usr/local/bin/ask-passphrase"
//! ```
//!
//! A file that somebody else can change is an error.

use std::path::PathBuf;

use serde::Deserialize;

use crate::{Error, Result, database, permissions};

/// What `config.toml` says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Configuration {
    /// The program that is asked for passphrases, instead of the user on the terminal.
    pub passphrase_program: Option<PathBuf>,
}

impl Configuration {
    /// Reads `config.toml`; where there is none, nothing is configured.
    ///
    /// # Errors
    ///
    /// What is wrong with the file, or that somebody else can change it.
    pub fn read() -> Result<Self> {
        let Some(path) = file("config.toml") else { return Ok(Self::default()) };
        let Some(text) = permissions::configuration(&path)? else { return Ok(Self::default()) };
        toml::from_str(&text).map_err(|source| Error::ForeignFile { path, source: source.into() })
    }
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
    }
}
