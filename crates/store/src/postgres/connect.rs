//! Connections: opened, pooled, and asked from code that knows nothing of asynchrony.
//!
//! One thread does the input and output of all connections of a store; callers wait in their own threads. Statements are
//! prepared once for each connection.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::try_join_all;
use futures_util::{SinkExt, StreamExt, pin_mut};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error as ServerError, Row, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::Address;
use super::error::ServerContext;
use super::rows_out::Encoded;
use crate::retry::Backoff;
use crate::{Error, Result};

/// Parameters of a statement.
pub(super) type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// How long to wait for a server that answered before, for a new connection, and for the lock of writers.
pub(crate) const SERVER_TIMEOUT: Duration = Duration::from_secs(60);

/// Idle connections that are kept.
const MAX_IDLE_CONNECTIONS: usize = 4;

/// The settings of every connection. Statements are planned once, for any parameters: their plans depend on indexes, not
/// on values, and compiling them would take longer than running them.
const SETTINGS: &str =
    "SET plan_cache_mode = force_generic_plan; SET jit = off; SET client_min_messages = warning;
    SET idle_in_transaction_session_timeout = 0; SET TIME ZONE 'UTC'; SET standard_conforming_strings = on;
    SET default_transaction_isolation = 'read committed';";

/// The connections to one database.
pub(super) struct Server {
    pub(super) address: Address,
    path: PathBuf,
    tls: MakeRustlsConnect,
    runtime: Option<Arc<Runtime>>,
    /// Open connections that nobody uses at the moment.
    idle: Mutex<Vec<Connection>>,
}

/// A connection that nobody else uses.
pub(super) struct Connection {
    client: Client,
    runtime: Arc<Runtime>,
    path: PathBuf,
    statements: RefCell<HashMap<String, Statement>>,
}

impl Server {
    /// Prepares to connect; nothing is sent yet.
    pub(super) fn new(address: Address) -> Result<Self> {
        let path = address.path();
        let failed = |reason: String| Error::Address { url: path.display().to_string(), reason };
        let tls = address.security.connector().map_err(failed)?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("postgres")
            .enable_all()
            .build()
            .map_err(|source| Error::File { path: path.clone(), source })?;
        Ok(Self { address, path, tls, runtime: Some(Arc::new(runtime)), idle: Mutex::default() })
    }

    /// Returns the place for messages.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn runtime(&self) -> &Arc<Runtime> {
        self.runtime.as_ref().expect("it is taken out by drop only")
    }

    /// Opens a connection.
    pub(super) fn connect(&self) -> Result<Connection> {
        const DOING: &str = "connecting";
        let mut failure = None;
        for &mode in self.address.security.attempts() {
            let mut config = self.address.config.clone();
            config.ssl_mode(mode);
            // A server that goes away may leave a connection that it took unanswered; the client's own limit ends with
            // the connection's first byte.
            let limit = config.get_connect_timeout().copied().unwrap_or(SERVER_TIMEOUT);
            let connecting = async { tokio::time::timeout(limit, config.connect(self.tls.clone())).await };
            let connected = self.runtime().block_on(connecting).map_err(|_| Error::Server {
                path: self.path.clone(),
                doing: DOING,
                source: "the server does not answer".into(),
                transient: true,
            })?;
            match connected {
                Ok((client, connection)) => {
                    // Ends with the connection; what went wrong then, whoever asks next is told.
                    self.runtime().spawn(connection);
                    let connection = Connection {
                        client,
                        runtime: self.runtime().clone(),
                        path: self.path.clone(),
                        statements: RefCell::default(),
                    };
                    let schema = &self.address.schema;
                    connection.batch(&format!("{SETTINGS} SET search_path = \"{schema}\";"), DOING)?;
                    return Ok(connection);
                }
                Err(error) => failure = Some(error),
            }
        }
        Err(failure.expect("there is a way to connect")).server_context(&self.path, DOING)
    }

    /// Begins a transaction with these words, on an idle connection or a new one. A server that is away is waited for.
    pub(super) fn begin(&self, words: &str) -> Result<Connection> {
        let began = Instant::now();
        let mut pause = Backoff::of_a_server();
        loop {
            match self.try_begin(words) {
                Err(error) if error.is_transient() && began.elapsed() < SERVER_TIMEOUT => {
                    self.forget_idle();
                    pause.sleep();
                }
                done => return done,
            }
        }
    }

    /// Begins a transaction with these words, unless the server is away.
    pub(super) fn try_begin(&self, words: &str) -> Result<Connection> {
        let connection = self.take()?;
        connection.batch(words, "beginning")?;
        Ok(connection)
    }

    /// Returns a connection outside any transaction.
    pub(super) fn take(&self) -> Result<Connection> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(connection) = idle.pop() {
            if !connection.client.is_closed() {
                return Ok(connection);
            }
        }
        drop(idle);
        self.connect()
    }

    /// Takes back a connection outside any transaction.
    pub(super) fn give_back(&self, connection: Connection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE_CONNECTIONS && !connection.client.is_closed() {
            idle.push(connection);
        }
    }

    fn forget_idle(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.forget_idle();
        if let Some(runtime) = self.runtime.take().and_then(Arc::into_inner) {
            // Long enough for the farewells to be sent.
            runtime.shutdown_timeout(Duration::from_millis(100));
        }
    }
}

impl Connection {
    /// Prepares a statement; it may have the other engine's parameters, `?1`, `?2`, ....
    async fn statement(&self, sql: &str) -> std::result::Result<Statement, ServerError> {
        if let Some(statement) = self.statements.borrow().get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(&with_dollars(sql)).await?;
        self.statements.borrow_mut().insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    async fn ask(&self, sql: &str, parameters: Parameters<'_>) -> std::result::Result<Vec<Row>, ServerError> {
        let statement = self.statement(sql).await?;
        self.client.query(&statement, parameters).await
    }

    /// Runs a query.
    pub(super) fn rows(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
        doing: &'static str,
    ) -> Result<Vec<Row>> {
        self.runtime.block_on(self.ask(sql, parameters)).server_context(&self.path, doing)
    }

    /// Runs a query that will not come again.
    pub(super) fn rows_once(&self, sql: &str, doing: &'static str) -> Result<Vec<Row>> {
        self.runtime.block_on(self.client.query(sql, &[])).server_context(&self.path, doing)
    }

    /// Runs several queries at once: all are sent before the first answer is waited for.
    pub(super) fn rows_of_all(
        &self,
        queries: &[(&str, Parameters<'_>)],
        doing: &'static str,
    ) -> Result<Vec<Vec<Row>>> {
        let all = try_join_all(queries.iter().map(|(sql, parameters)| self.ask(sql, parameters)));
        self.runtime.block_on(all).server_context(&self.path, doing)
    }

    /// Runs a query and passes its rows to `each` as they come; `each` must not use this connection.
    pub(super) fn each_row(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
        doing: &'static str,
        mut each: impl FnMut(&Row) -> Result<()>,
    ) -> Result<()> {
        let streamed = async {
            let statement = self.statement(sql).await?;
            self.client.query_raw(&statement, parameters.iter().copied()).await
        };
        let rows = self.runtime.block_on(streamed).server_context(&self.path, doing)?;
        pin_mut!(rows);
        while let Some(row) = self.runtime.block_on(rows.next()) {
            each(&row.server_context(&self.path, doing)?)?;
        }
        Ok(())
    }

    /// Runs a query that has at most one row of interest.
    pub(super) fn row(
        &self,
        sql: &str,
        parameters: Parameters<'_>,
        doing: &'static str,
    ) -> Result<Option<Row>> {
        Ok(self.rows(sql, parameters, doing)?.into_iter().next())
    }

    /// Runs a statement that changes rows; returns how many.
    pub(super) fn execute(&self, sql: &str, parameters: Parameters<'_>, doing: &'static str) -> Result<u64> {
        let executed = async {
            let statement = self.statement(sql).await?;
            self.client.execute(&statement, parameters).await
        };
        self.runtime.block_on(executed).server_context(&self.path, doing)
    }

    /// Runs statements without parameters.
    pub(super) fn batch(&self, sql: &str, doing: &'static str) -> Result<()> {
        self.runtime.block_on(self.client.batch_execute(sql)).server_context(&self.path, doing)
    }

    /// Writes rows into a table, `COPY`'s binary form; `columns` as `table (column, ...)`.
    pub(super) fn copy(&self, columns: &str, rows: Encoded, doing: &'static str) -> Result<u64> {
        if rows.is_empty() {
            return Ok(0);
        }
        let copied = async {
            let statement = self.statement(&format!("COPY {columns} FROM STDIN (FORMAT binary)")).await?;
            let sink = self.client.copy_in::<_, Bytes>(&statement).await?;
            pin_mut!(sink);
            for part in rows.finish() {
                sink.feed(part).await?;
            }
            sink.finish().await
        };
        self.runtime.block_on(copied).server_context(&self.path, doing)
    }
}

/// Writes the other engine's parameters `?1`, `?2`, ... as PostgreSQL's; every other question mark stays.
fn with_dollars(sql: &str) -> String {
    let mut written = String::with_capacity(sql.len());
    let mut quote = None;
    let mut characters = sql.chars().peekable();
    while let Some(character) = characters.next() {
        match (character, quote) {
            ('\'' | '"', None) => quote = Some(character),
            (_, Some(end)) if character == end => quote = None,
            _ => {}
        }
        let is_parameter =
            character == '?' && quote.is_none() && characters.peek().is_some_and(char::is_ascii_digit);
        written.push(if is_parameter { '$' } else { character });
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_parameters_become_dollars() {
        let sql = "SELECT '?1', \"?2\", 'it''s ?3', a ? b FROM t WHERE a = ?1 AND b = $2 OR c IN (?10,?3)";
        let expected =
            "SELECT '?1', \"?2\", 'it''s ?3', a ? b FROM t WHERE a = $1 AND b = $2 OR c IN ($10,$3)";
        assert_eq!(with_dollars(sql), expected);
    }
}
