//! GnuPG's lock files: `FILE.lock` is a hard link to a file with the process ID and the host's name of its holder.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, process, thread};

use tempfile::Builder;

/// How long another program may hold the lock.
const MOST_TIME: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(50);

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub(crate) struct DotLock(PathBuf);

impl DotLock {
    /// Locks a file, after waiting for the process that has locked it. The lock of a process that has ended is removed.
    pub(crate) fn take(path: &Path) -> io::Result<Self> {
        let directory = path.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut name = OsString::from(path);
        name.push(".lock");
        let lock = PathBuf::from(name);
        let mut own = Builder::new().prefix(".#lk").tempfile_in(directory)?;
        writeln!(own, "{:>10}\n{}", process::id(), host())?;
        let begun = Instant::now();
        loop {
            match fs::hard_link(own.path(), &lock) {
                Ok(()) => return Ok(Self(lock)),
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                Err(_) if is_stale(&lock) => drop(fs::remove_file(&lock)),
                Err(_) if begun.elapsed() > MOST_TIME => {
                    return Err(io::Error::other("another program has locked it"));
                }
                Err(_) => thread::sleep(PAUSE),
            }
        }
    }
}

impl Drop for DotLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim_end().to_owned()
}

/// Says whether a process of this host holds a lock and is gone.
fn is_stale(lock: &Path) -> bool {
    let Ok(text) = fs::read_to_string(lock) else { return false };
    let mut lines = text.lines();
    let process = lines.next().and_then(|line| line.trim().parse::<i32>().ok());
    let is_here = lines.next() == Some(&host());
    let process = process.and_then(rustix::process::Pid::from_raw);
    is_here && process.is_some_and(|process| rustix::process::test_kill_process(process).is_err())
}
