//! Files that appear whole or not at all.
//!
//! Commands open every output file here. How depends on the content ([`Content`]), on what happens to an existing file
//! ([`Existing`]), and on the files that are being read meanwhile ([`FileId`]).

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, RenameFlags};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::descriptor::duplicate;

pub use crate::output_content::{Content, Existing};

/// The mode of a file for its owner only.
const PRIVATE: u32 = 0o600;

/// The mode before the umask, where nothing secret is written.
const ORDINARY: u32 = 0o666;

/// The identity of a regular file, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// Returns the identity of an open file; `None` for what is not a regular file, of which nothing could be lost.
    pub fn of(file: impl AsFd) -> Option<Self> {
        let duplicate = File::from(file.as_fd().try_clone_to_owned().ok()?);
        duplicate.metadata().ok().filter(Metadata::is_file).map(|found| Self::in_metadata(&found))
    }

    /// Returns the identity of the regular file that a path leads to, through links if need be.
    pub fn at(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().filter(Metadata::is_file).map(|found| Self::in_metadata(&found))
    }

    fn in_metadata(found: &Metadata) -> Self {
        Self { device: found.dev(), inode: found.ino() }
    }
}

/// A file being written: a regular file appears under its name, replacing what was there, with
/// [`OutputFile::commit`]; devices and pipes are written to as they are.
///
/// Until then the data has no name where the file system allows that, so that a killed process leaves nothing behind;
/// elsewhere a name that begins with a dot.
#[derive(Debug)]
pub struct OutputFile {
    file: File,
    target: Target,
}

#[derive(Debug)]
enum Target {
    /// Written in place: a device, a pipe, or what was open already.
    Itself,
    /// To be given the name `destination`.
    Unnamed { destination: PathBuf, existing: Existing },
    /// To be renamed to `destination`.
    Named { temporary: PathBuf, destination: PathBuf, existing: Existing },
}

impl OutputFile {
    /// Creates the file at `path`, while the files in `read` are being read.
    ///
    /// A symbolic link stays, and the file that it leads to is replaced. A file that is open as a descriptor
    /// (`/dev/stdout`, `/dev/fd/N`) is written to from its current position, whatever `existing` says.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::InvalidInput`] if it is one of the files in `read`,
    /// [`io::ErrorKind::AlreadyExists`] if it is there and has to be [`Existing::Kept`],
    /// [`io::ErrorKind::PermissionDenied`] for what [`Content::Secret`] excludes, and what the system says.
    pub fn create(path: &Path, content: Content, existing: Existing, read: &[FileId]) -> io::Result<Self> {
        let destination = destination(path, content)?;
        match fs::metadata(&destination) {
            Ok(found) if found.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
            Ok(found) if !found.is_file() => Self::create_in_place(path, &destination, content),
            Ok(found) if read.contains(&FileId::in_metadata(&found)) => Err(is_read()),
            Ok(_) if is_descriptor(path) => Ok(Self::from(File::from(duplicate(number(path)?)?))),
            Ok(_) if existing == Existing::Kept => Err(io::Error::from(io::ErrorKind::AlreadyExists)),
            Ok(found) => {
                let output = Self::create_beside(destination, PRIVATE, existing)?;
                output.file.set_permissions(match content {
                    Content::Ordinary => found.permissions(),
                    Content::Secret => Permissions::from_mode(PRIVATE),
                })?;
                Ok(output)
            }
            Err(_) => {
                let mode = if content == Content::Secret { PRIVATE } else { ORDINARY };
                Self::create_beside(destination, mode, existing)
            }
        }
    }

    /// Opens a device or a named pipe.
    fn create_in_place(path: &Path, destination: &Path, content: Content) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).open(destination)?;
        let found = file.metadata()?;
        // A pipe that this process inherited may be of anybody.
        if content == Content::Secret
            && found.file_type().is_fifo()
            && !is_trusted(&found)
            && !is_descriptor(path)
        {
            return Err(denied("a named pipe of another user"));
        }
        Ok(Self::from(file))
    }

    /// Says whether it is a regular file, which appears at the end.
    pub fn is_regular(&self) -> bool {
        !matches!(self.target, Target::Itself)
    }

    /// Creates a file with at most this mode from the beginning: who opens it before a change of its mode could read
    /// on.
    fn create_beside(destination: PathBuf, mode: u32, existing: Existing) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).mode(mode);
        if let Some(file) = unnamed(&options, directory(&destination)) {
            return Ok(Self { file, target: Target::Unnamed { destination, existing } });
        }
        let temporary = temporary_name(&destination);
        let file = options.create_new(true).open(&temporary)?;
        Ok(Self { file, target: Target::Named { temporary, destination, existing } })
    }

    /// Makes the file durable and gives it its name.
    ///
    /// # Errors
    ///
    /// What the system says; then the name is as it was before.
    pub fn commit(mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.target, Target::Itself) {
            Target::Itself => self.file.flush(),
            Target::Unnamed { destination, existing } => {
                self.file.sync_all()?;
                let descriptor = format!("/proc/self/fd/{}", self.file.as_raw_fd());
                let link =
                    |name: &Path| rustix::fs::linkat(CWD, &descriptor, CWD, name, AtFlags::SYMLINK_FOLLOW);
                if existing == Existing::Kept {
                    return Ok(link(&destination)?);
                }
                let temporary = temporary_name(&destination);
                link(&temporary)?;
                rename(&temporary, &destination, existing)
            }
            Target::Named { temporary, destination, existing } => {
                self.file.sync_all().and_then(|()| rename(&temporary, &destination, existing))
            }
        }
    }
}

/// What is open already is written to from its current position, whatever it is.
impl From<File> for OutputFile {
    fn from(file: File) -> Self {
        Self { file, target: Target::Itself }
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
        if let Target::Named { temporary, .. } = &self.target {
            // There is nobody to report it to; the temporary name remains.
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Returns the target of symbolic links, which may not be a file of somebody else; none of the links may be of somebody
/// else if the content is secret.
fn destination(path: &Path, content: Content) -> io::Result<PathBuf> {
    let is_link = |found: &Metadata| found.file_type().is_symlink();
    let Some(link) = fs::symlink_metadata(path).ok().filter(is_link) else { return Ok(path.to_owned()) };
    // A link that leads nowhere is replaced.
    let Ok(destination) = fs::canonicalize(path) else { return Ok(path.to_owned()) };
    if !is_descriptor(path) {
        let found = fs::metadata(&destination)?;
        let is_foreign_link = content == Content::Secret && !is_trusted(&link);
        if is_foreign_link || (found.is_file() && !is_trusted(&found)) {
            return Err(denied("a symbolic link of another user, or to a file of another user"));
        }
    }
    Ok(destination)
}

/// Creates a file without a name, where the system and the file system can do that.
#[cfg(target_os = "linux")]
fn unnamed(options: &OpenOptions, directory: &Path) -> Option<File> {
    options.clone().custom_flags(libc::O_TMPFILE).open(directory).ok()
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &OpenOptions, _: &Path) -> Option<File> {
    None
}

/// Says whether something belongs to this user, or to the superuser, who can read everything anyway.
fn is_trusted(found: &Metadata) -> bool {
    found.uid() == geteuid().as_raw() || found.uid() == 0
}

/// Says whether a path names something that this process has open already.
fn is_descriptor(path: &Path) -> bool {
    const DIRECTORIES: [&str; 2] = ["/dev/fd", "/proc/self/fd"];
    const NAMES: [&str; 2] = ["/dev/stdout", "/dev/stderr"];
    NAMES.iter().any(|name| path == Path::new(name))
        || DIRECTORIES.iter().any(|directory| path.parent() == Some(Path::new(directory)))
}

/// Returns the number of the descriptor that a path names.
fn number(path: &Path) -> io::Result<RawFd> {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    match name {
        "stdout" => Ok(1),
        "stderr" => Ok(2),
        number => number.parse().map_err(|_| io::Error::from(io::ErrorKind::NotFound)),
    }
}

fn is_read() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "input and output are the same file")
}

fn denied(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, format!("not written, since it is {what}"))
}

/// Renames, and removes the temporary file if that fails.
fn rename(temporary: &Path, destination: &Path, existing: Existing) -> io::Result<()> {
    let renamed = match existing {
        Existing::Replaced => fs::rename(temporary, destination),
        Existing::Kept => {
            match rustix::fs::renameat_with(CWD, temporary, CWD, destination, RenameFlags::NOREPLACE) {
                // Some file systems cannot do that.
                Err(Errno::INVAL | Errno::NOSYS) if !destination.exists() => {
                    fs::rename(temporary, destination)
                }
                renamed => renamed.map_err(io::Error::from),
            }
        }
    };
    renamed.inspect_err(|_| drop(fs::remove_file(temporary)))
}

/// Returns the directory that a path is in.
pub(crate) fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Returns a temporary name beside the destination, of which it has the beginning only, since names have a maximal
/// length.
fn temporary_name(destination: &Path) -> PathBuf {
    const SHOWN: usize = 200;
    let mut name = OsString::from(".");
    let shown = destination.file_name().unwrap_or_default().as_bytes();
    name.push(OsStr::from_bytes(&shown[..shown.len().min(SHOWN)]));
    name.push(format!(".{}.part", std::process::id()));
    directory(destination).join(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::FileType;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::thread;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).expect("a directory");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    fn replacing(path: &Path, content: Content) -> io::Result<OutputFile> {
        OutputFile::create(path, content, Existing::Replaced, &[])
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("a file").permissions().mode() & 0o777
    }

    fn written(path: &Path, text: &str) -> OutputFile {
        let mut file = replacing(path, Content::Ordinary).expect("a file");
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
        assert_eq!(mode(&path), 0o640);
        assert_eq!(names(directory.path()), ["a"]);
    }

    #[test]
    fn a_secret_is_for_its_owner_only_whatever_mode_a_file_that_it_replaces_had() {
        let directory = tempfile::tempdir().expect("a directory");
        let (new, old) = (directory.path().join("new"), directory.path().join("old"));
        fs::write(&old, "old").expect("a file");
        fs::set_permissions(&old, Permissions::from_mode(0o666)).expect("a mode");
        for path in [&new, &old] {
            replacing(path, Content::Secret).and_then(OutputFile::commit).expect("a file");
            assert_eq!(mode(path), 0o600);
        }
    }

    #[test]
    fn a_file_that_is_there_is_kept_unless_it_may_be_replaced() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a");
        let keeping = || OutputFile::create(&path, Content::Ordinary, Existing::Kept, &[]);
        let late = keeping().expect("nothing is there yet");
        fs::write(&path, "precious").expect("a file");
        assert_eq!(keeping().expect_err("a file").kind(), io::ErrorKind::AlreadyExists);
        let error = late.commit().expect_err("another program was quicker");
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).expect("a file"), b"precious");
        assert_eq!(names(directory.path()), ["a"]);
    }

    #[test]
    fn what_is_being_read_is_not_written_by_whatever_name() {
        let directory = tempfile::tempdir().expect("a directory");
        let [file, hard, soft] = ["file", "hard", "soft"].map(|name| directory.path().join(name));
        fs::write(&file, "precious").expect("a file");
        fs::hard_link(&file, &hard).expect("a link");
        symlink("file", &soft).expect("a link");
        let read = FileId::of(File::open(&file).expect("a file")).expect("a regular file");
        assert_eq!(FileId::at(&soft), Some(read));
        for path in [&file, &hard, &soft] {
            for existing in [Existing::Kept, Existing::Replaced] {
                let error =
                    OutputFile::create(path, Content::Ordinary, existing, &[read]).expect_err("input");
                assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
            }
        }
        assert_eq!(FileId::of(File::open("/dev/null").expect("a device")), None);
        assert!(
            OutputFile::create(Path::new("/dev/null"), Content::Ordinary, Existing::Kept, &[read]).is_ok()
        );
    }

    #[test]
    fn a_secret_is_not_written_where_another_user_leads_it() {
        // Only the superuser can give files away.
        if !geteuid().is_root() {
            return;
        }
        let directory = tempfile::tempdir().expect("a directory");
        let [file, own, foreign, pipe] =
            ["file", "own", "foreign", "pipe"].map(|name| directory.path().join(name));
        fs::write(&file, "").expect("a file");
        symlink("file", &own).expect("a link");
        symlink("file", &foreign).expect("a link");
        std::os::unix::fs::lchown(&foreign, Some(1234), None).expect("the superuser");
        let denied = |path: &Path| {
            let error = replacing(path, Content::Secret).expect_err("another user's");
            error.kind() == io::ErrorKind::PermissionDenied
        };
        assert!(replacing(&own, Content::Secret).is_ok());
        assert!(denied(&foreign) && replacing(&foreign, Content::Ordinary).is_ok());
        std::os::unix::fs::chown(&file, Some(1234), None).expect("the superuser");
        assert!(denied(&own), "a link to a file of another user");
        let error = replacing(&own, Content::Ordinary).expect_err("a link to a file of another user");
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert!(replacing(&file, Content::Secret).is_ok(), "its name gets a new file");
        rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, rustix::fs::Mode::RWXU, 0).expect("a pipe");
        std::os::unix::fs::chown(&pipe, Some(1234), None).expect("the superuser");
        let reader = thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe)
        });
        assert!(denied(&pipe));
        assert_eq!(reader.join().expect("a reader").expect("a pipe"), b"");
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
            let (temporary, destination) = (temporary.clone(), destination.clone());
            OutputFile { file, target: Target::Named { temporary, destination, existing: Existing::Kept } }
        };
        drop(named());
        assert!(names(directory.path()).is_empty());
        named().commit().expect("a name");
        assert_eq!(names(directory.path()), ["a"]);
        assert_eq!(named().commit().expect_err("kept").kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(names(directory.path()), ["a"]);
    }

    #[test]
    fn a_missing_directory_is_an_error_at_once() {
        let directory = tempfile::tempdir().expect("a directory");
        let error =
            replacing(&directory.path().join("missing/a"), Content::Ordinary).expect_err("no directory");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
