//! `keyhoard sql`: runs a read-only SQL statement.

use std::collections::HashSet;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;

use engine::sql::{Rows, Value, query};
use serde_json::{Map, Number};

use crate::exit::Outcome;
use crate::output::Output;
use crate::printable::{hexadecimal, printable};
use crate::session::Session;
use crate::style::Style;
use crate::table::{Cell, Table};

/// The number of rows whose columns are aligned with each other.
const ROWS_PER_TABLE: u64 = 1000;

/// The arguments of `keyhoard sql`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard sql 'SELECT count(*) FROM cert'
  keyhoard sql --csv 'SELECT hex(fingerprint), first_seen FROM cert' > certs.csv
  keyhoard sql 'SELECT digest, count(*) FROM signature WHERE own = 0 GROUP BY digest'

docs/schema.md describes the tables; `signature` has a row for each signature. Nothing can be changed this way.")]
pub(crate) struct Arguments {
    /// The statement [default: read from standard input].
    statement: Option<String>,

    /// Write comma-separated values (RFC 4180), the names of the columns first.
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

/// Runs the statement and writes its rows.
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let statement = match &arguments.statement {
        Some(statement) => statement.clone(),
        None => {
            let mut statement = String::new();
            io::stdin().read_to_string(&mut statement)?;
            statement
        }
    };
    let path = session.path()?;
    let form = match (session.output.is_json(), arguments.csv) {
        (true, _) => Form::Json,
        (_, true) => Form::Csv,
        _ => Form::Table(Table::default()),
    };
    let mut writer =
        Writer { output: &mut session.output, form, names: Vec::new(), rows: 0, written: Ok(()) };
    query(&path, &statement, &mut writer)?;
    let rows = writer.finish()?;
    Ok(Outcome::done_if(rows > 0))
}

/// The form of rows.
enum Form {
    /// Aligned columns.
    Table(Table),
    /// Comma-separated values (RFC 4180).
    Csv,
    /// One JSON object per line.
    Json,
}

struct Writer<'o> {
    output: &'o mut Output,
    form: Form,
    names: Vec<String>,
    rows: u64,
    written: io::Result<()>,
}

impl Writer<'_> {
    fn finish(self) -> io::Result<u64> {
        self.written?;
        if let Form::Table(table) = &self.form {
            self.output.table(table)?;
        }
        Ok(self.rows)
    }

    fn write(&mut self, values: &[Value<'_>]) -> io::Result<()> {
        match &mut self.form {
            Form::Table(table) => {
                table.push(values.iter().map(cell));
                if self.rows.is_multiple_of(ROWS_PER_TABLE) {
                    self.output.table(&std::mem::take(table))?;
                }
                Ok(())
            }
            Form::Csv => {
                let for_terminal = self.output.is_terminal();
                csv_line(self.output, values.iter().map(|value| plain(value, for_terminal)))
            }
            Form::Json => {
                let pairs = self.names.iter().cloned().zip(values.iter().map(json));
                self.output.json(&pairs.collect::<Map<_, _>>())
            }
        }
    }

    fn flow_after(&mut self, result: io::Result<()>) -> ControlFlow<()> {
        self.written = result;
        if self.written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

impl Rows for Writer<'_> {
    fn columns(&mut self, names: &[&str]) -> ControlFlow<()> {
        self.names = distinct(names);
        let written = match &mut self.form {
            Form::Table(table) => {
                table.push(
                    names.iter().map(|name| Cell::new(printable(name.as_bytes())).styled(Style::Strong)),
                );
                Ok(())
            }
            Form::Csv => csv_line(self.output, names.iter().map(|name| name.as_bytes().to_vec())),
            Form::Json => Ok(()),
        };
        self.flow_after(written)
    }

    fn row(&mut self, values: &[Value<'_>]) -> ControlFlow<()> {
        self.rows += 1;
        let written = self.write(values);
        self.flow_after(written)
    }
}

/// Makes the names of columns distinct as a subquery of SQLite does: `n`, `n:1`, `n:2`.
fn distinct(names: &[&str]) -> Vec<String> {
    let mut taken = HashSet::new();
    let numbered = |name: &str| {
        let mut name_and_numbered =
            std::iter::once(name.to_owned()).chain((1u32..).map(|number| format!("{name}:{number}")));
        name_and_numbered
            .find(|name| taken.insert(name.clone()))
            .expect("there are more numbers than columns")
    };
    names.iter().copied().map(numbered).collect()
}

fn cell(value: &Value<'_>) -> Cell {
    match value {
        Value::Null => Cell::new("NULL").styled(Style::Faint),
        Value::Integer(value) => Cell::number(value),
        Value::Real(value) => Cell::number(value),
        Value::Text(text) => Cell::new(printable(text)),
        Value::Blob(bytes) => Cell::new(hexadecimal(bytes)),
    }
}

/// Returns a value for CSV: text unchanged (except on a terminal), blobs in hexadecimal.
fn plain(value: &Value<'_>, for_terminal: bool) -> Vec<u8> {
    match value {
        Value::Null => Vec::new(),
        Value::Integer(value) => value.to_string().into_bytes(),
        Value::Real(value) => value.to_string().into_bytes(),
        Value::Text(text) if for_terminal => printable(text).into_bytes(),
        Value::Text(text) => text.to_vec(),
        Value::Blob(bytes) => hexadecimal(bytes).into_bytes(),
    }
}

fn json(value: &Value<'_>) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Integer(value) => (*value).into(),
        Value::Real(value) => Number::from_f64(*value).map_or(serde_json::Value::Null, Into::into),
        Value::Text(text) => String::from_utf8_lossy(text).into(),
        Value::Blob(bytes) => hexadecimal(bytes).into(),
    }
}

fn csv_line(output: &mut Output, values: impl Iterator<Item = Vec<u8>>) -> io::Result<()> {
    let mut line = Vec::new();
    for (index, value) in values.enumerate() {
        if index > 0 {
            line.push(b',');
        }
        let quoted = value.iter().any(|byte| matches!(byte, b',' | b'"' | b'\r' | b'\n'));
        if quoted {
            line.push(b'"');
            value.iter().for_each(|&byte| {
                line.extend(if byte == b'"' { &b"\"\""[..] } else { std::slice::from_ref(&byte) })
            });
            line.push(b'"');
        } else {
            line.extend(value);
        }
    }
    line.extend(b"\r\n");
    output.write_all(&line)
}
