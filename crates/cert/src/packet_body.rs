//! Streams the body of a packet with any kind of length (RFC 9580, 4.2).

use crate::buffer::Buffer;
use crate::error::Result;
use crate::packet::{Length, MAX_HEADER, new_length};
use crate::source::Source;
use std::io::Read;

/// The size of the buffer in bytes.
const BUFFER_SIZE: usize = 64 << 10;
/// The most bytes that are returned at a time, since bytes after a small packet may be given back.
const STEP: usize = 16 << 10;

/// A source that supports peeking and giving bytes back.
#[derive(Debug)]
pub(crate) struct PushbackReader<R> {
    pub(crate) source: Source<R>,
    /// The bytes of the source that were not returned yet.
    bytes: Buffer,
    /// The number of bytes of the source that were returned.
    passed: u64,
}

impl<R: Read> PushbackReader<R> {
    pub(crate) fn new(source: Source<R>) -> Self {
        Self { source, bytes: Buffer::default(), passed: 0 }
    }

    pub(crate) fn passed(&self) -> u64 {
        self.passed
    }

    /// Reads bytes; none at the end of the segment.
    pub(crate) fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        let count = if self.bytes.is_empty() {
            self.source.read(out)?
        } else {
            let count = self.bytes.len().min(out.len()).min(STEP);
            out[..count].copy_from_slice(&self.bytes[..count]);
            self.bytes.consume(count);
            count
        };
        self.passed += count as u64;
        Ok(count)
    }

    /// Takes back the bytes that were read last.
    pub(crate) fn give_back(&mut self, bytes: &[u8]) {
        self.passed -= bytes.len() as u64;
        self.bytes.prepend(bytes);
    }

    /// Returns the next bytes without consuming them, at least `count` unless the segment ends.
    fn peek(&mut self, count: usize) -> Result<&[u8]> {
        while self.bytes.len() < count {
            let room = BUFFER_SIZE - self.bytes.len();
            if self.bytes.write_with(room, |room| self.source.read(room))? == 0 {
                break;
            }
        }
        Ok(&self.bytes)
    }

    fn take(&mut self, count: usize) {
        self.bytes.consume(count);
        self.passed += count as u64;
    }
}

/// The unread part of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Definite(u64),
    /// This number of bytes of a part, then another length.
    Parts(u64),
    /// The rest of the stream.
    Open,
}

impl Body {
    pub(crate) fn of(length: Length) -> Self {
        match length {
            Length::Definite(length) => Self::Definite(u64::from(length)),
            Length::Partial(length) => Self::Parts(u64::from(length)),
            Length::Open => Self::Open,
        }
    }

    /// Returns the rest after the first byte, which must exist.
    pub(crate) fn after_first_byte(length: Length) -> Self {
        match Self::of(length) {
            Self::Definite(left) => Self::Definite(left - 1),
            Self::Parts(left) => Self::Parts(left - 1),
            Self::Open => Self::Open,
        }
    }

    /// Returns the next bytes without consuming them; none at the end of the body or the segment.
    pub(crate) fn peek<'a, R: Read>(&mut self, raw: &'a mut PushbackReader<R>) -> Result<&'a [u8]> {
        while *self == Self::Parts(0) {
            let Ok((length, size)) = new_length(raw.peek(MAX_HEADER)?) else {
                *self = Self::Definite(0);
                break;
            };
            raw.take(size);
            *self = Self::of(length);
        }
        let most = match *self {
            Self::Definite(left) | Self::Parts(left) => usize::try_from(left).unwrap_or(usize::MAX),
            Self::Open => usize::MAX,
        };
        let bytes = raw.peek(most.min(1))?;
        Ok(&bytes[..bytes.len().min(most)])
    }

    /// Consumes bytes that [`Body::peek`] returned.
    pub(crate) fn take<R: Read>(&mut self, raw: &mut PushbackReader<R>, count: usize) {
        raw.take(count);
        if let Self::Definite(left) | Self::Parts(left) = self {
            *left -= count as u64;
        }
    }

    /// Skips the rest of the body, unless that is the rest of the stream.
    pub(crate) fn skip<R: Read>(&mut self, raw: &mut PushbackReader<R>) -> Result<()> {
        while *self != Self::Open {
            let count = self.peek(raw)?.len();
            if count == 0 {
                break;
            }
            self.take(raw, count);
        }
        Ok(())
    }
}
