//! A reader that gives few bytes at once.

use std::io::Read;

/// Gives no more than so many bytes of a slice at once.
#[derive(Debug)]
pub(crate) struct Pieces<'a> {
    left: &'a [u8],
    size: usize,
}

impl<'a> Pieces<'a> {
    /// Begins to give pieces of a size, which is one at least.
    pub(crate) fn new(all: &'a [u8], size: usize) -> Self {
        Self { left: all, size: size.max(1) }
    }
}

impl Read for Pieces<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let count = self.size.min(out.len()).min(self.left.len());
        let (piece, left) = self.left.split_at(count);
        out[..count].copy_from_slice(piece);
        self.left = left;
        Ok(count)
    }
}
