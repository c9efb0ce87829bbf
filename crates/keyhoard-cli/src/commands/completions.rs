//! `keyhoard completions`: a completion script for a shell.

use std::io::Write;

use clap::CommandFactory;
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
pub(crate) fn run(session: &mut Session, arguments: &Arguments) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    let mut command = crate::arguments::Arguments::command();
    clap_complete::generate(arguments.shell, &mut command, "keyhoard", &mut script);
    session.output.write_all(&script)?;
    Ok(Outcome::Done)
}
