//! What a command reads: a file, or standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, bail};
use keyhoard::output_file::FileId;

/// Opens a file; without one, and for `-`, standard input.
pub(crate) fn open(path: Option<&Path>) -> anyhow::Result<Box<dyn Read + Send>> {
    match path.filter(|path| *path != Path::new("-")) {
        Some(path) => Ok(Box::new(file(path)?)),
        None => Ok(Box::new(io::stdin())),
    }
}

/// Opens a file that is no directory.
pub(crate) fn file(path: &Path) -> anyhow::Result<File> {
    let file = File::open(path).with_context(|| name(Some(path)))?;
    if file.metadata().is_ok_and(|found| found.is_dir()) {
        bail!("{}: is a directory", path.display());
    }
    Ok(file)
}

/// Returns which file is read; `None` where it is no regular file.
pub(crate) fn id(path: Option<&Path>) -> Option<FileId> {
    match path.filter(|path| *path != Path::new("-")) {
        Some(path) => FileId::at(path),
        None => FileId::of(io::stdin()),
    }
}

/// Calls an input by its name.
pub(crate) fn name(path: Option<&Path>) -> String {
    match path.filter(|path| *path != Path::new("-")) {
        Some(path) => path.display().to_string(),
        None => "standard input".to_owned(),
    }
}
