//! Statements that users write.

use std::path::Path;

use store::sqlite::SqliteStore;
pub use store::sqlite::{Rows, Value};

use crate::{Error, Result, database};

/// Runs one read-only statement over the tables of `docs/schema.md` and a `signature` table, in a database that is a
/// file.
///
/// # Errors
///
/// [`Error::ServerStatement`] for a server's database; [`store::Error::Statement`] and [`store::Error::NotReadOnly`];
/// the database's errors.
pub fn query(database: &Path, statement: &str, rows: &mut dyn Rows) -> Result<()> {
    if database::is_server(database) {
        return Err(Error::ServerStatement { location: database::shown(database) });
    }
    Ok(SqliteStore::open(database)?.query(statement, rows)?)
}
