//! A directory that only its owner may access, with atomic changes.

use std::fs::{DirBuilder, File};
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::{Error, Result};

/// The name of the temporary file. One is enough, since a writer holds the lock; an existing one was left by a process
/// that died.
const TEMPORARY: &str = ".new";

/// An open directory of mode 0700 that the user owns.
pub(super) struct Directory {
    path: PathBuf,
    handle: OwnedFd,
}

impl Directory {
    /// Opens a directory; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// [`Error::OpenToOthers`] and [`Error::OwnedByOther`].
    pub(super) fn open(path: &Path) -> Result<Option<Self>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(handle) => handle,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(failed(path, error)),
        };
        let stat = rustix::fs::fstat(&handle).map_err(|error| failed(path, error))?;
        if stat.st_uid != geteuid().as_raw() {
            return Err(Error::OwnedByOther { path: path.to_owned(), owner: stat.st_uid });
        }
        if stat.st_mode & 0o077 != 0 {
            return Err(Error::OpenToOthers { path: path.to_owned() });
        }
        Ok(Some(Self { path: path.to_owned(), handle }))
    }

    /// Opens a directory, and creates it with its parents if it does not exist: with a database on a server, there may
    /// be no local directory yet.
    pub(super) fn create(path: &Path) -> Result<Self> {
        loop {
            if let Some(directory) = Self::open(path)? {
                return Ok(directory);
            }
            match DirBuilder::new().recursive(true).mode(0o700).create(path) {
                Ok(()) => sync_parent(path)?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::Io { path: path.to_owned(), error }),
            }
        }
    }

    /// Returns the names of the files.
    pub(super) fn names(&self) -> Result<Vec<String>> {
        let entries = Dir::read_from(&self.handle).map_err(|error| failed(&self.path, error))?;
        let names = entries.map(|entry| {
            let entry = entry.map_err(|error| failed(&self.path, error))?;
            Ok(entry.file_name().to_string_lossy().into_owned())
        });
        names.collect()
    }

    /// Opens a file for reading; `None` if it does not exist.
    pub(super) fn read(&self, name: &str) -> Result<Option<File>> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        match rustix::fs::openat(&self.handle, name, flags, Mode::empty()) {
            Ok(file) => Ok(Some(file.into())),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(failed(&self.path.join(name), error)),
        }
    }

    /// Waits for the exclusive lock of the directory.
    pub(super) fn lock(&self) -> Result<Changes<'_>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // A lock belongs to an open file description, so that each lock needs its own.
        let locked = rustix::fs::openat(&self.handle, ".", flags, Mode::empty())
            .map_err(|error| failed(&self.path, error))?;
        rustix::io::retry_on_intr(|| rustix::fs::flock(&locked, FlockOperation::LockExclusive))
            .map_err(|error| failed(&self.path, error))?;
        Ok(Changes { directory: self, locked })
    }
}

/// The locked directory, in which files can be changed.
pub(super) struct Changes<'a> {
    directory: &'a Directory,
    locked: OwnedFd,
}

impl Changes<'_> {
    /// Writes or replaces a file of mode 0600; [`sync`](Self::sync) makes that durable.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.remove(TEMPORARY)?;
        let written = self
            .write_temporary(bytes)
            .and_then(|()| Ok(rustix::fs::renameat(&self.locked, TEMPORARY, &self.locked, name)?));
        written.map_err(|error| {
            // The first error is the one to report.
            let _ = self.remove(TEMPORARY);
            Error::Io { path: self.directory.path.join(name), error }
        })
    }

    fn write_temporary(&self, bytes: &[u8]) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.locked, TEMPORARY, flags, Mode::RUSR | Mode::WUSR)?;
        let mut file = File::from(file);
        file.write_all(bytes)?;
        file.sync_all()
    }

    /// Removes a file; returns whether it existed.
    pub(super) fn remove(&self, name: &str) -> Result<bool> {
        match rustix::fs::unlinkat(&self.locked, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(failed(&self.directory.path.join(name), error)),
        }
    }

    /// Makes all changes durable.
    pub(super) fn sync(&self) -> Result<()> {
        rustix::fs::fsync(&self.locked).map_err(|error| failed(&self.directory.path, error))
    }
}

fn sync_parent(path: &Path) -> Result<()> {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let synced = File::open(parent).and_then(|parent| parent.sync_all());
    synced.map_err(|error| Error::Io { path: parent.to_owned(), error })
}

fn failed(path: &Path, error: Errno) -> Error {
    Error::Io { path: path.to_owned(), error: error.into() }
}
