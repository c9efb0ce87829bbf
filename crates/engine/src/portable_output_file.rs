//! Files that appear whole or not at all, on systems without modes of files: who may read a file is what its directory
//! says.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

pub use crate::output_content::{Content, Existing};

/// The identity of a regular file: its path without links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileId(PathBuf);

impl FileId {
    /// Returns the identity of the regular file that a path leads to, through links if need be.
    pub fn at(path: &Path) -> Option<Self> {
        let is_regular = fs::metadata(path).is_ok_and(|found| found.is_file());
        is_regular.then(|| fs::canonicalize(path).ok().map(Self)).flatten()
    }
}

/// A file being written: it appears under its name, replacing what was there, with [`OutputFile::commit`].
#[derive(Debug)]
pub struct OutputFile {
    file: File,
    target: Option<Target>,
}

/// A name `temporary`, to be changed to `destination`.
#[derive(Debug)]
struct Target {
    temporary: PathBuf,
    destination: PathBuf,
    existing: Existing,
}

impl OutputFile {
    /// Creates the file at `path`, while the files in `read` are being read. A symbolic link stays, and the file that it
    /// leads to is replaced.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::InvalidInput`] if it is one of the files in `read`,
    /// [`io::ErrorKind::AlreadyExists`] if it is there and has to be [`Existing::Kept`], and what the system says.
    pub fn create(path: &Path, _: Content, existing: Existing, read: &[FileId]) -> io::Result<Self> {
        let destination = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        match fs::metadata(&destination) {
            Ok(found) if found.is_dir() => return Err(ErrorKind::IsADirectory.into()),
            Ok(_) if FileId::at(path).is_some_and(|found| read.contains(&found)) => {
                return Err(io::Error::new(ErrorKind::InvalidInput, "input and output are the same file"));
            }
            Ok(_) if existing == Existing::Kept => return Err(ErrorKind::AlreadyExists.into()),
            _ => {}
        }
        let temporary = temporary_name(&destination);
        let file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        Ok(Self { file, target: Some(Target { temporary, destination, existing }) })
    }

    /// Says whether it is a regular file, which appears at the end.
    pub fn is_regular(&self) -> bool {
        self.target.is_some()
    }

    /// Makes the file durable and gives it its name.
    ///
    /// # Errors
    ///
    /// What the system says; then the name is as it was before.
    pub fn commit(mut self) -> io::Result<()> {
        self.file.flush()?;
        let Some(Target { temporary, destination, existing }) = &self.target else { return Ok(()) };
        self.file.sync_all()?;
        match existing {
            // `drop` removes the other name.
            Existing::Kept => fs::hard_link(temporary, destination),
            Existing::Replaced => fs::rename(temporary, destination),
        }
    }
}

/// What is open already is written to from its current position, whatever it is.
impl From<File> for OutputFile {
    fn from(file: File) -> Self {
        Self { file, target: None }
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some(Target { temporary, .. }) = &self.target {
            // There is nobody to report it to; after a commit the name is gone.
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Returns the directory that a path is in.
pub(crate) fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Returns a temporary name beside the destination.
fn temporary_name(destination: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(destination.file_name().unwrap_or_default());
    name.push(format!(".{}.part", std::process::id()));
    directory(destination).join(name)
}
