//! Files that appear whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use rustix::fs::{AtFlags, CWD, FallocateFlags, fallocate};

/// Octets of space that are asked for at a time: writing waits for no more than that.
const RESERVED_AT_ONCE: u64 = 1 << 20;

/// For its owner only.
const PRIVATE: u32 = 0o600;

/// A file being written: a regular file appears under its name, replacing what was there, with
/// [`OutputFile::commit`]; devices and pipes are written to as they are.
///
/// Until then the data has no name where the file system allows that, so that a killed process leaves nothing behind;
/// elsewhere a name that begins with a dot.
#[derive(Debug)]
pub struct OutputFile {
    file: File,
    target: Target,
    written: u64,
    reservation: Option<Reservation>,
}

/// Space for what is not written yet, as a thread gets it from the system.
#[derive(Debug)]
struct Reservation {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Reservation {
    /// Asks for no more.
    fn stop(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

#[derive(Debug)]
enum Target {
    /// Written in place: a device, a pipe, or what was open already.
    Itself,
    /// To be given the name `destination`.
    Unnamed { destination: PathBuf },
    /// To be renamed to `destination`.
    Named { temporary: PathBuf, destination: PathBuf },
}

impl OutputFile {
    /// Starts to write what is to be found at `path`.
    ///
    /// # Errors
    ///
    /// What the system says, if the directory does not exist or may not be written to.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::create_with(path, 0o666)
    }

    fn create_with(path: &Path, mode: u32) -> io::Result<Self> {
        // A symbolic link stays; the file it points to is replaced.
        let destination = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        match fs::metadata(&destination) {
            Ok(found) if found.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
            Ok(found) if !found.is_file() => {
                let file = OpenOptions::new().write(true).open(&destination)?;
                Ok(Self::new(file, Target::Itself))
            }
            Ok(found) => {
                let output = Self::create_beside(destination, PRIVATE)?;
                output.file.set_permissions(found.permissions())?;
                Ok(output)
            }
            Err(_) => Self::create_beside(destination, mode),
        }
    }

    /// Starts to write what only its owner may read (mode 0600) where it is a regular file.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create).
    pub fn create_private(path: &Path) -> io::Result<Self> {
        let output = Self::create_with(path, PRIVATE)?;
        if !matches!(output.target, Target::Itself) {
            output.file.set_permissions(Permissions::from_mode(PRIVATE))?;
        }
        Ok(output)
    }

    fn new(file: File, target: Target) -> Self {
        Self { file, target, written: 0, reservation: None }
    }

    /// Begins to get space for about so many octets, until the first one is written: whoever computes something before
    /// has it for nothing then, and writes so much the faster. What is too much is given back at the end.
    pub fn reserve(&mut self, octets: u64) {
        if octets < RESERVED_AT_ONCE || matches!(self.target, Target::Itself) {
            return;
        }
        // Where anything fails, writing gets the space, or says what is wrong.
        let Ok(file) = self.file.try_clone() else { return };
        let is_over = Arc::new(AtomicBool::new(false));
        let stop = is_over.clone();
        let thread = thread::Builder::new().spawn(move || {
            let mut starts = (0..octets).step_by(RESERVED_AT_ONCE as usize);
            while !stop.load(Ordering::Relaxed)
                && let Some(start) = starts.next()
                && fallocate(&file, FallocateFlags::KEEP_SIZE, start, RESERVED_AT_ONCE).is_ok()
            {}
        });
        self.reservation = thread.ok().map(|thread| Reservation { is_over, thread });
    }

    /// Gives back the space that is left.
    fn end_reservation(&mut self) -> io::Result<()> {
        let Some(reservation) = self.reservation.take() else { return Ok(()) };
        reservation.stop();
        reservation.thread.join().expect("asking for space does not panic");
        self.file.set_len(self.written)
    }

    /// Makes a file that has at most this mode from the beginning: whoever opened it earlier would read on.
    fn create_beside(destination: PathBuf, mode: u32) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).mode(mode);
        if let Ok(file) = options.clone().custom_flags(libc::O_TMPFILE).open(directory(&destination)) {
            return Ok(Self::new(file, Target::Unnamed { destination }));
        }
        let temporary = temporary_name(&destination);
        let file = options.create_new(true).open(&temporary)?;
        Ok(Self::new(file, Target::Named { temporary, destination }))
    }

    /// Makes the file durable and gives it its name.
    ///
    /// # Errors
    ///
    /// What the system says; then the name is as it was before.
    pub fn commit(mut self) -> io::Result<()> {
        self.end_reservation()?;
        match std::mem::replace(&mut self.target, Target::Itself) {
            Target::Itself => self.file.flush(),
            Target::Unnamed { destination } => {
                self.file.sync_all()?;
                let temporary = temporary_name(&destination);
                let descriptor = format!("/proc/self/fd/{}", self.file.as_raw_fd());
                rustix::fs::linkat(CWD, descriptor, CWD, &temporary, AtFlags::SYMLINK_FOLLOW)?;
                rename(&temporary, &destination)
            }
            Target::Named { temporary, destination } => {
                self.file.sync_all().and_then(|()| rename(&temporary, &destination))
            }
        }
    }
}

/// What is open already is written to from where it stands, whatever it is.
impl From<File> for OutputFile {
    fn from(file: File) -> Self {
        Self::new(file, Target::Itself)
    }
}

impl Write for OutputFile {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        self.reservation.iter().for_each(Reservation::stop);
        let count = self.file.write(octets)?;
        self.written += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        self.reservation.iter().for_each(Reservation::stop);
        if let Target::Named { temporary, .. } = &self.target {
            // Nobody can be told; the name shows what it is.
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Renames, and takes the temporary name away if that fails.
fn rename(temporary: &Path, destination: &Path) -> io::Result<()> {
    fs::rename(temporary, destination).inspect_err(|_| drop(fs::remove_file(temporary)))
}

fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn temporary_name(destination: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(destination.file_name().unwrap_or_default());
    name.push(format!(".{}.part", std::process::id()));
    directory(destination).join(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).expect("a directory");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    fn written(path: &Path, text: &str) -> OutputFile {
        let mut file = OutputFile::create(path).expect("a file");
        file.write_all(text.as_bytes()).expect("space");
        file
    }

    #[test]
    fn a_file_that_is_not_committed_never_appears() {
        let directory = tempfile::tempdir().expect("a directory");
        drop(written(&directory.path().join("a"), "half"));
        assert!(names(directory.path()).is_empty());
    }

    #[test]
    fn a_committed_file_replaces_what_was_there_and_keeps_its_mode() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a");
        fs::write(&path, "old").expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("a mode");
        let file = written(&path, "new");
        assert_eq!(fs::read_to_string(&path).expect("text"), "old");
        file.commit().expect("a name");
        assert_eq!(fs::read_to_string(&path).expect("text"), "new");
        assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o640);
        assert_eq!(names(directory.path()), ["a"]);
    }

    #[test]
    fn space_that_was_reserved_and_not_written_is_given_back() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a");
        let mut file = OutputFile::create(&path).expect("a file");
        file.reserve(8 << 20);
        while file.reservation.as_ref().is_some_and(|reservation| !reservation.thread.is_finished()) {
            thread::yield_now();
        }
        file.write_all(b"text").expect("space");
        file.commit().expect("a name");
        assert_eq!(fs::read(&path).expect("content"), b"text");
        // In units of 512 octets.
        assert!(fs::metadata(&path).expect("a file").blocks() < 2048);
    }

    #[test]
    fn a_symbolic_link_stays_and_its_target_is_replaced() {
        let directory = tempfile::tempdir().expect("a directory");
        let (target, link) = (directory.path().join("target"), directory.path().join("link"));
        fs::write(&target, "old").expect("a file");
        symlink("target", &link).expect("a link");
        written(&link, "new").commit().expect("a name");
        assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
        assert_eq!(fs::read_to_string(&target).expect("text"), "new");
    }

    #[test]
    fn a_device_is_written_to_and_stays_a_device() {
        written(Path::new("/dev/null"), "gone").commit().expect("a device");
        assert!(!fs::metadata("/dev/null").expect("a device").is_file());
    }

    #[test]
    fn where_unnamed_files_do_not_work_a_temporary_name_is_used_and_taken_away() {
        let directory = tempfile::tempdir().expect("a directory");
        let destination = directory.path().join("a");
        let temporary = temporary_name(&destination);
        let named = || {
            let file = File::create(&temporary).expect("a file");
            let target = Target::Named { temporary: temporary.clone(), destination: destination.clone() };
            OutputFile::new(file, target)
        };
        drop(named());
        assert!(names(directory.path()).is_empty());
        named().commit().expect("a name");
        assert_eq!(names(directory.path()), ["a"]);
    }

    #[test]
    fn a_missing_directory_is_an_error_at_once() {
        let directory = tempfile::tempdir().expect("a directory");
        let error = OutputFile::create(&directory.path().join("missing/a")).expect_err("no directory");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
