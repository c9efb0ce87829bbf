//! A directory with atomic changes, on systems without modes of files.
//!
//! Who may access it is what the directory above it says. On Windows, that of a user's profile is for this user alone.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// The name of the temporary file. One is enough, since a writer holds the lock; an existing one was left by a process
/// that died.
const TEMPORARY: &str = ".new";

/// The name of the file that writers lock, since a directory cannot be locked.
const LOCK: &str = ".lock";

/// A directory that exists.
pub(super) struct Directory {
    path: PathBuf,
}

impl Directory {
    /// Opens a directory; `None` if it does not exist.
    pub(super) fn open(path: &Path) -> Result<Option<Self>> {
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => Ok(Some(Self { path: path.to_owned() })),
            Ok(_) => Err(failed(path, ErrorKind::NotADirectory.into())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(path, error)),
        }
    }

    /// Opens a directory, and creates it with its parents if it does not exist.
    pub(super) fn create(path: &Path) -> Result<Self> {
        fs::create_dir_all(path).map_err(|error| failed(path, error))?;
        Ok(Self { path: path.to_owned() })
    }

    /// Returns the names of the files.
    pub(super) fn names(&self) -> Result<Vec<String>> {
        let read = || fs::read_dir(&self.path)?.map(|entry| Ok(entry?.file_name())).collect();
        let names: io::Result<Vec<_>> = read();
        let names = names.map_err(|error| failed(&self.path, error))?;
        Ok(names.iter().map(|name| name.to_string_lossy().into_owned()).collect())
    }

    /// Opens a file for reading; `None` if it does not exist.
    pub(super) fn read(&self, name: &str) -> Result<Option<File>> {
        let path = self.path.join(name);
        match File::open(&path) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&path, error)),
        }
    }

    /// Waits for the exclusive lock of the directory.
    pub(super) fn lock(&self) -> Result<Changes<'_>> {
        let path = self.path.join(LOCK);
        let open = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let locked = open.and_then(|file| file.lock().map(|()| file));
        Ok(Changes { directory: self, _locked: locked.map_err(|error| failed(&path, error))? })
    }
}

/// The locked directory, in which files can be changed.
pub(super) struct Changes<'a> {
    directory: &'a Directory,
    /// Closing it unlocks it.
    _locked: File,
}

impl Changes<'_> {
    /// Writes or replaces a file. It is durable before it has its name.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let (temporary, path) = (self.directory.path.join(TEMPORARY), self.directory.path.join(name));
        let write = || {
            let mut file = File::create(&temporary)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            drop(file);
            fs::rename(&temporary, &path)
        };
        write().map_err(|error| {
            // The first error is the one to report.
            let _ = fs::remove_file(&temporary);
            failed(&path, error)
        })
    }

    /// Removes a file; returns whether it existed.
    pub(super) fn remove(&self, name: &str) -> Result<bool> {
        let path = self.directory.path.join(name);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(failed(&path, error)),
        }
    }

    /// Does nothing: there is no call that makes a directory durable.
    pub(super) fn sync(&self) -> Result<()> {
        Ok(())
    }
}

fn failed(path: &Path, error: io::Error) -> Error {
    Error::Io { path: path.to_owned(), error }
}
