//! GnuPG's memory of trust on first use (the tables of its `g10/tofu.c`).

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use cert::{BoundAddress, Fingerprint, Timestamp};
use rusqlite::{Connection, OpenFlags, Row};
use store::tofu::{Binding, SeenMessages, VerifiedMessage};
use trust::tofu::Policy;

use crate::{Error, Result, owner_trust};

/// The tables' version that is known here.
const VERSION: i64 = 1;

/// What GnuPG remembers of a binding.
pub(super) struct Remembered {
    /// The binding.
    pub(super) binding: Binding,
    /// Messages that it saw with it.
    pub(super) messages: SeenMessages,
}

/// Says whether a SQLite database is such a memory.
pub(super) fn is_tofu_db(path: &Path) -> bool {
    let sql = "SELECT 1 FROM sqlite_schema WHERE name = 'bindings'";
    open(path).and_then(|connection| connection.prepare(sql)?.exists([])).unwrap_or(false)
}

/// Hands every binding to `each`, in the order in which they came in; the reason for one that cannot be read.
///
/// What GnuPG remembers of conflicts is left out: it follows from the bindings.
pub(super) fn read(
    path: &Path,
    each: &mut dyn FnMut(std::result::Result<Remembered, String>) -> Result<()>,
) -> Result<()> {
    let failed =
        |source: rusqlite::Error| Error::ForeignFile { path: path.to_owned(), source: source.into() };
    let connection = open(path).map_err(failed)?;
    let version: i64 =
        connection.query_row("SELECT version FROM version", [], |row| row.get(0)).map_err(failed)?;
    if version != VERSION {
        let (path, version) = (path.to_owned(), version.to_string());
        return Err(Error::ForeignVersion { path, program: "GnuPG", version });
    }
    const BINDINGS: &str = "SELECT oid, fingerprint, email, user_id, time, policy FROM bindings ORDER BY oid";
    let mut statement = connection.prepare(BINDINGS).map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let oid: i64 = row.get(0).map_err(failed)?;
        match binding(row).map_err(failed)? {
            None => each(Err(format!("binding {oid} has an invalid fingerprint or policy")))?,
            Some(binding) => {
                let messages = SeenMessages {
                    verified: verified(&connection, oid).map_err(failed)?,
                    encrypted: encrypted(&connection, oid).map_err(failed)?,
                };
                each(Ok(Remembered { binding, messages }))?;
            }
        }
    }
    Ok(())
}

/// Opens the database so that nothing in it changes; a GnuPG that writes at the same time is waited for.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags)
}

/// Reads a row; `None` if its fingerprint or policy is none.
fn binding(row: &Row<'_>) -> rusqlite::Result<Option<Binding>> {
    let fingerprint = fingerprint(&bytes(row, 1)?);
    let policy = row.get::<_, Option<i64>>(5)?.and_then(|number| u8::try_from(number).ok());
    let policy = policy.and_then(Policy::from_number).map(Policy::number);
    let (Some(fingerprint), Some(policy)) = (fingerprint, policy) else { return Ok(None) };
    Ok(Some(Binding {
        id: None,
        fingerprint,
        address: BoundAddress::from_normalised(bytes(row, 2)?),
        user_id: bytes(row, 3)?,
        since: time(row, 4)?,
        policy,
    }))
}

fn verified(connection: &Connection, binding: i64) -> rusqlite::Result<Vec<VerifiedMessage>> {
    const SQL: &str = "SELECT sig_digest, origin, sig_time, time FROM signatures WHERE binding = ?1";
    let mut statement = connection.prepare_cached(SQL)?;
    let messages = statement.query_map([binding], |row| {
        let digest = bytes(row, 0)?;
        Ok(VerifiedMessage {
            digest: STANDARD_NO_PAD.decode(&digest).unwrap_or(digest),
            origin: String::from_utf8_lossy(&bytes(row, 1)?).into_owned(),
            signed: time(row, 2)?,
            verified: time(row, 3)?,
        })
    })?;
    messages.collect()
}

/// GnuPG's first databases had no such table.
fn encrypted(connection: &Connection, binding: i64) -> rusqlite::Result<Vec<Timestamp>> {
    const IS_THERE: &str = "SELECT 1 FROM sqlite_schema WHERE name = 'encryptions'";
    if !connection.prepare_cached(IS_THERE)?.exists([])? {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare_cached("SELECT time FROM encryptions WHERE binding = ?1")?;
    let times = statement.query_map([binding], |row| time(row, 0))?;
    times.collect()
}

/// Returns the bytes of a text that may be no UTF-8, or missing.
fn bytes(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<u8>> {
    Ok(row.get_ref(column)?.as_bytes_or_null()?.unwrap_or_default().to_vec())
}

fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    let seconds: Option<i64> = row.get(column)?;
    Ok(Timestamp(u32::try_from(seconds.unwrap_or_default()).unwrap_or_default()))
}

fn fingerprint(hexadecimal: &[u8]) -> Option<Fingerprint> {
    let version = if hexadecimal.len() == 40 { 4 } else { 5 };
    let is_whole = hexadecimal.len().is_multiple_of(2) && hexadecimal.iter().all(u8::is_ascii_hexdigit);
    Fingerprint::new(version, &owner_trust::bytes(hexadecimal)).filter(|_| is_whole)
}
