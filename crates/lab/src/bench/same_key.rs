//! Homes of gpg and `keyhoard` with the same key, which has no passphrase.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use tempfile::TempDir;

use super::homes::{run, stop_agent};
use crate::files::{beside, directory_in_memory, private_directory};

/// The user ID of the key.
pub(super) const USER_ID: &str = "ann@example.org";

const GPG: [&str; 4] = ["--batch", "--quiet", "--trust-model", "always"];

/// Homes of both programs with the same key, and files, in memory if there is `/dev/shm`.
pub(super) struct SameKey {
    directory: TempDir,
    keyhoard: PathBuf,
}

impl SameKey {
    /// Makes an Ed25519 key with a Cv25519 subkey, gives it to gpg, and starts gpg's agent.
    pub(super) fn new() -> Result<Self> {
        let both = Self { directory: directory_in_memory()?, keyhoard: beside("keyhoard")? };
        private_directory(Path::new(&both.file("gpg")))?;
        run(&mut both.keyhoard(&["generate", "--no-passphrase", "--profile", "compatible", USER_ID]))?;
        let secret = both.file("secret");
        run(&mut both.keyhoard(&["key", "export", "--force", "--output", &secret, USER_ID]))?;
        run(&mut both.gpg(&["--import", &secret]))?;
        Ok(both)
    }

    /// Returns the path of a file, which is removed when this is dropped.
    pub(super) fn file(&self, name: &str) -> String {
        self.directory.path().join(name).to_string_lossy().into_owned()
    }

    pub(super) fn gpg(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("gpg");
        command.args(self.gpg_arguments()).args(arguments);
        command
    }

    /// Returns the common arguments of gpg.
    pub(super) fn gpg_arguments(&self) -> Vec<String> {
        let home = ["--homedir".to_owned(), self.file("gpg")];
        home.into_iter().chain(GPG.map(str::to_owned)).collect()
    }

    pub(super) fn keyhoard(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.keyhoard);
        command.env("KEYHOARD_DB", self.file("keyhoard.db")).args(arguments).arg("--quiet");
        command
    }
}

impl Drop for SameKey {
    fn drop(&mut self) {
        stop_agent(Path::new(&self.file("gpg")));
    }
}
