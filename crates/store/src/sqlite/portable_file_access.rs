//! What a place in the file system allows, on systems without modes of files.

use std::fs::{DirBuilder, File, OpenOptions, canonicalize};
use std::io;
use std::path::{Component, Path, Prefix};

/// Says whether other machines may share the file: memory cannot be shared then, so that only a rollback journal works.
/// What cannot be looked at counts as local.
pub(super) fn is_on_network(path: &Path) -> bool {
    // A drive that stands for a directory of another machine becomes that one's name.
    canonicalize(path).is_ok_and(|path| match path.components().next() {
        Some(Component::Prefix(prefix)) => matches!(prefix.kind(), Prefix::UNC(..) | Prefix::VerbatimUNC(..)),
        _ => false,
    })
}

/// Says that somebody might be able to write there: SQLite finds out.
pub(super) fn is_mounted_read_only(_: &Path) -> bool {
    false
}

/// Says whether this user may read a file.
pub(super) fn check_readable(path: &Path) -> io::Result<()> {
    File::open(path).map(drop)
}

/// Creates files that were not there.
pub(super) fn new_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    options
}

/// Creates directories, and those above them.
pub(super) fn new_directory() -> DirBuilder {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    builder
}

/// Does nothing: there is no call that makes the names in a directory durable.
pub(super) fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}
