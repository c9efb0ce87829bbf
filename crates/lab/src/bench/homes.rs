//! Programs that run in homes: what must succeed, and agents that are not left behind.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use lab::measure::{self, Cost};

/// Stops the agent of a home that is about to be removed.
pub(super) fn stop_agent(home: &Path) {
    let _ = Command::new("gpgconf").arg("--homedir").arg(home).args(["--kill", "all"]).status();
}

/// Runs a program that must succeed, discards its output, and returns its costs.
pub(super) fn run(command: &mut Command) -> Result<Cost> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let cost = measure::run(command).with_context(|| format!("starting {:?}", command.get_program()))?;
    ensure!(cost.code == Some(0), "{command:?} failed");
    Ok(cost)
}
