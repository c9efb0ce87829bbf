//! The input of a command: a file, or standard input.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;

use anyhow::{Context, bail};
use engine::output_file::FileId;

use crate::session::Session;
use crate::stderr;
use crate::style::Style;

/// Opens a file, or standard input for `None` and `-`.
pub(crate) fn open(path: Option<&Path>) -> anyhow::Result<Box<dyn Read + Send>> {
    match path.filter(|path| *path != Path::new("-")) {
        Some(path) => Ok(Box::new(file(path)?)),
        None => {
            if io::stdin().is_terminal() {
                stderr::print(
                    Style::Faint,
                    "keyhoard:",
                    "reading from the terminal; end with Ctrl-D, or name a file",
                );
            }
            Ok(Box::new(standard()))
        }
    }
}

/// Returns standard input, whose end is final: a terminal goes on after Ctrl-D.
pub(crate) fn standard() -> impl Read + Send {
    StandardInput { has_ended: false }
}

struct StandardInput {
    has_ended: bool,
}

impl Read for StandardInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.has_ended {
            return Ok(0);
        }
        let count = io::stdin().read(buffer)?;
        self.has_ended = count == 0 && !buffer.is_empty();
        Ok(count)
    }
}

/// Opens a file.
///
/// # Errors
///
/// A directory, and those of opening.
pub(crate) fn file(path: &Path) -> anyhow::Result<File> {
    let file = File::open(path).with_context(|| name(Some(path)))?;
    if file.metadata().is_ok_and(|found| found.is_dir()) {
        bail!("{}: is a directory", path.display());
    }
    Ok(file)
}

/// Returns the identity of the file that is read; `None` where it is not a regular file.
pub(crate) fn id(path: Option<&Path>) -> Option<FileId> {
    match path.filter(|path| *path != Path::new("-")) {
        Some(path) => FileId::at(path),
        None => FileId::of(io::stdin()),
    }
}

/// Says that the armor of an input had to be repaired, if so.
pub(crate) fn warn_if_mended(session: &Session, name: &dyn Display, is_mended: bool) {
    if is_mended {
        session.warn(format_args!("{name}: the armor was damaged on its way, and was repaired"));
    }
}

/// Returns an input's name for messages.
pub(crate) fn name(path: Option<&Path>) -> String {
    match path.filter(|path| *path != Path::new("-")) {
        Some(path) => path.display().to_string(),
        None => "standard input".to_owned(),
    }
}
