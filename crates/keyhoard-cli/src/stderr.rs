//! Standard error: notes, warnings and errors.

use std::fmt::Display;
use std::io::{IsTerminal, Write};

use serde::Serialize;

use crate::error_code::ErrorCode;
use crate::json;
use crate::printable::harmless;
use crate::style::{Style, Styled, allowed};

/// A message with `--json`, as `docs/json.md` describes it.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum MessageJson<'a> {
    /// Why the command, or a part of it, failed.
    Error {
        /// The kind of error.
        error: ErrorCode,
        /// The text.
        message: &'a str,
    },
    /// What the user should know, though the command went on.
    Warning {
        /// The text.
        warning: &'a str,
    },
}

/// Writes a line to standard error: a label in a style, and a text, in which control characters are escaped.
pub(crate) fn print(style: Style, label: &str, text: impl Display) {
    let mut stderr = std::io::stderr();
    let label = Styled::new(style, label, stderr.is_terminal() && allowed());
    // An error here could not be reported anywhere.
    let _ = writeln!(stderr, "{label} {}", harmless(&text.to_string()));
}

/// Writes a message to standard error as one line of JSON.
pub(crate) fn json(message: &MessageJson<'_>) {
    // An error here could not be reported anywhere.
    let _ = writeln!(std::io::stderr(), "{}", json::text(message));
}
