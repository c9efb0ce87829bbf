//! Standard error: notes, warnings and errors.

use std::fmt::Display;
use std::io::{IsTerminal, Write};

use crate::printable::harmless;
use crate::style::{Style, Styled, allowed};

/// Writes a line to standard error: a label in a style, and a text, in which control characters are escaped.
pub(crate) fn print(style: Style, label: &str, text: impl Display) {
    let mut stderr = std::io::stderr();
    let label = Styled::new(style, label, stderr.is_terminal() && allowed());
    // An error here could not be reported anywhere.
    let _ = writeln!(stderr, "{label} {}", harmless(&text.to_string()));
}
