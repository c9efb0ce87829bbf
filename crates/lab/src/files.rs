//! Files of measurements, and the programs that were built with this one.

use std::env;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

/// Returns the path of a program that was built with this one.
pub(crate) fn beside(program: &str) -> Result<PathBuf> {
    Ok(env::current_exe().with_context(|| format!("finding {program}"))?.with_file_name(program))
}

/// Runs this program in a child process: the peak memory of this one would count as that of the programs it measures.
pub(crate) fn run_in_child(arguments: &[&str]) -> Result<()> {
    let program = env::current_exe().context("finding this program")?;
    let status = Command::new(program).args(arguments).stdin(Stdio::null()).status();
    let status = status.with_context(|| arguments.join(" "))?;
    ensure!(status.success(), "{} failed: {status}", arguments.join(" "));
    Ok(())
}

/// Makes a keyring with the default seed.
pub(crate) fn make_keyring(certificates: u64, path: &Path) -> Result<()> {
    run_in_child(&["make-keyring", &certificates.to_string(), "--output", &path.display().to_string()])
}

/// Makes a directory in memory, if there is `/dev/shm`; its name is short, because paths of sockets must be.
pub(crate) fn directory_in_memory() -> Result<TempDir> {
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { memory.to_owned() } else { env::temp_dir() };
    TempDir::with_prefix_in("kh-", place).context("making a directory")
}

/// Makes a directory that only its owner can enter.
pub(crate) fn private_directory(path: &Path) -> Result<()> {
    fs::DirBuilder::new().mode(0o700).create(path).with_context(|| path.display().to_string())
}

/// Copies files and directories, except some names, and except sockets.
pub(crate) fn copy_files(from: &Path, to: &Path, left_out: &[impl AsRef<str>]) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        if left_out.iter().any(|left_out| name == *left_out.as_ref()) {
            continue;
        }
        if kind.is_dir() {
            fs::DirBuilder::new().mode(0o700).recursive(true).create(to.join(&name))?;
            copy_files(&entry.path(), &to.join(&name), left_out)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), to.join(&name))?;
        }
    }
    Ok(())
}

/// Writes random bytes to a new file.
pub(crate) fn random_file(path: &Path, size: u64) -> Result<()> {
    let copy = || io::copy(&mut File::open("/dev/urandom")?.take(size), &mut File::create(path)?);
    copy().map(drop).context("writing random data")
}

/// Compares two files in chunks: this process's peak memory would count as that of the programs it measures.
pub(crate) fn is_same(one: &Path, other: &Path) -> Result<bool> {
    let open = |path: &Path| File::open(path).with_context(|| path.display().to_string());
    let (mut one, mut other) = (open(one)?, open(other)?);
    let (mut left, mut right) = (Vec::new(), Vec::new());
    loop {
        left.clear();
        right.clear();
        (&mut one).take(1 << 16).read_to_end(&mut left)?;
        (&mut other).take(1 << 16).read_to_end(&mut right)?;
        if left != right || left.is_empty() {
            return Ok(left == right);
        }
    }
}
