//! `keyhoard completions`: writes a completion script for a shell.

use std::io::Write;

use clap::Command;
use clap_complete::Shell;

use crate::exit::Outcome;
use crate::session::Session;

/// The arguments of `keyhoard completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard completions bash > ~/.local/share/bash-completion/completions/keyhoard
  keyhoard completions zsh > ~/.zfunc/_keyhoard
  keyhoard completions fish > ~/.config/fish/completions/keyhoard.fish")]
pub(crate) struct Arguments {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Writes the script to standard output.
pub(crate) fn run(
    session: &mut Session,
    arguments: &Arguments,
    mut program: Command,
) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut program, "keyhoard", &mut script);
    session.output.write_all(&script)?;
    Ok(Outcome::Done)
}
