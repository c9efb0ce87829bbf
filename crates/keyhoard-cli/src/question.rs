//! Questions to whoever sits at the terminal.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use anyhow::bail;

use crate::printable::harmless_lines;

/// Asks, and returns the answer without white space around it.
pub(crate) fn asked(question: impl Display) -> io::Result<String> {
    let mut terminal = io::stderr();
    terminal.write_all(harmless_lines(&question.to_string()).as_bytes())?;
    terminal.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(answer.trim().to_owned())
}

/// Asks for leave, which an empty answer does not give. `what` is what would be done: `deleting 2 certificates`.
///
/// # Errors
///
/// Without a terminal nobody can be asked.
pub(crate) fn confirmed(what: impl Display, question: impl Display) -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() {
        bail!("not {what} unasked: say --yes");
    }
    let answer = asked(format_args!("{question} [y/N] "))?;
    Ok(matches!(answer.as_str(), "y" | "Y" | "yes"))
}
