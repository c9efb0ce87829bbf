//! The keyrings of experiments: Debian's, or made ones.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::files::make_keyring;

/// Debian's keyrings: the one to measure with, and a small one for a quick run.
const DEBIAN: [&str; 2] =
    ["/usr/share/keyrings/debian-keyring.gpg", "/usr/share/keyrings/debian-nonupload.gpg"];
/// The sizes of the made keyrings that replace Debian's where these are missing.
const MADE_SIZES: [u64; 2] = [1000, 50];

/// Returns the keyring that the user has named, or Debian's, or a made one.
pub(super) fn keyring(named: Option<&Path>, quick: bool, directory: &Path) -> Result<PathBuf> {
    if let Some(named) = named {
        return named.canonicalize().with_context(|| named.display().to_string());
    }
    let debian = PathBuf::from(DEBIAN[usize::from(quick)]);
    if debian.is_file() {
        return Ok(debian);
    }
    let path = directory.join("made.pgp");
    make_keyring(MADE_SIZES[usize::from(quick)], &path)?;
    Ok(path)
}
