//! A directory that nobody else may look into, and changes to it that are there wholly or not at all.

use std::fs::{DirBuilder, File};
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::{Error, Result};

/// The name of the file that is being written. There is one, since a writer holds the lock; one that is there was left by
/// a process that died.
const WRITTEN: &str = ".new";

/// A directory of mode 0700 that is ours.
pub(super) struct Directory {
    path: PathBuf,
    handle: OwnedFd,
}

impl Directory {
    /// Opens a directory; `None` if there is none.
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

    /// Opens a directory, making it and those that it is in first if there is none: where a server keeps the database
    /// there may be nothing here yet.
    pub(super) fn create(path: &Path) -> Result<Self> {
        loop {
            if let Some(directory) = Self::open(path)? {
                return Ok(directory);
            }
            match DirBuilder::new().recursive(true).mode(0o700).create(path) {
                Ok(()) => sync_parent(path)?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(Error::Io { path: path.to_owned(), source }),
            }
        }
    }

    /// Returns the names in it.
    pub(super) fn names(&self) -> Result<Vec<String>> {
        let entries = Dir::read_from(&self.handle).map_err(|error| failed(&self.path, error))?;
        let names = entries.map(|entry| {
            let entry = entry.map_err(|error| failed(&self.path, error))?;
            Ok(entry.file_name().to_string_lossy().into_owned())
        });
        names.collect()
    }

    /// Opens a file to be read; `None` if there is none.
    pub(super) fn read(&self, name: &str) -> Result<Option<File>> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        match rustix::fs::openat(&self.handle, name, flags, Mode::empty()) {
            Ok(file) => Ok(Some(file.into())),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(failed(&self.path.join(name), error)),
        }
    }

    /// Waits until nobody else changes something, and keeps others from it.
    pub(super) fn lock(&self) -> Result<Changes<'_>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // A lock belongs to an opened directory: two threads with one handle would share it.
        let locked = rustix::fs::openat(&self.handle, ".", flags, Mode::empty())
            .map_err(|error| failed(&self.path, error))?;
        rustix::io::retry_on_intr(|| rustix::fs::flock(&locked, FlockOperation::LockExclusive))
            .map_err(|error| failed(&self.path, error))?;
        Ok(Changes { directory: self, locked })
    }
}

/// The right to change the directory, until it is dropped.
pub(super) struct Changes<'a> {
    directory: &'a Directory,
    locked: OwnedFd,
}

impl Changes<'_> {
    /// Writes a file of mode 0600, instead of one that may be there. [`sync`](Self::sync) makes it last.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.remove(WRITTEN)?;
        let written = self
            .write_aside(bytes)
            .and_then(|()| Ok(rustix::fs::renameat(&self.locked, WRITTEN, &self.locked, name)?));
        written.map_err(|source| {
            // What was written is of no use any more; the error that counts is the first.
            let _ = self.remove(WRITTEN);
            Error::Io { path: self.directory.path.join(name), source }
        })
    }

    fn write_aside(&self, bytes: &[u8]) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.locked, WRITTEN, flags, Mode::RUSR | Mode::WUSR)?;
        let mut file = File::from(file);
        file.write_all(bytes)?;
        file.sync_all()
    }

    /// Removes a file; says whether there was one.
    pub(super) fn remove(&self, name: &str) -> Result<bool> {
        match rustix::fs::unlinkat(&self.locked, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(failed(&self.directory.path.join(name), error)),
        }
    }

    /// Makes all changes last.
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
    synced.map_err(|source| Error::Io { path: parent.to_owned(), source })
}

fn failed(path: &Path, error: Errno) -> Error {
    Error::Io { path: path.to_owned(), source: error.into() }
}
