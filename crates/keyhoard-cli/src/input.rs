//! What a command reads: a file, or standard input.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::Context;

/// Opens a file; without one, and for `-`, standard input.
pub(crate) fn open(path: Option<&Path>) -> anyhow::Result<Box<dyn Read + Send>> {
    match path.filter(|path| *path != Path::new("-")) {
        Some(path) => Ok(Box::new(File::open(path).with_context(|| path.display().to_string())?)),
        None => Ok(Box::new(io::stdin())),
    }
}
