//! Errors of the system, with the file that they are about.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// An error of the system with a file.
#[derive(Debug)]
pub(crate) struct FileError {
    pub(crate) path: PathBuf,
    pub(crate) source: io::Error,
}

/// Names the file of an error.
pub(crate) fn named(path: &Path, source: io::Error) -> io::Error {
    io::Error::new(source.kind(), FileError { path: path.to_owned(), source })
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.source, self.path.display())
    }
}

impl Error for FileError {}
