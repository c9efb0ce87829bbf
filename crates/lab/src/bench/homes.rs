//! Directories for measurements: in memory, private, and without agents left behind.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use lab::measure::{self, Cost};
use tempfile::TempDir;

/// Makes a directory in memory, if there is `/dev/shm`; its name is short, because paths of sockets must be.
pub(super) fn directory_in_memory() -> Result<TempDir> {
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    TempDir::with_prefix_in("kh-lab-", place).context("making a directory")
}

/// Returns the path of the `keyhoard` that was built with this program.
pub(super) fn keyhoard() -> Result<PathBuf> {
    Ok(std::env::current_exe().context("finding keyhoard")?.with_file_name("keyhoard"))
}

pub(super) fn private_directory(path: &Path) -> Result<()> {
    fs::DirBuilder::new().mode(0o700).create(path).with_context(|| path.display().to_string())
}

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
