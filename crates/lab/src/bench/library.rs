//! The Python package beside others, which a script measures: they are libraries, and no programs.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// The script, in a clone of the repository.
const SCRIPT: &str = "scripts/bench-library";

/// Runs the script with its options.
pub(crate) fn run(options: &[String]) -> Result<()> {
    ensure!(Path::new(SCRIPT).exists(), "{SCRIPT} is not here: run this in a clone of the repository");
    let status = Command::new(SCRIPT).args(options).status().context(SCRIPT)?;
    ensure!(status.success(), "{SCRIPT} failed");
    Ok(())
}
