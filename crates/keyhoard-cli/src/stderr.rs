//! What a person is told besides results.

use std::fmt::Display;
use std::io::{IsTerminal, Write};

use crate::printable::harmless;
use crate::style::{Style, Styled, allowed};

/// Writes a line to standard error: a label in a style, and a text, which may hold the names of files.
pub(crate) fn tell(style: Style, label: &str, text: impl Display) {
    let mut stderr = std::io::stderr();
    let label = Styled::new(style, label, stderr.is_terminal() && allowed());
    // Nobody is left to be told that nobody listens.
    let _ = writeln!(stderr, "{label} {}", harmless(&text.to_string()));
}
