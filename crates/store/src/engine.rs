//! The interface by which statements of both engines are run: parameters `?1`, `?2`, ..., and rows.

use std::ops::ControlFlow;
use std::path::Path;

use cert::{Fingerprint, Origin, Timestamp};
use rusqlite::types::{ToSqlOutput, ValueRef};
#[cfg(feature = "postgres")]
use tokio_postgres::types::{FromSqlOwned as ServerColumn, ToSql as ServerParameter};

use crate::packed;
#[cfg(feature = "postgres")]
use crate::postgres::error::ServerContext;
use crate::rows::parse_fingerprint;
use crate::sqlite::error::Context;
#[cfg(not(feature = "postgres"))]
use crate::without_server::{ServerColumn, ServerParameter};
use crate::{CertId, Error, InputDigest, Query, Result};

/// A transaction of an engine.
pub(crate) trait Engine {
    /// The condition that a number is in the list `?1` that [`joined`] makes.
    const IN_LIST: &'static str;
    /// The condition that bytes are among the [`ByteStrings`] `?1`.
    const IN_BYTE_STRINGS: &'static str;
    /// Selects the certificates with a key that has the rotated key ID `?1`.
    const BY_KEY_ID: &'static str;
    /// Selects the certificates with a key that has the short key ID `?1`.
    const BY_SHORT_KEY_ID: &'static str;
    /// Selects the first `?2` keys with the rotated key ID `?1` in order: certificate, component, own facts.
    const KEYS: &'static str;
    /// Selects the certificates whose primary key has the rotated key ID `?1` in order, with its fingerprint.
    const PRIMARIES: &'static str;
    /// The role that writes a row, in tables where each role has rows of its own; empty where there are no roles.
    const OWN_ROLE: &'static str;
    /// The condition for the rows of the role that writes, after another one; empty where there are no roles.
    const AND_OWN: &'static str;
    /// The owner trust that counts for the current role: columns `fingerprint`, `value` and what [`Engine::by_option`] names.
    const OWNER_TRUSTS: &'static str;
    /// Gives the key `?1` the owner trust `?2`, as the user's.
    const SET_OWNER_TRUST: &'static str;
    /// Takes the owner trust of the key `?1` away, even where that of everybody would count then.
    const UNSET_OWNER_TRUST: &'static str;
    /// The rows of `tofu_binding` that count for the current role.
    const BINDINGS: &'static str;
    /// The condition for the messages that count for the binding `?1`.
    const OF_BINDING: &'static str;
    /// Selects the bindings that user IDs make and that have no row in `tofu_binding`, as `tofu_binding`'s columns;
    /// `{which}` is replaced with the condition on the user IDs.
    const DERIVED_BINDINGS: &'static str;
    /// The conditions for the rows of `tofu_binding` with the address `?1`, and for user IDs with this address, whose hash
    /// is `?2`.
    const OF_ADDRESS: [&'static str; 2];
    /// The condition for the rows of `tofu_binding` with one of the addresses that the [`ByteStrings`] `?1` are.
    const OF_ADDRESSES: &'static str;
    /// The hash of the address in a row of `tofu_binding`, as in the table `mail`.
    const ADDRESS_HASH: &'static str;
    /// Inserts into `tofu_binding` the address `?1` with the hash `?2`, the key `?3`, the user ID `?4`, the time `?5` and
    /// the policy `?6`; what is to be done with a row that is there follows. `{role}` is replaced with whose row it is:
    /// [`Engine::OWN_ROLE`], or `''` for everybody.
    const INSERT_BINDING: &'static str;
    /// The column that tells rows of `tofu_encryption` apart.
    const ENCRYPTION_ROW: &'static str;
    /// How many certificates that were removed or shrunk are read from the journal at once, with all their bytes.
    const FORMERS_AT_ONCE: usize;
    /// Writes the origin of the certificate `?1`'s user ID `?2`: kind, time and URL.
    const SET_USER_ID_ORIGIN: &'static str;
    /// Writes into `migration`: path, time of the change, size, time.
    const REMEMBER_MIGRATION: &'static str;

    /// Returns the place for messages.
    fn path(&self) -> &Path;

    /// Returns the column of owner trust that says whether an option gave it, or what stands for it in tables without.
    fn by_option(&self) -> &'static str {
        "by_option"
    }

    /// Makes sure that the tables have the column `by_option`.
    fn keep_options(&self, _now: Timestamp) -> Result<()> {
        Ok(())
    }

    /// Runs a query and passes its rows to `each` until that breaks; `each` may run other queries.
    fn each_row(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
        doing: &'static str,
        each: impl FnMut(Row<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<()>;

    /// Runs a query without parameters, whose rows may take more memory than there is, as [`Engine::each_row`] does.
    fn each_of_many_rows(
        &self,
        sql: &str,
        doing: &'static str,
        each: impl FnMut(Row<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.each_row(sql, &[], doing, each)
    }

    /// Runs a query and passes its rows to `each` as they come; `each` must not run other queries.
    fn stream(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
        doing: &'static str,
        mut each: impl FnMut(Row<'_>) -> Result<()>,
    ) -> Result<()> {
        self.each_row(sql, parameters, doing, |row| each(row).map(ControlFlow::Continue))
    }

    /// Runs a statement that changes rows; returns how many.
    fn execute(&self, sql: &str, parameters: Parameters<'_>, doing: &'static str) -> Result<u64>;

    /// Returns the certificate whose primary key has this fingerprint.
    fn primary(&self, fingerprint: &Fingerprint) -> Result<Option<CertId>>;

    /// Finds the certificates of user IDs that contain `part` and are answers.
    fn find_text(&self, query: &Query, part: &[u8]) -> Result<Vec<CertId>>;

    /// Says for each digest which certificate an identical, complete import led to.
    fn inputs(&self, digests: &[InputDigest]) -> Result<Vec<Option<CertId>>>;

    /// Runs a query and returns what `map` makes of its rows.
    fn list<T>(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
        doing: &'static str,
        mut map: impl FnMut(Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut list = Vec::new();
        self.each_row(sql, parameters, doing, |row| {
            list.push(map(row)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(list)
    }

    /// Runs a query and returns what `map` makes of its first row, if there is one.
    fn first<T>(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
        doing: &'static str,
        mut map: impl FnMut(Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut first = None;
        self.each_row(sql, parameters, doing, |row| {
            first = Some(map(row)?);
            Ok(ControlFlow::Break(()))
        })?;
        Ok(first)
    }

    /// Returns the number that a query without parameters counts.
    fn number(&self, sql: &str) -> Result<u64> {
        Ok(self.first(sql, &[], "counting", |row| row.count(0))?.unwrap_or(0))
    }

    /// Returns the error that names a certificate with such a blob.
    fn corrupt(&self, cert: i64, source: packed::Error) -> Error {
        Error::Corrupt { path: self.path().to_owned(), cert, source }
    }
}

/// A parameter that both engines take.
pub(crate) trait Parameter: rusqlite::ToSql + ServerParameter + Sync {}

impl<T: rusqlite::ToSql + ServerParameter + Sync> Parameter for T {}

/// Parameters of a statement.
pub(crate) type Parameters<'a> = &'a [&'a dyn Parameter];

/// Text that is bytes in PostgreSQL's tables, which cannot hold every text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a>(pub(crate) &'a str);

impl rusqlite::ToSql for Text<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(self.0.as_bytes())))
    }
}

/// Byte strings as one parameter: for SQLite a JSON array of their hex digits.
#[derive(Debug)]
pub(crate) struct ByteStrings<'a>(pub(crate) Vec<&'a [u8]>);

impl rusqlite::ToSql for ByteStrings<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let digits = |bytes: &&[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let quoted: Vec<String> = self.0.iter().map(|bytes| format!("\"{}\"", digits(bytes))).collect();
        Ok(ToSqlOutput::from(format!("[{}]", quoted.join(","))))
    }
}

/// A row of either engine.
#[derive(Clone, Copy)]
pub(crate) struct Row<'r> {
    columns: Columns<'r>,
    path: &'r Path,
}

#[derive(Clone, Copy)]
enum Columns<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    #[cfg(feature = "postgres")]
    Postgres(&'r tokio_postgres::Row),
}

/// A value that both engines return.
pub(crate) trait Column: rusqlite::types::FromSql + ServerColumn {}

impl<T: rusqlite::types::FromSql + ServerColumn> Column for T {}

const DOING: &str = "reading a row";

impl<'r> Row<'r> {
    /// Makes one of a row of SQLite's, of the database at `path`.
    pub(crate) fn sqlite(row: &'r rusqlite::Row<'r>, path: &'r Path) -> Self {
        Self { columns: Columns::Sqlite(row), path }
    }

    /// Makes one of a row of PostgreSQL's, of the database at `path`.
    #[cfg(feature = "postgres")]
    pub(crate) fn postgres(row: &'r tokio_postgres::Row, path: &'r Path) -> Self {
        Self { columns: Columns::Postgres(row), path }
    }

    /// Returns a value.
    pub(crate) fn get<T: Column>(self, index: usize) -> Result<T> {
        match self.columns {
            Columns::Sqlite(row) => row.get(index).context(self.path, DOING),
            #[cfg(feature = "postgres")]
            Columns::Postgres(row) => row.try_get(index).server_context(self.path, DOING),
        }
    }

    /// Returns bytes; none where there is no value.
    pub(crate) fn bytes(self, index: usize) -> Result<&'r [u8]> {
        Ok(self.optional_bytes(index)?.unwrap_or_default())
    }

    /// Returns bytes, if there is a value.
    pub(crate) fn optional_bytes(self, index: usize) -> Result<Option<&'r [u8]>> {
        match self.columns {
            Columns::Sqlite(row) => {
                row.get_ref(index).and_then(|value| Ok(value.as_blob_or_null()?)).context(self.path, DOING)
            }
            #[cfg(feature = "postgres")]
            Columns::Postgres(row) => row.try_get(index).server_context(self.path, DOING),
        }
    }

    /// Returns [`Text`], if there is a value.
    pub(crate) fn optional_text(self, index: usize) -> Result<Option<String>> {
        match self.columns {
            Columns::Sqlite(_) => self.get(index),
            #[cfg(feature = "postgres")]
            Columns::Postgres(_) => {
                Ok(self.optional_bytes(index)?.map(|text| String::from_utf8_lossy(text).into_owned()))
            }
        }
    }

    /// Returns a number that fits one byte.
    pub(crate) fn small(self, index: usize) -> Result<u8> {
        self.fitted(index, self.get::<i16>(index)?.into())
    }

    /// Returns a number that is not negative.
    pub(crate) fn count(self, index: usize) -> Result<u64> {
        self.fitted(index, self.get(index)?)
    }

    /// Returns a time.
    pub(crate) fn time(self, index: usize) -> Result<Timestamp> {
        self.fitted(index, self.get(index)?).map(Timestamp)
    }

    /// Returns a time, if there is a value.
    pub(crate) fn optional_time(self, index: usize) -> Result<Option<Timestamp>> {
        self.get::<Option<i64>>(index)?.map(|seconds| self.fitted(index, seconds).map(Timestamp)).transpose()
    }

    /// Returns the number of a column as a type that holds fewer numbers.
    fn fitted<T: TryFrom<i64>>(self, index: usize, number: i64) -> Result<T> {
        T::try_from(number).map_err(|_| {
            let (path, doing) = (self.path.to_owned(), DOING);
            let source = format!("{number} is out of range in column {}", index + 1).into();
            match self.columns {
                Columns::Sqlite(_) => Error::Sqlite { path, doing, source },
                #[cfg(feature = "postgres")]
                Columns::Postgres(_) => Error::Server { path, doing, source, transient: false },
            }
        })
    }

    /// Returns a fingerprint; `None` where there is something else.
    pub(crate) fn fingerprint(self, index: usize) -> Result<Option<Fingerprint>> {
        Ok(parse_fingerprint(self.bytes(index)?))
    }

    /// Returns where something came from: the kind, the time and the URL from column `first` on.
    pub(crate) fn origin(self, first: usize) -> Result<Origin> {
        Ok(Origin {
            kind: self.small(first)?,
            updated: self.optional_time(first + 1)?,
            url: self.optional_text(first + 2)?,
        })
    }
}

/// Returns numbers as one parameter, for [`Engine::IN_LIST`].
pub(crate) fn joined(numbers: impl Iterator<Item = i64>) -> String {
    let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
    numbers.join(",")
}

/// Returns a time as it is stored.
pub(crate) fn stored_time(Timestamp(seconds): Timestamp) -> i64 {
    i64::from(seconds)
}
