//! Which databases have the certificates of the keys: one directory may serve several databases.
//!
//! The file `databases` has a line for each key and database: the fingerprint, a tab, the place of the database. It is a
//! hint for people, so a line that cannot be read is left out.

use std::io::Read as _;

use cert::Fingerprint;

use super::directory::{Changes, Directory};
use crate::Result;

/// The name of the file.
const NAME: &str = "databases";

/// The most bytes that are read of it.
const MOST: u64 = 16 << 20;

/// Returns the lines of the file: the fingerprint in digits, and the place.
pub(super) fn read(directory: &Directory) -> Result<Vec<(String, String)>> {
    let Some(file) = directory.read(NAME)? else { return Ok(Vec::new()) };
    let mut text = String::new();
    // What cannot be read is unknown, no more.
    let _ = file.take(MOST).read_to_string(&mut text);
    let split = |line: &str| line.split_once('\t').map(|(key, place)| (key.to_owned(), place.to_owned()));
    Ok(text.lines().filter_map(split).collect())
}

/// Adds lines for the keys, unless they are there.
pub(super) fn add(
    directory: &Directory,
    changes: &Changes<'_>,
    keys: impl Iterator<Item = Fingerprint>,
    database: &str,
) -> Result<()> {
    if database.contains('\n') {
        return Ok(());
    }
    let mut lines = read(directory)?;
    let before = lines.len();
    for key in keys {
        let line = (key.to_string(), database.to_owned());
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    if lines.len() == before {
        return Ok(());
    }
    let text: String = lines.iter().map(|(key, place)| format!("{key}\t{place}\n")).collect();
    changes.write(NAME, text.as_bytes())
}
