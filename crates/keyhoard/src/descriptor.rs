//! Numbered file descriptors that the calling program opened, as `--status-fd 3` names them.

// The one use of unsafe code in this crate: the standard library has no safe way to name an inherited descriptor by
// its number, and opening /dev/fd/N instead fails for sockets and starts regular files again at their beginning.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};

/// Returns a duplicate of the inherited descriptor `number`, so that closing it closes nobody else's.
///
/// # Errors
///
/// `EBADF` if there is no such descriptor.
pub fn duplicate(number: RawFd) -> io::Result<OwnedFd> {
    if number < 0 {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    // SAFETY: the borrow lives only for this call, nothing in this single-threaded phase of the program closes
    // descriptors meanwhile, and if none has this number the duplication below reports EBADF without touching memory.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    borrowed.try_clone_to_owned()
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
    fn a_number_nobody_opened_is_an_error() {
        assert_eq!(duplicate(-1).expect_err("no such descriptor").raw_os_error(), Some(libc::EBADF));
        assert_eq!(duplicate(900_000).expect_err("no such descriptor").raw_os_error(), Some(libc::EBADF));
    }
}
