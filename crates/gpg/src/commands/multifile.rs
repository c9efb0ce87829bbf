//! Commands that work on several files (`--multifile`).

use std::io::{self, BufRead, BufReader};

use crate::settings::Settings;

/// Returns the names of the files that `--multifile` works on.
pub(super) fn file_names(arguments: &[Vec<u8>], settings: &Settings) -> anyhow::Result<Vec<Vec<u8>>> {
    if settings.output.is_some() {
        anyhow::bail!("--output doesn't work for this command");
    }
    if !arguments.is_empty() {
        return Ok(arguments.to_vec());
    }
    let lines = BufReader::new(io::stdin()).split(b'\n');
    Ok(lines.collect::<io::Result<Vec<_>>>()?.into_iter().filter(|name| !name.is_empty()).collect())
}
