//! Statements that users write: read-only, over the documented tables and a `signature` table.

use std::ops::ControlFlow;

use cert::Facts;
use rusqlite::Connection;
use rusqlite::functions::{Context as Call, FunctionFlags};
use rusqlite::types::ValueRef;

use super::error::Context;
use super::signature_table;
use super::store::SqliteStore;
use crate::{Error, Result, packed};

const DOING: &str = "running the statement";

/// Receives the result of a user's statement.
pub trait Rows {
    /// Takes the names of the columns, before the first row.
    fn columns(&mut self, names: &[&str]) -> ControlFlow<()>;
    /// Takes a row.
    fn row(&mut self, values: &[Value<'_>]) -> ControlFlow<()>;
}

/// A value of SQLite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Nothing.
    Null,
    /// An integer.
    Integer(i64),
    /// A number that is no integer.
    Real(f64),
    /// Text, which SQLite does not check to be UTF-8.
    Text(&'a [u8]),
    /// Bytes.
    Blob(&'a [u8]),
}

impl<'a> From<ValueRef<'a>> for Value<'a> {
    fn from(value: ValueRef<'a>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Integer(number),
            ValueRef::Real(number) => Self::Real(number),
            ValueRef::Text(text) => Self::Text(text),
            ValueRef::Blob(bytes) => Self::Blob(bytes),
        }
    }
}

impl SqliteStore {
    /// Runs one read-only statement and hands out what it returns.
    ///
    /// Besides the tables and views of `docs/schema.md` it sees `signature`: one row for each signature, unpacked from
    /// the facts.
    ///
    /// # Errors
    ///
    /// [`Error::Statement`] with SQLite's words if the statement makes no sense, [`Error::NotReadOnly`] if it would
    /// change anything or returns nothing.
    pub fn query(&self, statement: &str, rows: &mut dyn Rows) -> Result<()> {
        let connection = self.take()?;
        add_signature_table(&connection).context(&self.path, DOING)?;
        connection.pragma_update(None, "query_only", true).context(&self.path, DOING)?;
        run(&connection, statement, rows)?;
        self.check_unchanged()
        // The connection is closed, not given back: nobody else wants a view and a function more.
    }
}

fn run(connection: &Connection, sql: &str, rows: &mut dyn Rows) -> Result<()> {
    let wrong = |source| Error::Statement { words: words(source) };
    let mut statement = connection.prepare(sql).map_err(wrong)?;
    if !statement.readonly() || statement.column_count() == 0 {
        return Err(Error::NotReadOnly);
    }
    let count = statement.column_count();
    let names: Vec<&str> = statement.column_names().collect();
    if rows.columns(&names).is_break() {
        return Ok(());
    }
    let mut found = statement.query([]).map_err(wrong)?;
    while let Some(row) = found.next().map_err(wrong)? {
        let values =
            (0..count).map(|index| row.get_ref(index).map(Value::from)).collect::<rusqlite::Result<Vec<_>>>();
        if rows.row(&values.map_err(wrong)?).is_break() {
            break;
        }
    }
    Ok(())
}

/// Returns what SQLite says, without its codes where it has said it in words.
fn words(error: rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(_, Some(words)) => words,
        rusqlite::Error::SqlInputError { msg, .. } => msg,
        other => other.to_string(),
    }
}

/// Makes `signature` known: a view, so that only the certificates that are asked for are unpacked.
fn add_signature_table(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("signatures_of", 2, flags, |call| {
        let facts = facts(call).map_err(|error| rusqlite::Error::UserFunctionError(error.into()))?;
        Ok(signature_table::json(&facts))
    })?;
    connection.execute_batch(&signature_table::view())
}

fn facts(call: &Call<'_>) -> packed::Result<Facts> {
    let blob = |index| call.get_raw(index).as_blob_or_null().ok().flatten();
    packed::unpack(blob(0).unwrap_or_default(), blob(1))
}
