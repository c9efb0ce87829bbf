//! Modification times of files, which tell whether a store of certificates has changed since.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;

/// Returns when a file changed last, in nanoseconds since 1970, and its size.
pub(super) fn stamp(file: &Metadata) -> (i64, u64) {
    (file.mtime().saturating_mul(1_000_000_000).saturating_add(file.mtime_nsec()), file.size())
}

/// Joins the stamps of several files: the latest change, the sum of the sizes.
pub(super) fn newer(one: (i64, u64), other: (i64, u64)) -> (i64, u64) {
    (one.0.max(other.0), one.1 + other.1)
}
