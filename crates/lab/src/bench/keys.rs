//! Key generation with gpg and with `keyhoard`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use lab::measure;
use tempfile::TempDir;

use super::homes::{run, stop_agent};
use super::report::Row;
use crate::files::{beside, directory_in_memory, private_directory};

/// The kinds of keys: the row's name, gpg's arguments, and Keyhoard's profile.
const KEYS: [(&str, [&str; 2], &str); 4] = [
    ("new key, RSA-4096", ["rsa4096", "default"], "one-rsa4096"),
    ("new key, RSA-3072", ["rsa3072", "default"], "one-rsa3072"),
    ("new key, RSA-2048", ["rsa2048", "default"], "one-rsa2048"),
    ("new key, Ed25519 with Cv25519", ["future-default", "default"], "compatible"),
];

/// Profiles of a primary key without subkeys, which is what gpg makes when it is given an algorithm.
const PROFILES: &str = "\
[one-rsa4096]
algorithm = \"rsa4096\"
subkeys = []
[one-rsa3072]
algorithm = \"rsa3072\"
subkeys = []
[one-rsa2048]
algorithm = \"rsa2048\"
subkeys = []
";

/// Measures each kind of key `keys` times, alternately. gpg has one home with a running agent; `keyhoard` makes a new
/// database for each key.
pub(super) fn measure(keys: usize) -> Result<Vec<Row>> {
    let bench = Bench::new()?;
    // Starts the agent.
    bench.gpg(&KEYS[3].1, "first@example.org")?;
    let mut number = 0;
    let rows = KEYS.iter().map(|(task, gpg_kind, profile)| {
        Row::measure(task, [keys, keys], |program| {
            number += 1;
            match program {
                0 => bench.gpg(gpg_kind, &format!("key-{number}@example.org")),
                _ => bench.keyhoard(profile),
            }
        })
    });
    rows.collect()
}

struct Bench {
    directory: TempDir,
    keyhoard: PathBuf,
}

impl Bench {
    fn new() -> Result<Self> {
        let bench = Self { directory: directory_in_memory()?, keyhoard: beside("keyhoard")? };
        private_directory(&bench.home("gpg"))?;
        let configuration = bench.home("config").join("keyhoard");
        fs::create_dir_all(&configuration).with_context(|| configuration.display().to_string())?;
        fs::write(configuration.join("profiles.toml"), PROFILES).context("profiles.toml")?;
        Ok(bench)
    }

    fn home(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn gpg(&self, kind: &[&str; 2], user_id: &str) -> Result<measure::Cost> {
        let mut command = Command::new("gpg");
        command.arg("--homedir").arg(self.home("gpg")).args(["--batch", "--quiet", "--passphrase", ""]);
        command
            .args(["--pinentry-mode", "loopback", "--quick-generate-key", user_id])
            .args(kind)
            .arg("never");
        run(&mut command)
    }

    fn keyhoard(&self, profile: &str) -> Result<measure::Cost> {
        let home = self.home("keyhoard");
        private_directory(&home)?;
        let mut command = Command::new(&self.keyhoard);
        command.args(["generate", "--quiet", "--no-passphrase", "--profile", profile, "ann@example.org"]);
        command.env("KEYHOARD_DB", home.join("keyhoard.db")).env("XDG_CONFIG_HOME", self.home("config"));
        let cost = run(&mut command)?;
        fs::remove_dir_all(&home).with_context(|| home.display().to_string())?;
        Ok(cost)
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        stop_agent(&self.home("gpg"));
    }
}
