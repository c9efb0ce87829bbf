//! The keyrings of experiments: Debian's, or made ones.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use lab::made::MadeKeyring;

/// The seed of made keyrings.
pub(super) const SEED: u64 = 1;

/// Debian's keyrings: the one to measure with, and a small one for a quick run.
const DEBIAN: [&str; 2] =
    ["/usr/share/keyrings/debian-keyring.gpg", "/usr/share/keyrings/debian-nonupload.gpg"];
/// The sizes of the made keyrings that replace Debian's where these are missing.
const MADE_SIZES: [u64; 2] = [1000, 50];

/// Returns the keyring that the user has named, or Debian's, or a made one.
pub(super) fn keyring(named: Option<&Path>, quick: bool, directory: &Path) -> Result<PathBuf> {
    if let Some(named) = named {
        let found = named.canonicalize();
        return found.with_context(|| named.display().to_string());
    }
    let debian = PathBuf::from(DEBIAN[usize::from(quick)]);
    if debian.is_file() {
        return Ok(debian);
    }
    let path = directory.join("made.pgp");
    make(MADE_SIZES[usize::from(quick)], &path)?;
    Ok(path)
}

/// Makes a keyring in a child process: the peak memory of this one would count as that of the programs it measures.
pub(super) fn make(certificates: u64, path: &Path) -> Result<()> {
    let program = env::current_exe().context("finding this program")?;
    let status = Command::new(program)
        .args(["make-keyring", &certificates.to_string(), "--seed", &SEED.to_string(), "--output"])
        .arg(path)
        .stdin(Stdio::null())
        .status()
        .context("making a keyring")?;
    ensure!(status.success(), "making a keyring failed: {status}");
    Ok(())
}

/// Returns the made keyring with so many certificates.
pub(super) fn made_keyring(certificates: u64) -> MadeKeyring {
    MadeKeyring { certificates, seed: SEED }
}
