//! Where results go.

use std::fmt::{self, Write as _};
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use serde::Serialize;

use crate::json;
use crate::printable::{harmless, is_harmless};
use crate::style::{Style, Styled, allowed, split_sequence};
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
    /// What is about to be written; kept for its room.
    line: String,
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
        Self { form, colour, out: BufWriter::with_capacity(1 << 16, stdout.lock()), line: String::new() }
    }

    /// Says whether JSON is wanted.
    pub(crate) fn is_json(&self) -> bool {
        self.form == Form::Json
    }

    /// Says whether results are seen on a terminal at once.
    pub(crate) fn is_terminal(&self) -> bool {
        self.out.get_ref().is_terminal()
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
        json::write(&mut self.out, value)?;
        self.out.write_all(b"\n")
    }

    /// Writes a table.
    pub(crate) fn table(&mut self, table: &Table) -> io::Result<()> {
        table.write(&mut self.out, self.colour)
    }

    /// Writes a line, in which only [`Styled`] text can do something to the terminal.
    pub(crate) fn line(&mut self, text: impl fmt::Display) -> io::Result<()> {
        self.line.clear();
        // Writing to a string cannot fail.
        let _ = write!(self.line, "{text}");
        write_harmless(&mut self.out, &self.line)?;
        self.out.write_all(b"\n")
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes a text and its styles; whatever else a terminal would obey is escaped.
fn write_harmless(out: &mut impl Write, mut text: &str) -> io::Result<()> {
    if is_harmless(text) {
        return out.write_all(text.as_bytes());
    }
    while !text.is_empty() {
        let (sequence, rest) = split_sequence(text);
        out.write_all(sequence.as_bytes())?;
        // What begins with an escape that begins no style of ours is text.
        let end = rest.char_indices().skip(1).find(|(_, character)| *character == '\x1b');
        let (plain, rest) = rest.split_at(end.map_or(rest.len(), |(position, _)| position));
        out.write_all(harmless(plain).as_bytes())?;
        text = rest;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_styles_reach_the_terminal_as_they_are() {
        let styled = Styled::new(Style::Error, "a\u{9b}31m\x1b[2Jb\n", true).to_string();
        let mut out = Vec::new();
        write_harmless(&mut out, &format!("\x1b]0;x\x07{styled}\u{202e}\x1b")).expect("a vector");
        let expected = "\\x1b]0;x\\x07\x1b[1;31ma\\u{9b}31m\\x1b[2Jb\\x0a\x1b[0m\\u{202e}\\x1b";
        assert_eq!(String::from_utf8(out).expect("text"), expected);
    }
}
