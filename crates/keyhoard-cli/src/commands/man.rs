//! `keyhoard man`: writes the man pages.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use clap::Command;
use clap_mangen::Man;

use crate::exit::Outcome;
use crate::session::Session;

/// The arguments of `keyhoard man`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  keyhoard man | man -l -
  keyhoard man --directory /usr/local/share/man/man1")]
pub(crate) struct Arguments {
    /// Write a page for the program and one for each command into this directory.
    #[arg(long, value_name = "DIRECTORY")]
    directory: Option<PathBuf>,
}

/// Writes the program's page to standard output, or all pages to a directory.
pub(crate) fn run(session: &mut Session, arguments: &Arguments, program: Command) -> anyhow::Result<Outcome> {
    match &arguments.directory {
        None => {
            let mut page = Vec::new();
            Man::new(program).render(&mut page)?;
            session.output.write_all(&page)?;
        }
        Some(directory) => {
            std::fs::create_dir_all(directory).with_context(|| directory.display().to_string())?;
            clap_mangen::generate_to(program, directory).with_context(|| directory.display().to_string())?;
            session.note(format_args!("wrote the man pages to {}", directory.display()));
        }
    }
    Ok(Outcome::Done)
}
