//! Adds a setting to the user's `config.toml`.

use std::fs::DirBuilder;
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use cert::Fingerprint;

use crate::configuration::{Configuration, file};
use crate::output_file::{Content, Existing, OutputFile};
use crate::{Error, Result, permissions};

/// A setting of `config.toml` that a program adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Setting {
    /// `default-key`: this one.
    DefaultKey(Fingerprint),
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
            Self::DefaultKey(key) => (None, "default-key", format!("'{key}'")),
            Self::EncryptToSelf => (None, "encrypt-to-self", "true".to_owned()),
            Self::Keyserver(server) => (NETWORK, "keyservers", format!("['{server}']")),
            Self::UnknownRecipients(what) => (NETWORK, "unknown-recipients", format!("'{what}'")),
        };
        (table, name, format!("{name} = {value}\n"))
    }
}

/// What became of a setting that was to be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Addition {
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
pub(super) fn add(setting: &Setting, is_dry_run: bool) -> Result<Addition> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
