//! A bounded window over a stream, from which bytes are taken at the front.

use crate::error::{Error, Result};
use std::io::{ErrorKind, Read};

/// How much is asked of the stream at a time.
const READ: usize = 1 << 20;

/// The part of a stream that is in memory.
#[derive(Debug)]
pub(crate) struct Window<R> {
    reader: R,
    buffer: Vec<u8>,
    /// What is in memory and not taken yet.
    start: usize,
    end: usize,
    /// Offset in the stream of the first byte that is not taken.
    position: u64,
    at_end: bool,
}

impl<R: Read> Window<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::new(), start: 0, end: 0, position: 0, at_end: false }
    }

    /// What is in memory.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Offset in the stream of the window's first byte.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Reads until `count` bytes are in memory, or all there are.
    pub(crate) fn fill(&mut self, count: usize) -> Result<()> {
        while self.end - self.start < count && !self.at_end {
            self.make_room(count);
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.at_end = true,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => {
                    self.at_end = true;
                    let position = self.position + (self.end - self.start) as u64;
                    return Err(Error::Read { position, source });
                }
            }
        }
        Ok(())
    }

    /// Takes bytes off the front.
    pub(crate) fn take(&mut self, count: usize) {
        debug_assert!(count <= self.end - self.start, "only what is in memory can be taken");
        self.start += count;
        self.position += count as u64;
    }

    /// Moves what is left to the front, and makes sure that `count` bytes fit and a read is worth its call.
    fn make_room(&mut self, count: usize) {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        let wanted = count.max(self.end + READ / 2).next_multiple_of(READ);
        if self.buffer.len() < wanted {
            self.buffer.resize(wanted, 0);
        } else if self.buffer.len() > 4 * wanted {
            self.buffer.truncate(wanted);
            self.buffer.shrink_to_fit();
        }
    }
}
