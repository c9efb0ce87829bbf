//! Where a database is.

use std::fmt;
use std::path::{Path, PathBuf};

use engine::database::{is_server, shown};

/// Where a database is.
///
/// From text and paths: `:memory:` is [`Location::Memory`], what begins with `postgres://` or `postgresql://` is
/// [`Location::Server`], everything else a file.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Location {
    /// A file, which SQLite keeps. Secret keys are in the directory `secret-keys` beside it.
    File(PathBuf),
    /// A schema of a PostgreSQL server, by its URL (`docs/postgresql.md`); what the URL leaves out is not looked for in the
    /// environment or in files of the user.
    Server(String),
    /// In this process alone, and gone when its last [`Keyhoard`](crate::Keyhoard) is dropped.
    Memory,
}

/// Leaves out the password that a URL may have.
impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Server(url) => f.debug_tuple("Server").field(&shown(url.as_ref())).finish(),
            Self::Memory => f.write_str("Memory"),
        }
    }
}

impl From<&Path> for Location {
    fn from(path: &Path) -> Self {
        match path.to_str() {
            Some(":memory:") => Self::Memory,
            Some(url) if is_server(path) => Self::Server(url.to_owned()),
            _ => Self::File(path.to_owned()),
        }
    }
}

impl From<PathBuf> for Location {
    fn from(path: PathBuf) -> Self {
        Self::from(path.as_path())
    }
}

impl From<&PathBuf> for Location {
    fn from(path: &PathBuf) -> Self {
        Self::from(path.as_path())
    }
}

impl From<&str> for Location {
    fn from(text: &str) -> Self {
        Self::from(Path::new(text))
    }
}

impl From<String> for Location {
    fn from(text: String) -> Self {
        Self::from(Path::new(&text))
    }
}
