//! Functions of our own in SQL statements.

use cert::BoundAddress;
use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;

use crate::rows::mail_hash;

/// Adds the functions for the address that a user ID binds, and its hash in the table `mail`.
pub(super) fn add(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("bound_address", 1, flags, |call| {
        Ok(BoundAddress::of_user_id(call.get_raw(0).as_blob()?).as_bytes().to_vec())
    })?;
    connection.create_scalar_function("mail_hash", 1, flags, |call| Ok(mail_hash(call.get_raw(0).as_blob()?)))
}
