//! Questions to the user at the terminal.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

use anyhow::bail;

use crate::printable::harmless_lines;

/// Asks and returns the answer, trimmed.
pub(crate) fn ask(question: impl Display) -> io::Result<String> {
    let mut terminal = io::stderr();
    terminal.write_all(harmless_lines(&question.to_string()).as_bytes())?;
    terminal.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(answer.trim().to_owned())
}

/// Asks whether the user agrees; an empty answer says no.
pub(crate) fn is_agreed(question: impl Display) -> io::Result<bool> {
    Ok(matches!(ask(format_args!("{question} [y/N] "))?.as_str(), "y" | "Y" | "yes"))
}

/// Whether the user is asked before something that cannot be taken back easily.
#[derive(Debug, clap::Args)]
pub(crate) struct Confirmation {
    /// Do not ask.
    #[arg(long, short)]
    yes: bool,
}

impl Confirmation {
    /// Asks for consent, unless `--yes` gave it; an empty answer does not. `what` is what would be done: `deleting 2
    /// certificates`.
    ///
    /// # Errors
    ///
    /// Without a terminal nobody can be asked.
    pub(crate) fn is_given(&self, what: impl Display, question: impl Display) -> anyhow::Result<bool> {
        if self.yes {
            return Ok(true);
        }
        if !io::stdin().is_terminal() {
            bail!("not {what} unasked: use --yes");
        }
        Ok(is_agreed(question)?)
    }
}
