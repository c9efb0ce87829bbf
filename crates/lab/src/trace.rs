//! System calls by kind, counted by strace.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::Serialize;

/// The time limit of a program, which strace makes much slower.
const TIME_LIMIT: Duration = Duration::from_secs(120);
/// The time that strace has for writing its table.
const TABLE_TIMEOUT: Duration = Duration::from_secs(5);

/// The numbers of system calls by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Calls {
    #[serde(rename = "work")]
    pub(crate) task: String,
    pub(crate) subject: String,
    pub(crate) kinds: BTreeMap<&'static str, u64>,
}

/// The kinds with their system calls; all others are `other`.
const KINDS: [(&str, &str); 8] = [
    ("read", "read pread64 readv preadv preadv2"),
    ("write", "write pwrite64 writev pwritev ftruncate fallocate"),
    ("seek", "lseek"),
    ("sync", "fsync fdatasync sync_file_range msync"),
    ("lock", "fcntl flock"),
    (
        "open, close, look",
        "open openat close stat fstat lstat newfstatat statx access faccessat faccessat2 unlink unlinkat rename \
         renameat renameat2 link readlink getdents64 mkdir chmod fchmod",
    ),
    ("memory", "mmap munmap mprotect brk madvise mlock mremap"),
    (
        "threads, talk",
        "futex clone clone3 vfork fork execve wait4 sendmsg recvmsg sendto recvfrom connect socket poll ppoll select \
         pselect6 epoll_wait sched_yield",
    ),
];

/// Returns whether strace is installed and may trace programs.
pub(crate) fn is_here() -> bool {
    let output = Command::new("strace").args(["-c", "-o", "/dev/null", "true"]).stdin(Stdio::null()).output();
    output.is_ok_and(|output| output.status.success())
}

/// Returns the names of all kinds, in the order of a table.
pub(crate) fn kind_names() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|(kind, _)| *kind).chain(["other"])
}

/// Runs a command and counts its system calls. Returns `None` if it takes too long, or is interrupted.
///
/// # Errors
///
/// If strace cannot be started.
pub(crate) fn count(command: Command, table: &Path, stop: &AtomicBool) -> Result<Option<Calls>> {
    let mut strace = Command::new("strace");
    strace.args(["-I", "2", "-f", "-c", "-U", "calls,name", "-o"]).arg(table).arg("timeout");
    strace.arg(TIME_LIMIT.as_secs().to_string()).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => strace.env(name, value),
            None => strace.env_remove(name),
        };
    }
    strace.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = strace.spawn().context("starting strace")?;
    let start = Instant::now();
    let mut has_started = false;
    let status = loop {
        if let Some(status) = child.try_wait().context("waiting for strace")? {
            break status;
        }
        if start.elapsed() > TIME_LIMIT + TABLE_TIMEOUT || stop.load(Ordering::Relaxed) {
            let _ = child.kill();
            child.wait().context("waiting for strace")?;
            return Ok(None);
        }
        // After the end of the program, strace would trace the servers that it has started for ever.
        let is_running = has_program(child.id());
        if has_started && !is_running {
            let _ = Command::new("sh")
                .args(["-c", "kill $0", &child.id().to_string()])
                .stderr(Stdio::null())
                .status();
            break child.wait().context("waiting for strace")?;
        }
        has_started |= is_running;
        thread::sleep(Duration::from_millis(5));
    };
    if status.code() == Some(TIMED_OUT) {
        return Ok(None);
    }
    let text = fs::read_to_string(table).with_context(|| table.display().to_string())?;
    Ok(Some(Calls { kinds: kinds(&text), ..Calls::default() }))
}

/// Returns whether the traced program is a child of strace. Before it starts the program, strace has other children,
/// with which it tests the system.
fn has_program(strace: u32) -> bool {
    let children = fs::read_to_string(format!("/proc/{strace}/task/{strace}/children")).unwrap_or_default();
    let name = |child: &str| fs::read_to_string(format!("/proc/{child}/comm")).unwrap_or_default();
    children.split_whitespace().any(|child| name(child).trim() == "timeout")
}

/// The exit code of `timeout(1)` for a command that took too long.
const TIMED_OUT: i32 = 124;

/// Reads strace's table of calls and names.
fn kinds(table: &str) -> BTreeMap<&'static str, u64> {
    let mut kinds = BTreeMap::new();
    for line in table.lines() {
        let mut fields = line.split_whitespace();
        let (Some(count), Some(name)) = (fields.next(), fields.next()) else { continue };
        let Ok(count) = count.parse::<u64>() else { continue };
        if name == "total" {
            continue;
        }
        let kind = KINDS.iter().find(|(_, calls)| calls.split(' ').any(|call| call == name));
        let kind = kind.map_or("other", |(kind, _)| kind);
        *kinds.entry(kind).or_default() += count;
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_kind() {
        let table = "    calls syscall\n--------- -------\n      250 read\n        2 pread64\n        7 fsync\n        1 uname\n--------- -------\n      260 total\n";
        assert_eq!(kinds(table), BTreeMap::from([("read", 252), ("sync", 7), ("other", 1)]));
    }

    #[test]
    fn a_program_that_reads_is_seen_to_read() {
        let table = tempfile::NamedTempFile::new().unwrap();
        let mut command = Command::new("cat");
        command.arg("/dev/null");
        let calls = count(command, table.path(), &AtomicBool::new(false)).unwrap().unwrap();
        assert!(calls.kinds["read"] > 0 && calls.kinds["open, close, look"] > 0, "{calls:?}");
    }

    #[test]
    fn a_server_that_stays_is_not_waited_for() {
        let table = tempfile::NamedTempFile::new().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 30 & cat /dev/null"]);
        let start = Instant::now();
        let calls = count(command, table.path(), &AtomicBool::new(false)).unwrap().unwrap();
        assert!(calls.kinds["read"] > 0 && start.elapsed() < Duration::from_secs(20), "{calls:?}");
    }
}
