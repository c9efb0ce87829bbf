//! Standard output: results as text or as JSON.

use std::error::Error;
use std::fmt::{self, Write as _};
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use serde::Serialize;

use crate::json;
use crate::printable::{harmless, is_harmless};
use crate::style::{Style, Styled, allowed, split_sequence};
use crate::table::Table;

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
    /// Results are written as JSON, one document per line, else as text.
    is_json: bool,
    colour: bool,
    out: BufWriter<StandardOutput<StdoutLock<'static>>>,
    /// The line that is being written; kept for its capacity.
    line: String,
}

impl Output {
    /// Locks standard output.
    pub(crate) fn new(is_json: bool, colour: Colour) -> Self {
        let stdout = io::stdout();
        let colour = match colour {
            Colour::Auto => stdout.is_terminal() && allowed(),
            Colour::Always => true,
            Colour::Never => false,
        };
        let out = BufWriter::with_capacity(1 << 16, StandardOutput(stdout.lock()));
        Self { is_json, colour, out, line: String::new() }
    }

    /// Returns whether results are written as JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.is_json
    }

    /// Returns whether standard output is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        io::stdout().is_terminal()
    }

    /// Applies a style to text, where colours are used.
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

    /// Writes a line. Control sequences are escaped, except those of [`Styled`] text.
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

/// A writer to standard output, which marks the error that standard output is closed: unlike other broken pipes, it is
/// not reported.
#[derive(Debug)]
pub(crate) struct StandardOutput<W>(pub(crate) W);

impl<W: Write> Write for StandardOutput<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(marked)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(marked)
    }
}

fn marked(error: io::Error) -> io::Error {
    match error.kind() {
        kind @ io::ErrorKind::BrokenPipe => io::Error::new(kind, StandardOutputClosed),
        _ => error,
    }
}

#[derive(Debug)]
struct StandardOutputClosed;

impl fmt::Display for StandardOutputClosed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("standard output is closed")
    }
}

impl Error for StandardOutputClosed {}

/// Returns whether an error says that standard output is closed.
pub(crate) fn is_standard_output_closed(error: &(dyn Error + 'static)) -> bool {
    let error = error.downcast_ref().and_then(io::Error::get_ref);
    error.is_some_and(|error| error.is::<StandardOutputClosed>())
}

/// Writes a text with the sequences of its styles; all other control characters are escaped.
fn write_harmless(out: &mut impl Write, mut text: &str) -> io::Result<()> {
    if is_harmless(text) {
        return out.write_all(text.as_bytes());
    }
    while !text.is_empty() {
        let (sequence, rest) = split_sequence(text);
        out.write_all(sequence.as_bytes())?;
        // An escape character that begins none of our styles is text.
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
