//! Where results go.

use std::fmt;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use serde::Serialize;

use crate::style::{Style, Styled, allowed};
use crate::table::Table;

/// In which form results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// For a person.
    Human,
    /// For a program: one JSON document a line.
    Json,
}

/// When colours are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Colour {
    #[default]
    Auto,
    Always,
    Never,
}

/// Standard output.
#[derive(Debug)]
pub(crate) struct Output {
    /// In which form results are written.
    pub(crate) form: Form,
    colour: bool,
    out: BufWriter<StdoutLock<'static>>,
}

impl Output {
    /// Takes hold of standard output.
    pub(crate) fn new(form: Form, colour: Colour) -> Self {
        let stdout = io::stdout();
        let colour = match colour {
            Colour::Auto => stdout.is_terminal() && allowed(),
            Colour::Always => true,
            Colour::Never => false,
        };
        Self { form, colour, out: BufWriter::with_capacity(1 << 16, stdout.lock()) }
    }

    /// Says whether JSON is wanted.
    pub(crate) fn is_json(&self) -> bool {
        self.form == Form::Json
    }

    /// Says whether colours are wanted.
    pub(crate) fn colour(&self) -> bool {
        self.colour
    }

    /// Gives text a style.
    pub(crate) fn styled<T>(&self, style: Style, text: T) -> Styled<T> {
        Styled::new(style, text, self.colour)
    }

    /// Writes one JSON document on a line of its own.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, value)?;
        self.out.write_all(b"\n")
    }

    /// Writes a table.
    pub(crate) fn table(&mut self, table: &Table) -> io::Result<()> {
        table.write(&mut self.out, self.colour)
    }

    /// Writes a line.
    pub(crate) fn line(&mut self, text: impl fmt::Display) -> io::Result<()> {
        writeln!(self.out, "{text}")
    }
}

impl Write for Output {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.out.write(octets)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
