//! Certificate stores of other programs.

use std::path::PathBuf;

use cert::Timestamp;

/// Another certificate store, as it was when it was taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migration {
    /// Its file or directory.
    pub path: PathBuf,
    /// When it had last changed: nanoseconds since 1970.
    pub modified: i64,
    /// Its size in bytes.
    pub size: u64,
    /// When it was taken over; `None` if the user was only told about it.
    pub done: Option<Timestamp>,
}
