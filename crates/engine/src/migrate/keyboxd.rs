//! The database of GnuPG's keyboxd (its `kbx/backend-sqlite.c`).

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::source::log_of;
use crate::{Error, Result};

/// The tables' version that is known here.
const VERSION: &str = "1";

/// Hands every OpenPGP keyblock to `each`, in the order in which they came in, and returns how many X.509 certificates
/// there are.
pub(super) fn read(path: &Path, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<u64> {
    const OPENPGP: &str = "SELECT keyblob FROM pubkey WHERE type = 1 AND ephemeral = 0 ORDER BY rowid";
    let connection = read_rows(path, OPENPGP, each)?;
    let x509 =
        connection.query_row("SELECT count(*) FROM pubkey WHERE type = 2", [], |row| row.get::<_, i64>(0));
    x509.map(i64::unsigned_abs).map_err(failed(path))
}

/// Hands every X.509 certificate to `each`.
pub(crate) fn read_x509(path: &Path, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
    read_rows(path, "SELECT keyblob FROM pubkey WHERE type = 2", each).map(drop)
}

fn read_rows(path: &Path, sql: &str, each: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<Connection> {
    let failed = failed(path);
    let connection = open(path).map_err(&failed)?;
    let version: String = connection
        .query_row("SELECT value FROM config WHERE name = 'dbversion'", [], |row| row.get(0))
        .map_err(&failed)?;
    if version != VERSION {
        return Err(Error::ForeignVersion { path: path.to_owned(), program: "keyboxd", version });
    }
    let mut statement = connection.prepare(sql).map_err(&failed)?;
    let mut rows = statement.query([]).map_err(&failed)?;
    while let Some(row) = rows.next().map_err(&failed)? {
        let keyblock = row.get_ref(0).map_err(&failed)?;
        each(keyblock.as_blob().map_err(|source| failed(source.into()))?)?;
    }
    drop(rows);
    drop(statement);
    Ok(connection)
}

fn failed(path: &Path) -> impl Fn(rusqlite::Error) -> Error {
    move |source| Error::ForeignFile { path: path.to_owned(), source: source.into() }
}

/// Opens the database so that nothing is written, not even beside it: without a log to be read nobody has to be locked
/// out either.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if log_of(path).exists() {
        return Connection::open_with_flags(path, flags);
    }
    let mut uri = OsString::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte).to_string());
            }
            _ => uri.push(format!("%{byte:02X}")),
        }
    }
    uri.push("?immutable=1");
    Connection::open_with_flags(Path::new(&uri), flags | OpenFlags::SQLITE_OPEN_URI)
}
