//! How an import's certificates reach the database.
//!
//! What changes an index in no order changes most of its pages, however little it is: so a batch should be large, and
//! memory is small. From files, none of which makes the import wait, a transaction takes one part of a batch while the
//! next part is verified. It is one transaction still, all or nothing.

use store::Store;

use crate::Result;

/// A batch is written once its certificates, packed, take this many bytes: an import's memory is a multiple of it.
const BATCH_BYTES: usize = 36 << 20;
/// The same of a batch that is written while the next one is made.
const CONCURRENT_BATCH_BYTES: usize = 14 << 20;
/// The same of a part of a batch, while the writer thread is idle.
const PART_BYTES: usize = 4 << 20;
/// The same of a part that waits for the writer thread: with a batch's last part come its index rows and the disk.
const QUEUED_PART_BYTES: usize = 16 << 20;

/// How an import writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Each batch in a transaction of its own, begun when the batch is complete, since an input may make the import wait.
    Stream {
        /// The database can be read while it is written, so that the next batch is made meanwhile.
        concurrent: bool,
    },
    /// Each batch part by part in one transaction, which takes no further part after some seconds, since others may wait.
    Files,
    /// As [`Mode::Files`], into a new database. It cannot be read while it is written; a transaction takes a whole
    /// batch, since others can miss nothing in it.
    FirstLoad,
}

impl Mode {
    /// Returns the mode of the next batch; `in_parts` says whether one may be written part by part.
    pub(super) fn of_next_batch(store: &dyn Store, in_parts: bool) -> Result<Self> {
        Ok(match (in_parts, store.supports_concurrent_readers()?) {
            (false, concurrent) => Self::Stream { concurrent },
            (true, true) => Self::Files,
            (true, false) => Self::FirstLoad,
        })
    }

    /// Says whether the database can be read while it is written.
    pub(super) fn is_concurrent(self) -> bool {
        matches!(self, Self::Stream { concurrent: true } | Self::Files)
    }

    /// Says whether a batch is written part by part.
    pub(super) fn is_in_parts(self) -> bool {
        matches!(self, Self::Files | Self::FirstLoad)
    }

    /// Returns how many bytes a batch, or a part of one, has when it is handed to the writer thread.
    pub(super) fn bytes(self, writer_is_busy: bool) -> usize {
        match self {
            Self::Stream { concurrent: true } => CONCURRENT_BATCH_BYTES,
            Self::Stream { concurrent: false } => BATCH_BYTES,
            Self::Files | Self::FirstLoad if writer_is_busy => QUEUED_PART_BYTES,
            Self::Files | Self::FirstLoad => PART_BYTES,
        }
    }
}
