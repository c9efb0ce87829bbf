//! The installed gpg and `gpg-keyhoard`, each with homes of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};
use lab::measure::{self, Cost};
use tempfile::TempDir;

use crate::files::{beside, copy_files, private_directory};

/// Debian's largest keyring.
pub(crate) const KEYRING: &str = "/usr/share/keyrings/debian-keyring.gpg";

/// The options that keep gpg from computing trust.
const NO_TRUST: &str = "trust-model always\nno-auto-check-trustdb\n";
/// The option that keeps gpg from starting an agent.
const NO_AGENT: &str = "no-autostart\n";
/// The configuration, and the files in which gpg stores computed trust.
const LEFT_OUT: [&str; 3] = ["gpg.conf", "trustdb.gpg", "tofu.db"];

/// A program with gpg's command line, and the directory of its homes.
#[derive(Debug)]
pub(crate) struct GpgProgram {
    pub(crate) name: &'static str,
    program: PathBuf,
    homes: TempDir,
    made: AtomicUsize,
}

impl GpgProgram {
    /// Returns the installed gpg.
    pub(crate) fn gpg() -> Result<GpgProgram> {
        GpgProgram::new("gpg", PathBuf::from("gpg"))
    }

    /// Returns the `gpg-keyhoard` that was built with this program.
    pub(crate) fn gpg_keyhoard() -> Result<GpgProgram> {
        GpgProgram::new("gpg-keyhoard", beside("gpg-keyhoard")?)
    }

    fn new(name: &'static str, program: PathBuf) -> Result<GpgProgram> {
        let homes =
            TempDir::with_prefix("keyhoard-lab-").context("making a directory for temporary files")?;
        Ok(GpgProgram { name, program, homes, made: AtomicUsize::new(0) })
    }

    /// Returns the line of `--version` that names Keyhoard, or else the first line. (`gpg-keyhoard` prints the version
    /// of the gpg that it replaces first.)
    pub(crate) fn version(&self) -> Result<String> {
        let output = Command::new(&self.program).arg("--version").output();
        let output = output.with_context(|| format!("starting {}", self.program.display()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let line = text.lines().find(|line| line.to_lowercase().contains("keyhoard")).or(text.lines().next());
        Ok(line.unwrap_or("unknown").to_owned())
    }

    /// Makes a new empty home in which no trust is computed.
    pub(crate) fn home(&self) -> Result<PathBuf> {
        self.new_home(NO_TRUST)
    }

    /// Makes a copy of a home in which trust is computed, without the results of earlier computations.
    pub(crate) fn trusting_copy(&self, home: &Path) -> Result<PathBuf> {
        let copy = self.new_home("")?;
        copy_files(home, &copy, &LEFT_OUT).with_context(|| format!("copying {}", home.display()))?;
        Ok(copy)
    }

    fn new_home(&self, more_conf: &str) -> Result<PathBuf> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let home = self.homes.path().join(number.to_string());
        private_directory(&home)?;
        fs::write(home.join("gpg.conf"), format!("{NO_AGENT}{more_conf}"))
            .with_context(|| home.display().to_string())?;
        Ok(home)
    }

    /// Runs the program, discards its output, and returns its costs.
    pub(crate) fn cost(&self, home: &Path, arguments: &[impl AsRef<str>]) -> Result<Cost> {
        let errors = home.join("stderr");
        let file = fs::File::create(&errors).with_context(|| errors.display().to_string())?;
        let cost = measure::run(self.command(home, arguments).stdout(Stdio::null()).stderr(file))
            .with_context(|| format!("starting {}", self.program.display()))?;
        ensure!(
            cost.code == Some(0),
            "{} {} failed: {}",
            self.name,
            arguments.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(" "),
            String::from_utf8_lossy(&fs::read(&errors).unwrap_or_default())
        );
        Ok(cost)
    }

    /// Runs the program and returns its output.
    pub(crate) fn output(&self, home: &Path, arguments: &[impl AsRef<str>]) -> Result<String> {
        let output = self.command(home, arguments).stderr(Stdio::null()).output();
        let output = output.with_context(|| format!("starting {}", self.program.display()))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn command(&self, home: &Path, arguments: &[impl AsRef<str>]) -> Command {
        let mut command = Command::new(&self.program);
        command.env("LC_ALL", "C.UTF-8").env("TZ", "UTC").stdin(Stdio::null());
        command
            .arg("--homedir")
            .arg(home)
            .args(["--batch", "--quiet"])
            .args(arguments.iter().map(AsRef::as_ref));
        command
    }
}
