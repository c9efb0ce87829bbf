//! Which process holds the write lock, as far as `/proc` tells.

use std::path::{Path, PathBuf};

/// Names the process that holds the write lock, " (process 123, keyhoard import)", or nothing where it cannot be seen.
pub(super) fn describe(path: &Path) -> String {
    let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    let process =
        lock_files(path).into_iter().find_map(|(file, first)| writer_of(&locks, inode(&file)?, first));
    process.map_or_else(String::new, |process| match command(process) {
        Some(command) => format!(" (process {process}, {command})"),
        None => format!(" (process {process})"),
    })
}

/// Where SQLite's write locks are: in the shared memory's file, or in the database where there is no such file.
fn lock_files(path: &Path) -> [(PathBuf, u64); 2] {
    const WAL_WRITE_LOCK: u64 = 120;
    const RESERVED_BYTE: u64 = 0x4000_0001;
    let mut shared = path.as_os_str().to_owned();
    shared.push("-shm");
    [(PathBuf::from(shared), WAL_WRITE_LOCK), (path.to_owned(), RESERVED_BYTE)]
}

/// Only looks: the file must not be opened, since closing it would take away the locks of this process.
#[cfg(unix)]
fn inode(file: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(file).ok().map(|metadata| metadata.ino())
}

#[cfg(not(unix))]
fn inode(_: &Path) -> Option<u64> {
    None
}

/// Finds the process with a write lock over the byte `at`, in the lines of proc_locks(5):
/// `1: POSIX  ADVISORY  WRITE 1234 08:01:5678 120 120`.
fn writer_of(locks: &str, inode: u64, at: u64) -> Option<u32> {
    locks.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, _, _, "WRITE", process, file, first, last] = fields[..] else { return None };
        let holds = file.rsplit(':').next()?.parse() == Ok(inode)
            && first.parse::<u64>().ok()? <= at
            && last.parse().unwrap_or(u64::MAX) >= at;
        process.parse().ok().filter(|&process| holds && process != 0)
    })
}

fn command(process: u32) -> Option<String> {
    let line = std::fs::read(format!("/proc/{process}/cmdline")).ok()?;
    let mut words = line.split(|&byte| byte == 0).filter(|word| !word.is_empty());
    let program = words.next()?.rsplit(|&byte| byte == b'/').next()?;
    let mut command = String::from_utf8_lossy(program).into_owned();
    if let Some(word) = words.next() {
        command.push(' ');
        command.push_str(&String::from_utf8_lossy(word));
    }
    Some(command.chars().filter(|character| !character.is_control()).take(60).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_is_who_has_the_write_lock_on_the_right_byte() {
        let locks = "1: POSIX  ADVISORY  READ  11 fe:00:77 120 120\n\
                     2: POSIX  ADVISORY  WRITE 22 fe:00:78 120 120\n\
                     2: -> POSIX  ADVISORY  WRITE 23 fe:00:77 120 120\n\
                     3: POSIX  ADVISORY  WRITE 33 fe:00:77 123 123\n\
                     4: POSIX  ADVISORY  WRITE 44 fe:00:77 120 EOF\n";
        assert_eq!(writer_of(locks, 77, 120), Some(44));
        assert_eq!(writer_of(locks, 79, 120), None);
    }

    #[test]
    fn a_process_is_named_by_its_program_and_first_argument() {
        let own = command(std::process::id()).expect("this process has a command");
        assert!(own.starts_with("keyhoard_store"), "{own}");
        assert_eq!(command(u32::MAX), None);
    }
}
