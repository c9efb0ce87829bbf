//! Reads a stream line by line, with a buffer of constant size.

use crate::buffer::Buffer;
use crate::error::{Error, Result};
use std::io::{ErrorKind, Read};

/// The longest line in bytes that is read at once; longer ones are read in parts.
const MAX_LINE: usize = 64 << 10;
/// The size of the first read: whole signatures and small keys. Clearing and wiping memory for a longest line costs more.
const FIRST_READ: usize = 4 << 10;

/// A stream of lines.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: R,
    buffer: Buffer,
    /// The offset of the buffer's first byte in the stream.
    position: u64,
    at_end: bool,
    begins: bool,
}

/// A line, or a part of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// The bytes, without the line feed.
    pub(crate) text: &'a [u8],
    /// The offset in the stream.
    pub(crate) position: u64,
    /// Whether it is the beginning of a line.
    pub(crate) begins: bool,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, buffer: Buffer::default(), position: 0, at_end: false, begins: true }
    }

    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Returns the next line without consuming it.
    pub(crate) fn peek(&mut self) -> Result<Option<Line<'_>>> {
        let mut searched = 0;
        loop {
            let line_feed = memchr::memchr(b'\n', &self.buffer[searched..]).map(|at| searched + at);
            if line_feed.is_some() || self.buffer.len() == MAX_LINE || self.at_end {
                let text = &self.buffer[..line_feed.unwrap_or(self.buffer.len())];
                let line = Line { text, position: self.position, begins: self.begins };
                return Ok((!self.buffer.is_empty()).then_some(line));
            }
            searched = self.buffer.len();
            self.read_more()?;
        }
    }

    /// Consumes a line of this length, which [`Lines::peek`] returned.
    pub(crate) fn take(&mut self, length: usize) {
        let line_feed = self.buffer[length..].first() == Some(&b'\n');
        self.begins = line_feed;
        self.advance(length + usize::from(line_feed));
    }

    /// Returns the next two bytes, or fewer at the end, without consuming them.
    pub(crate) fn peek_bytes(&mut self) -> Result<&[u8]> {
        while self.buffer.len() < 2 && !self.at_end {
            self.read_more()?;
        }
        Ok(&self.buffer[..self.buffer.len().min(2)])
    }

    /// Reads bytes without regard to lines.
    pub(crate) fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        if self.buffer.is_empty() && !self.at_end {
            let read = read(&mut self.reader, out, self.position)?;
            self.at_end = read == 0;
            self.position += read as u64;
            return Ok(read);
        }
        let count = self.buffer.len().min(out.len());
        out[..count].copy_from_slice(&self.buffer[..count]);
        self.advance(count);
        Ok(count)
    }

    fn advance(&mut self, count: usize) {
        self.buffer.consume(count);
        self.position += count as u64;
    }

    fn read_more(&mut self) -> Result<()> {
        let position = self.position + self.buffer.len() as u64;
        let size = (2 * self.buffer.size()).clamp(FIRST_READ, MAX_LINE);
        let room = size - self.buffer.len();
        let read = self.buffer.write_with(room, |room| read(&mut self.reader, room, position))?;
        self.at_end = read == 0;
        Ok(())
    }
}

/// Reads once; repeats a read that a signal interrupted.
fn read(reader: &mut impl Read, out: &mut [u8], position: u64) -> Result<usize> {
    loop {
        match reader.read(out) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result.map_err(|source| Error::Read { position, source }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Vec<(Vec<u8>, u64, bool)> {
        let mut lines = Lines::new(text);
        let mut found = Vec::new();
        while let Some(Line { text, position, begins }) = lines.peek().expect("a slice can be read") {
            let length = text.len();
            found.push((text.to_vec(), position, begins));
            lines.take(length);
        }
        found
    }

    #[test]
    fn lines_come_with_their_position() {
        let expected = [(b"ab".to_vec(), 0, true), (vec![], 3, true), (b"c".to_vec(), 4, true)];
        assert_eq!(lines(b"ab\n\nc\n"), expected);
        assert_eq!(lines(b"ab\n\nc"), expected);
    }

    #[test]
    fn a_line_longer_than_the_buffer_comes_in_parts() {
        let text = [vec![b'x'; MAX_LINE + 3], b"\ny".to_vec()].concat();
        let parts: Vec<_> = lines(&text).into_iter().map(|(text, _, begins)| (text.len(), begins)).collect();
        assert_eq!(parts, [(MAX_LINE, true), (3, false), (1, true)]);
    }
}
