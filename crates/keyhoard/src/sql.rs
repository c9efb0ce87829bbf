//! Statements that users write.

use std::path::Path;

use store::sqlite::SqliteStore;
pub use store::sqlite::{Rows, Value};

use crate::Result;

/// Runs one read-only statement over the tables of `docs/schema.md` and a `signature` table.
///
/// # Errors
///
/// [`store::Error::Statement`] and [`store::Error::NotReadOnly`]; the database's errors.
pub fn query(database: &Path, statement: &str, rows: &mut dyn Rows) -> Result<()> {
    Ok(SqliteStore::open(database)?.query(statement, rows)?)
}
