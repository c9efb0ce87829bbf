//! Where the database is, and opening it.

use std::env;
use std::path::{Path, PathBuf};

use serde::Serialize;
use store::postgres::{Address, PostgresStore};
use store::sqlite::SqliteStore;
use store::{Store, is_server_url, without_password};

use crate::{Error, Result};

/// The database's name inside a GnuPG home directory and inside the data directory.
pub const FILE_NAME: &str = "keyhoard.db";

/// What every SQLite file begins with (SQLite's file format, 1.3).
pub const SQLITE_HEADER: &[u8] = b"SQLite format 3\0";

/// Returns the database's place, a file or a server's URL: `given`, else `KEYHOARD_DB`, else `keyhoard/keyhoard.db` in
/// the XDG data directory.
///
/// # Errors
///
/// [`Error::NoHome`] if nothing says where that is.
pub fn path(given: Option<&Path>) -> Result<PathBuf> {
    given.map_or_else(default_path, |path| Ok(path.to_owned()))
}

/// Returns the place of the database that both programs share when nothing else is said.
///
/// # Errors
///
/// [`Error::NoHome`] if neither `KEYHOARD_DB`, `XDG_DATA_HOME` nor `HOME` is set, and the user has no home directory.
pub fn default_path() -> Result<PathBuf> {
    variable("KEYHOARD_DB").map_or_else(default_file, Ok)
}

/// Returns the file beside which a database's local files are, such as secret keys: the database's own file, or that of
/// the default database if a server has it.
pub fn local(location: &Path) -> PathBuf {
    match is_server(location) {
        true => default_file().unwrap_or_else(|_| Path::new("/nonexistent").join(FILE_NAME)),
        false => location.to_owned(),
    }
}

fn default_file() -> Result<PathBuf> {
    Ok(data_directory().ok_or(Error::NoHome)?.join("keyhoard").join(FILE_NAME))
}

/// Returns the XDG data directory: `XDG_DATA_HOME`, which counts only if it is absolute, else `~/.local/share`.
pub(crate) fn data_directory() -> Option<PathBuf> {
    let named = variable("XDG_DATA_HOME").filter(|path| path.is_absolute());
    named.or_else(|| Some(home()?.join(".local/share")))
}

/// Returns GnuPG's home directory: `GNUPGHOME`, else `~/.gnupg`.
pub(crate) fn gnupg_home() -> Option<PathBuf> {
    variable("GNUPGHOME").or_else(|| Some(home()?.join(".gnupg")))
}

/// Returns the place of the database that belongs to a GnuPG home directory.
pub fn in_home(home: &Path) -> PathBuf {
    home.join(FILE_NAME)
}

/// Says whether a location is a server's URL, `postgres://...`, and not a file.
pub fn is_server(location: &Path) -> bool {
    location.to_str().is_some_and(is_server_url)
}

/// Returns a location as text for people, without the password that a URL may have.
pub fn shown(location: &Path) -> String {
    without_password(&location.to_string_lossy())
}

fn server(location: &Path) -> Result<Option<Address>> {
    let url = location.to_str().filter(|location| is_server_url(location));
    Ok(url.map(Address::parse).transpose()?)
}

/// Opens a database that is there: a file, or a server's.
///
/// # Errors
///
/// [`store::Error::Missing`] if it is not.
pub fn open(location: &Path) -> Result<Box<dyn Store>> {
    Ok(match server(location)? {
        Some(address) => Box::new(PostgresStore::open(address)?),
        None => Box::new(SqliteStore::open(location)?),
    })
}

/// Opens a database, making it first if it is not there.
///
/// # Errors
///
/// The database's errors.
pub fn create(location: &Path) -> Result<Box<dyn Store>> {
    Ok(match server(location)? {
        Some(address) => Box::new(PostgresStore::create(address, 0)?),
        None => Box::new(SqliteStore::create(location)?),
    })
}

/// What a database is; as JSON it is described in `docs/json.md`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Status {
    /// Where it is, without a password.
    #[serde(rename = "database")]
    pub location: String,
    /// What keeps it.
    pub engine: String,
    /// How many certificates there are.
    pub certificates: u64,
    /// The number of partitions of the big tables; 0 if they have none.
    pub partitions: u32,
    /// Whether an index finds parts of user IDs.
    pub search_index: bool,
}

/// Makes a database unless it is there; in a server with so many partitions, 0 for plain tables.
///
/// # Errors
///
/// The database's errors; [`Error::OtherPartitions`]; [`store::Error::Address`] if a file is to have partitions.
pub fn init(location: &Path, partitions: u32) -> Result<Status> {
    let status = match server(location)? {
        Some(address) => server_status(&PostgresStore::create(address, partitions)?)?,
        None if partitions > 0 => {
            let reason = "a database in a file has no partitions".to_owned();
            return Err(store::Error::Address { url: shown(location), reason }.into());
        }
        None => file_status(&SqliteStore::create(location)?)?,
    };
    if status.partitions != partitions {
        return Err(Error::OtherPartitions { location: shown(location) });
    }
    Ok(status)
}

/// Says what a database is.
///
/// # Errors
///
/// The database's errors.
pub fn status(location: &Path) -> Result<Status> {
    match server(location)? {
        Some(address) => server_status(&PostgresStore::open(address)?),
        None => file_status(&SqliteStore::open(location)?),
    }
}

/// Brings the tables to this program's version, and creates what could not be created before.
///
/// # Errors
///
/// The database's errors.
pub fn migrate(location: &Path) -> Result<Status> {
    match server(location)? {
        Some(address) => server_status(&PostgresStore::migrate(address)?),
        // There is one version of it as yet.
        None => file_status(&SqliteStore::open(location)?),
    }
}

fn server_status(store: &PostgresStore) -> Result<Status> {
    let shape = store.shape();
    Ok(Status {
        location: store.address().to_string(),
        engine: format!("PostgreSQL {}", store.server_version()?),
        certificates: store.snapshot()?.count()?,
        partitions: shape.partitions,
        search_index: shape.search_index,
    })
}

fn file_status(store: &SqliteStore) -> Result<Status> {
    Ok(Status {
        location: store.path().display().to_string(),
        engine: "SQLite".to_owned(),
        certificates: store.snapshot()?.count()?,
        partitions: 0,
        search_index: true,
    })
}

/// Returns a database without certificates, which can only be read, in the place of one that is not there.
pub fn empty(path: &Path) -> Box<dyn Store> {
    Box::new(SqliteStore::empty(path))
}

/// Returns the user's home directory: `HOME`, else the one that the system knows, as for GnuPG.
pub(crate) fn home() -> Option<PathBuf> {
    env::home_dir().filter(|home| !home.as_os_str().is_empty())
}

/// Reads an environment variable, an empty one counting as unset.
pub(crate) fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}
