//! Where the database is, and opening it.

use std::env;
use std::path::{Path, PathBuf};

use store::doctor::{Derive, Finding, Rebuilt};
use store::sqlite::SqliteStore;
use store::{CertId, JournalId, KeptVerdict, Snapshot, Store, Timestamp, Transaction};

use crate::keyring_file::KeyringFile;
use crate::{Error, Result};

/// The database's name inside a GnuPG home directory and inside the data directory.
pub const FILE_NAME: &str = "keyhoard.db";

/// What every SQLite file begins with (SQLite's file format, 1.3).
pub const SQLITE_HEADER: &[u8] = b"SQLite format 3\0";

/// Returns the database's place: `given`, else `KEYHOARD_DB`, else `keyhoard/keyhoard.db` in the XDG data directory.
///
/// # Errors
///
/// [`Error::NoHome`] if nothing says where that is.
pub fn path(given: Option<&Path>) -> Result<PathBuf> {
    match given {
        Some(path) => Ok(path.to_owned()),
        None => default_path(),
    }
}

/// Returns the place of the database that both programs share when nothing else is said.
///
/// # Errors
///
/// [`Error::NoHome`] if neither `KEYHOARD_DB`, `XDG_DATA_HOME` nor `HOME` is set.
pub fn default_path() -> Result<PathBuf> {
    if let Some(path) = variable("KEYHOARD_DB") {
        return Ok(path);
    }
    default_file()
}

/// Returns the file beside which stands what belongs to a database on this machine, secret keys above all: its own, or
/// for one that a server keeps that of the default database.
pub fn local(place: &Path) -> PathBuf {
    match is_server(place) {
        true => default_file().unwrap_or_else(|_| Path::new("/nonexistent").join(FILE_NAME)),
        false => place.to_owned(),
    }
}

fn default_file() -> Result<PathBuf> {
    let data = match variable("XDG_DATA_HOME").filter(|path| path.is_absolute()) {
        Some(data) => data,
        None => variable("HOME").ok_or(Error::NoHome)?.join(".local/share"),
    };
    Ok(data.join("keyhoard").join(FILE_NAME))
}

/// Returns the place of the database that belongs to a GnuPG home directory.
pub fn in_home(home: &Path) -> PathBuf {
    home.join(FILE_NAME)
}

/// Opens a database that is there.
///
/// # Errors
///
/// [`store::Error::Missing`] if it is not.
pub fn open(path: &Path) -> Result<Box<dyn Store>> {
    Ok(Box::new(SqliteStore::open(path)?))
}

/// Opens a database, making it first if it is not there.
///
/// # Errors
///
/// The database's errors.
pub fn create(path: &Path) -> Result<Box<dyn Store>> {
    Ok(Box::new(SqliteStore::create(path)?))
}

/// Returns a database without certificates, which can only be read, in the place of one that is not there.
pub fn empty(path: &Path) -> Box<dyn Store> {
    Box::new(Empty(KeyringFile::empty(path)))
}

struct Empty(KeyringFile);

impl Store for Empty {
    fn snapshot(&self) -> store::Result<Box<dyn Snapshot + '_>> {
        Ok(self.0.snapshot())
    }

    fn reads_beside_writer(&self) -> store::Result<bool> {
        Ok(false)
    }

    fn begin(
        &self,
        _command: &str,
        _journal: Option<JournalId>,
        _now: Timestamp,
    ) -> store::Result<Box<dyn Transaction + '_>> {
        Err(store::Error::Missing { path: self.0.path().to_owned() })
    }

    fn keep_verdicts(&self, _found: &[(CertId, Vec<KeptVerdict>)]) -> store::Result<bool> {
        Ok(false)
    }

    fn check(&self, _derive: &mut Derive<'_>, _found: &mut dyn FnMut(Finding)) -> store::Result<()> {
        Ok(())
    }

    fn rebuild(&self, _derive: &mut Derive<'_>) -> store::Result<Rebuilt> {
        Err(store::Error::Missing { path: self.0.path().to_owned() })
    }
}

/// Reads an environment variable, an empty one counting as unset.
fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}
