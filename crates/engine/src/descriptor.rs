//! Numbered file descriptors that the calling program opened, as `--status-fd 3` names them.

// The one use of unsafe code in this crate: the standard library duplicates no descriptor by its number, and opening
// /dev/fd/N instead fails for sockets and starts regular files again at their beginning. Nor does it keep descriptors that
// this process inherited from those that it starts.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// Those below are standard input, output and error.
const LOWEST: RawFd = 3;

/// A file descriptor that is not open, or cannot be duplicated.
#[derive(Debug, thiserror::Error)]
#[error("file descriptor {number}")]
pub struct DescriptorError {
    /// Its number.
    pub number: RawFd,
    /// What the system said.
    pub source: io::Error,
}

/// For callers that name the descriptor themselves.
impl From<DescriptorError> for io::Error {
    fn from(error: DescriptorError) -> Self {
        error.source
    }
}

/// Returns a duplicate of the inherited descriptor `number`, which programs that are started do not inherit. Closing it
/// leaves the original open.
///
/// # Errors
///
/// `EBADF` if no descriptor with this number is open.
pub fn duplicate(number: RawFd) -> Result<OwnedFd, DescriptorError> {
    // SAFETY: the call takes numbers only, and reports EBADF for one that is not open.
    let duplicate = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, LOWEST) };
    if duplicate < 0 {
        return Err(DescriptorError { number, source: io::Error::last_os_error() });
    }
    // SAFETY: the system has just made this descriptor, so that nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(duplicate) })
}

/// Keeps what this process inherited beyond standard input, output and error from programs that it starts: a gpg-agent
/// that goes on running would hold the pipes open whose end the caller waits for. Before Linux 5.11, and elsewhere, it does nothing.
pub fn keep_from_children() {
    // SAFETY: the call takes numbers only, and closes nothing before a program is executed.
    #[cfg(target_os = "linux")]
    let _ =
        unsafe { libc::syscall(libc::SYS_close_range, LOWEST, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Write};
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn a_duplicate_leads_to_the_same_place_and_leaves_the_original_open() {
        let (mut reader, mut writer) = io::pipe().expect("a pipe");
        let mut duplicated = File::from(duplicate(writer.as_raw_fd()).expect("an open descriptor"));
        duplicated.write_all(b"one ").expect("room in the pipe");
        drop(duplicated);
        writer.write_all(b"two").expect("the original is still open");
        drop(writer);
        let mut text = String::new();
        reader.read_to_string(&mut text).expect("what was written");
        assert_eq!(text, "one two");
    }

    #[test]
    fn a_number_that_is_not_open_is_an_error_that_names_it() {
        for number in [-1, 900_000] {
            let error = duplicate(number).expect_err("no such descriptor");
            assert_eq!(error.source.raw_os_error(), Some(libc::EBADF));
            assert_eq!(error.to_string(), format!("file descriptor {number}"));
        }
    }
}
