//! A program with gpg's command line, with a home directory of its own.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

/// What keeps gpg from computing trust and from starting an agent.
const CONFIGURATION: &str = "batch\nquiet\nno-autostart\ntrust-model always\nno-auto-check-trustdb\n";
/// How long the end of a run with a limit may go unnoticed.
const PAUSE: Duration = Duration::from_millis(1);

/// A program, and its home, which is removed with the value.
pub(crate) struct Program {
    path: PathBuf,
    home: TempDir,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Took(Duration),
    /// It was killed after this time.
    Stopped(Duration),
}

impl Program {
    /// Returns a program with a new empty home.
    pub(crate) fn new(path: PathBuf) -> Result<Self> {
        let home = TempDir::with_prefix("keyhoard-demo-").context("making a temporary directory")?;
        fs::write(home.path().join("gpg.conf"), CONFIGURATION).context("writing gpg.conf")?;
        Ok(Self { path, home })
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Returns the first line of `--version`.
    pub(crate) fn version(&self) -> Result<String> {
        let output = Command::new(&self.path).arg("--version").output();
        let output = output.with_context(|| format!("starting {}", self.path.display()))?;
        Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or("gpg").to_owned())
    }

    /// Runs the program to its end or, with a limit, until then; the function is called again and again meanwhile.
    ///
    /// # Errors
    ///
    /// If it cannot be started, or fails.
    pub(crate) fn run(
        &self,
        arguments: &[&OsStr],
        limit: Option<(Duration, &mut dyn FnMut())>,
    ) -> Result<Outcome> {
        let name = || self.path.display().to_string();
        let errors = self.home().join("stderr");
        let mut command = Command::new(&self.path);
        command.arg("--homedir").arg(self.home()).args(arguments).env("LC_ALL", "C.UTF-8");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&errors).with_context(name)?);
        let start = Instant::now();
        let mut child = command.spawn().with_context(name)?;
        let status = match limit {
            None => Some(child.wait().with_context(name)?),
            Some((limit, tick)) => wait_until(&mut child, start + limit, tick).with_context(name)?,
        };
        let time = start.elapsed();
        let Some(status) = status else { return Ok(Outcome::Stopped(time)) };
        let text = || String::from_utf8_lossy(&fs::read(&errors).unwrap_or_default()).into_owned();
        ensure!(status.success(), "{} failed: {}", name(), text());
        Ok(Outcome::Took(time))
    }
}

/// Waits for a child; kills it at the deadline and returns none.
fn wait_until(
    child: &mut Child,
    deadline: Instant,
    tick: &mut dyn FnMut(),
) -> std::io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        tick();
        thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(script: &str, limit: u64) -> Result<Outcome> {
        let directory = TempDir::new()?;
        let path = directory.path().join("program");
        fs::write(&path, format!("#!/bin/sh\n{script}\n"))?;
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
        Program::new(path)?.run(&[], Some((Duration::from_millis(limit), &mut || {})))
    }

    #[test]
    fn a_run_ends_by_itself_or_at_its_limit() {
        assert!(matches!(outcome("exit 0", 60_000).unwrap(), Outcome::Took(_)));
        let Outcome::Stopped(time) = outcome("exec sleep 60", 50).unwrap() else {
            panic!("it is not stopped")
        };
        assert!((50..30_000).contains(&time.as_millis()), "{time:?}");
    }

    #[test]
    fn a_run_that_fails_is_an_error_with_its_messages() {
        let error = outcome("echo 'no such key' >&2; exit 2", 60_000).unwrap_err();
        assert!(error.to_string().contains("no such key"), "{error}");
    }
}
