//! gpg with its agent, and `keyhoard`, with the same key, which no passphrase locks.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use lab::measure::{self, Cost};
use tempfile::TempDir;

const USER_ID: &str = "ann@example.org";
const GPG: [&str; 4] = ["--batch", "--quiet", "--trust-model", "always"];

/// Homes of both programs with the same key, and files, all in memory where there is such a place.
pub(super) struct SameKey {
    directory: TempDir,
    keyhoard: PathBuf,
}

impl SameKey {
    /// Makes an Ed25519 key with a Cv25519 subkey, gives it to gpg, and starts gpg's agent.
    pub(super) fn new() -> Result<Self> {
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let directory = TempDir::with_prefix_in("kh-lab-", place).context("making a directory")?;
        let here = std::env::current_exe().context("finding keyhoard")?;
        let both = Self { directory, keyhoard: here.with_file_name("keyhoard") };
        let home = both.file("gpg");
        fs::DirBuilder::new().mode(0o700).create(&home).with_context(|| home.clone())?;
        run(&mut both.keyhoard(&["generate", "--no-passphrase", "--profile", "compatible", USER_ID]))?;
        let secret = both.file("secret");
        run(&mut both.keyhoard(&["key", "export", "--output", &secret, USER_ID]))?;
        run(&mut both.gpg(&["--import", &secret]))?;
        Ok(both)
    }

    /// Returns the path of a file that is deleted with this.
    pub(super) fn file(&self, name: &str) -> String {
        self.directory.path().join(name).to_string_lossy().into_owned()
    }

    pub(super) fn gpg(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("gpg");
        command.args(self.gpg_arguments()).args(arguments);
        command
    }

    /// Returns what every gpg is told: where its home is, and to ask nothing.
    pub(super) fn gpg_arguments(&self) -> Vec<String> {
        let home = ["--homedir".to_owned(), self.file("gpg")];
        home.into_iter().chain(GPG.map(str::to_owned)).collect()
    }

    pub(super) fn keyhoard(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.keyhoard);
        command.env("KEYHOARD_DB", self.file("keyhoard.db")).args(arguments).arg("--quiet");
        command
    }

    /// Returns the key's user ID.
    pub(super) fn user_id(&self) -> &'static str {
        USER_ID
    }
}

impl Drop for SameKey {
    fn drop(&mut self) {
        // The agent would notice that its home is gone, but only after a while.
        let _ = Command::new("gpgconf").args(["--homedir", &self.file("gpg"), "--kill", "all"]).status();
    }
}

/// Runs a program that must succeed, and returns what it has cost. What it prints is thrown away.
pub(super) fn run(command: &mut Command) -> Result<Cost> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let cost = measure::run(command).with_context(|| format!("starting {:?}", command.get_program()))?;
    ensure!(cost.code == Some(0), "{command:?} failed");
    Ok(cost)
}
