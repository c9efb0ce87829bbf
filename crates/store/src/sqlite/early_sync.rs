//! Syncing what a long transaction writes before it commits.
//!
//! Without a log a transaction writes into the database's file, and all of it has to reach the disk before the commit is
//! done. What the disk gets while there is work to do, the commit need not wait for.

use std::fs::File;
use std::mem::ManuallyDrop;
use std::path::Path;

/// Bytes that the disk gets at once.
const PORTION: usize = 4 << 20;

/// The file of a database, beside SQLite's connections to it.
///
/// It stays open until the process ends: closing it would take away all locks that the process has on the file.
pub(super) struct EarlySync {
    file: ManuallyDrop<File>,
    /// Bytes that were written since the disk got any.
    written: usize,
}

impl EarlySync {
    /// Opens the file; `None` if that cannot be done: only speed is at stake.
    pub(super) fn open(path: &Path) -> Option<Self> {
        let file = ManuallyDrop::new(File::open(path).ok()?);
        Some(Self { file, written: 0 })
    }

    /// Notes that so many bytes were written, and brings them to the disk once it is worth it.
    pub(super) fn wrote(&mut self, bytes: usize) {
        self.written += bytes;
        if self.written >= PORTION {
            self.written = 0;
            // The commit does it again, and says what is wrong.
            let _ = self.file.sync_data();
        }
    }
}
