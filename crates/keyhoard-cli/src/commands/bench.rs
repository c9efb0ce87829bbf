//! `keyhoard bench`: executes `keyhoard-lab bench`.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, anyhow};

use crate::exit::Outcome;

/// The program that measures; installed beside this one.
const PROGRAM: &str = "keyhoard-lab";

/// The arguments of `keyhoard bench`.
#[derive(Debug, clap::Args)]
#[command(
    disable_help_flag = true,
    after_help = "Examples:
  keyhoard bench --help                       what can be measured
  keyhoard bench keyring --quick
  keyhoard bench symmetric --size 1G --out ciphers
  keyhoard bench all --resume

The program keyhoard-lab does this; it is looked for beside keyhoard, then in the PATH."
)]
pub(crate) struct Arguments {
    /// The experiment and its options.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "EXPERIMENT")]
    rest: Vec<OsString>,
}

/// Replaces this process by the other program; returns only if that cannot be started.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let here = env::current_exe().context("finding this program")?;
    let beside = Some(here.with_file_name(PROGRAM)).filter(|file| file.is_file());
    let program = beside.unwrap_or_else(|| PathBuf::from(PROGRAM));
    let error = Command::new(&program).arg("bench").args(&arguments.rest).exec();
    Err(anyhow!(error).context(format!("{} cannot be started", program.display())))
}
