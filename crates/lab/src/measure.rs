//! The costs of one run of a program.

use std::io;
use std::mem::MaybeUninit;
use std::process::{Child, Command};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// The costs of one run of a program.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Cost {
    /// Seconds from just before the start of the program until its end was reported.
    pub wall: f64,
    /// Seconds of processor time of the program itself, over all threads.
    pub user: f64,
    /// Seconds of processor time of the system for the program.
    pub system: f64,
    /// The peak resident memory, in bytes. Never less than that of the measuring process itself (Linux counts the time
    /// between `vfork` and `exec`): measure from a small process.
    pub peak_memory: u64,
    /// The exit code, `None` if a signal ended the program.
    pub code: Option<i32>,
}

impl Cost {
    /// Returns the seconds of processor time, user and system.
    pub fn processor(&self) -> f64 {
        self.user + self.system
    }
}

/// Runs a program to its end. Its output is not read: redirect it.
///
/// # Errors
///
/// If it cannot be started.
pub fn run(command: &mut Command) -> io::Result<Cost> {
    let start = Instant::now();
    let child = command.spawn()?;
    wait(child, start)
}

/// Runs a program like [`run`], but kills it when the time limit is over, and returns `None` then.
///
/// # Errors
///
/// If it cannot be started, and those of `waitid(2)`.
pub fn run_within(command: &mut Command, limit: Duration) -> io::Result<Option<Cost>> {
    let start = Instant::now();
    let mut child = command.spawn()?;
    let process = child.id();
    let is_killed = thread::scope(|scope| {
        let (ended, end) = mpsc::channel::<()>();
        // The program is not waited for before this thread has ended, so that its process ID is still its own.
        let child = &mut child;
        let watcher = scope
            .spawn(move || end.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) && child.kill().is_ok());
        let end = wait_for_end(process);
        drop(ended);
        let is_killed = watcher.join().expect("it does not panic");
        end.map(|()| is_killed)
    })?;
    let cost = wait(child, start)?;
    Ok((!is_killed).then_some(cost))
}

/// Waits until a child has ended, and leaves it to be waited for.
#[allow(unsafe_code, reason = "the standard library has no way to wait without reaping the child")]
fn wait_for_end(process: u32) -> io::Result<()> {
    let mut state = MaybeUninit::<libc::siginfo_t>::zeroed();
    loop {
        let options = libc::WEXITED | libc::WNOWAIT;
        // SAFETY: the pointer is to a live value of the type that waitid writes.
        if unsafe { libc::waitid(libc::P_PID, process, state.as_mut_ptr(), options) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Waits for a child that was started at `start`, and returns its costs.
///
/// # Errors
///
/// Those of `wait4(2)`.
#[allow(unsafe_code, reason = "the standard library has no way to a child's resource usage")]
pub fn wait(child: Child, start: Instant) -> io::Result<Cost> {
    let process = child.id() as libc::pid_t;
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: both pointers are to live values of the types that wait4 writes. `child` has not been waited
        // for, so that the process ID is still its own.
        if unsafe { libc::wait4(process, &mut status, 0, usage.as_mut_ptr()) } == process {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    let wall = start.elapsed().as_secs_f64();
    // SAFETY: all bits zero are a valid rusage, and wait4 has filled it.
    let usage = unsafe { usage.assume_init() };
    Ok(Cost {
        wall,
        user: seconds(usage.ru_utime),
        system: seconds(usage.ru_stime),
        // In KiB, on Linux.
        peak_memory: usage.ru_maxrss as u64 * 1024,
        code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
    })
}

fn seconds(time: libc::timeval) -> f64 {
    (Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64)).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Cost {
        run(Command::new("sh").args(["-c", script])).unwrap()
    }

    #[test]
    fn the_exit_code_is_the_programs() {
        assert_eq!(shell("exit 7").code, Some(7));
    }

    #[test]
    fn a_program_ended_by_a_signal_has_no_exit_code() {
        assert_eq!(shell("kill -9 $$").code, None);
    }

    #[test]
    fn a_program_is_ended_when_the_time_limit_is_over_and_only_then() {
        let start = Instant::now();
        let within = |script: &str, limit| {
            run_within(Command::new("sh").args(["-c", script]), Duration::from_millis(limit)).unwrap()
        };
        assert!(within("exec sleep 60", 100).is_none());
        assert_eq!(within("exit 7", 60_000).unwrap().code, Some(7));
        assert!(start.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn waiting_costs_wall_time_but_no_processor_time() {
        let cost = shell("sleep 0.2");
        assert!(cost.wall >= 0.2 && cost.processor() < 0.1, "{cost:?}");
    }

    #[test]
    fn the_peak_counts_memory_that_was_given_back() {
        let cost = shell("x=$(head -c 50000000 /dev/zero | tr '\\0' x); x=; :");
        assert!(cost.peak_memory > 50_000_000, "{cost:?}");
    }
}
