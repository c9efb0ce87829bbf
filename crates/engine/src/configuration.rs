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
//! ```
//!
//! ```toml
//! # `keyhoard encrypt` encrypts to one's own keys, too.
//! encrypt-to-self = true
//! # `gpg-keyhoard` makes RSA keys of fewer than 2048 bits when it is asked to, for tests and old programs.
//! allow-weak-keys = true
//! ```
//!
//! Its table `network` says what goes over the network: `fetch::NetworkConfiguration`, with the feature `network`.
//!
//! A file that somebody else can change is an error.

use std::fs::DirBuilder;
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Deserialize;

#[cfg(feature = "network")]
use crate::fetch::NetworkConfiguration;
use crate::output_file::{Content, Existing, OutputFile};
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
    /// Messages are encrypted to the user's own keys, too.
    #[serde(default)]
    pub encrypt_to_self: bool,
    /// `gpg-keyhoard` makes RSA keys that are too small to be safe.
    #[serde(default)]
    pub allow_weak_keys: bool,
    /// Whether `gpg-keyhoard` takes over the certificates, owner trust and TOFU data of GnuPG in a home directory.
    #[serde(default)]
    pub import_home: ImportHome,
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

/// A setting of `config.toml` that a program adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Setting {
    /// `encrypt-to-self`.
    EncryptToSelf,
    /// `keyservers` in the table `network`: this one.
    Keyserver(String),
    /// `unknown-recipients` in the table `network`.
    UnknownRecipients(&'static str),
}

impl Setting {
    /// Returns the table that it is in, its name, and its line.
    fn parts(&self) -> (Option<&'static str>, &'static str, String) {
        const NETWORK: Option<&str> = Some("network");
        let (table, name, value) = match self {
            Self::EncryptToSelf => (None, "encrypt-to-self", "true".to_owned()),
            Self::Keyserver(server) => (NETWORK, "keyservers", format!("['{server}']")),
            Self::UnknownRecipients(what) => (NETWORK, "unknown-recipients", format!("'{what}'")),
        };
        (table, name, format!("{name} = {value}\n"))
    }
}

/// What became of a setting that was to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Addition {
    /// It was added, or would be.
    Added,
    /// The file says so already.
    Same,
    /// The file says otherwise, and stays as it is.
    Other,
}

/// Adds a setting to `config.toml`, unless that has one of its name; with `is_dry_run`, only says what would become of it.
/// Everything else in the file stays as it is.
///
/// # Errors
///
/// [`Error::NoHome`] if there is no place for it; what is wrong with the file; [`Error::File`].
pub(crate) fn add(setting: &Setting, is_dry_run: bool) -> Result<Addition> {
    let path = file("config.toml").ok_or(Error::NoHome)?;
    let text = permissions::configuration(&path)?.unwrap_or_default();
    let foreign = |source: toml::de::Error| Error::ForeignFile { path: path.clone(), source: source.into() };
    let before: toml::Table = toml::from_str(&text).map_err(foreign)?;
    let (table, name, line) = setting.parts();
    let new: toml::Table = toml::from_str(&line).map_err(foreign)?;
    let within = match table {
        Some(table) => before.get(table).and_then(toml::Value::as_table),
        None => Some(&before),
    };
    if let Some(found) = within.and_then(|within| within.get(name)) {
        return Ok(if Some(found) == new.get(name) { Addition::Same } else { Addition::Other });
    }
    let added = with_line(&text, table, &line);
    toml::from_str::<Configuration>(&added).map_err(foreign)?;
    if !is_dry_run {
        write(&path, &added).map_err(|source| Error::File { path: path.clone(), source })?;
    }
    Ok(Addition::Added)
}

/// Puts a line into a table: before everything, after the table's heading, or after everything with a heading.
fn with_line(text: &str, table: Option<&str>, line: &str) -> String {
    let Some(table) = table else { return [line, text].concat() };
    let heading = format!("[{table}]");
    let mut end = 0;
    for before in text.split_inclusive('\n') {
        end += before.len();
        let content = before.split('#').next().unwrap_or_default().trim();
        if content == heading && before.ends_with('\n') {
            return [&text[..end], line, &text[end..]].concat();
        }
    }
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    [text, end, &heading, "\n", line].concat()
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    let mut output = OutputFile::create(path, Content::Ordinary, Existing::Replaced, &[])?;
    output.write_all(text.as_bytes())?;
    output.commit()
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
        let read = toml::from_str::<Configuration>("secret-keys = 'files'").expect("right");
        assert_eq!(read.secret_keys, SecretKeyPlace::Files);
        assert!(toml::from_str::<Configuration>("secret-keys = 'card'").is_err());
    }

    #[test]
    fn a_line_is_put_where_its_table_is() {
        let line = "timeout = 3\n";
        assert_eq!(with_line("a = 1\n", None, line), "timeout = 3\na = 1\n");
        assert_eq!(with_line("a = 1", Some("network"), line), "a = 1\n[network]\ntimeout = 3\n");
        let (text, added) =
            ("[network] # x\nproxy = 'a'\n[b]\n", "[network] # x\ntimeout = 3\nproxy = 'a'\n[b]\n");
        assert_eq!(with_line(text, Some("network"), line), added);
        for setting in [Setting::EncryptToSelf, Setting::Keyserver("vks://a.example".to_owned())] {
            let (table, _, line) = setting.parts();
            let text = with_line("", table, &line);
            assert_ne!(toml::from_str::<Configuration>(&text), Ok(Configuration::default()), "{text}");
        }
    }

    #[test]
    fn the_gnupg_that_is_followed_is_2_4_unless_another_is_named() {
        assert_eq!(Configuration::default().compat, Compat::V2_4);
        let read = toml::from_str::<Configuration>("compat = '2.2'").expect("right");
        assert_eq!(read.compat, Compat::V2_2);
        assert!(toml::from_str::<Configuration>("compat = '2.3'").is_err());
    }
}
