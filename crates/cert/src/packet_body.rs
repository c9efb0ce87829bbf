//! The body of a packet too long for memory, byte after byte, whatever its length looks like (RFC 9580, 4.2).

use crate::buffer::Buffer;
use crate::error::Result;
use crate::packet::{Length, MAX_HEADER, new_length};
use crate::source::Source;
use std::io::Read;

/// How many bytes are held at a time.
const HELD: usize = 64 << 10;
/// How many held bytes are handed out at a time: what follows a small packet may be given back again.
const STEP: usize = 16 << 10;

/// A source of which bytes can be looked at, and given back.
#[derive(Debug)]
pub(crate) struct PushbackReader<R> {
    pub(crate) source: Source<R>,
    /// Bytes of the source that were not handed out.
    held: Buffer,
    /// How many bytes of the source were handed out.
    passed: u64,
}

impl<R: Read> PushbackReader<R> {
    pub(crate) fn new(source: Source<R>) -> Self {
        Self { source, held: Buffer::default(), passed: 0 }
    }

    pub(crate) fn passed(&self) -> u64 {
        self.passed
    }

    /// Reads bytes; none at the segment's end.
    pub(crate) fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        let count = if self.held.is_empty() {
            self.source.read(out)?
        } else {
            let count = self.held.len().min(out.len()).min(STEP);
            out[..count].copy_from_slice(&self.held[..count]);
            self.held.consume(count);
            count
        };
        self.passed += count as u64;
        Ok(count)
    }

    /// Takes bytes back that were read last.
    pub(crate) fn give_back(&mut self, bytes: &[u8]) {
        self.passed -= bytes.len() as u64;
        self.held.prepend(bytes);
    }

    /// Returns the next bytes, at least `count` unless the segment ends, and leaves them there.
    fn peek(&mut self, count: usize) -> Result<&[u8]> {
        while self.held.len() < count {
            let room = HELD - self.held.len();
            if self.held.write_with(room, |room| self.source.read(room))? == 0 {
                break;
            }
        }
        Ok(&self.held)
    }

    fn take(&mut self, count: usize) {
        self.held.consume(count);
        self.passed += count as u64;
    }
}

/// What of a body is not read yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Definite(u64),
    /// So many bytes of a part, then another length.
    Parts(u64),
    /// To the stream's end, if nothing says otherwise.
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

    /// Returns what is left after the first byte, of which there is one.
    pub(crate) fn after_first_byte(length: Length) -> Self {
        match Self::of(length) {
            Self::Definite(left) => Self::Definite(left - 1),
            Self::Parts(left) => Self::Parts(left - 1),
            Self::Open => Self::Open,
        }
    }

    /// Returns bytes that come next, and leaves them there; none at the body's or the segment's end.
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
        let held = raw.peek(most.min(1))?;
        Ok(&held[..held.len().min(most)])
    }

    /// Goes past bytes that [`Body::peek`] returned.
    pub(crate) fn take<R: Read>(&mut self, raw: &mut PushbackReader<R>, count: usize) {
        raw.take(count);
        if let Self::Definite(left) | Self::Parts(left) = self {
            *left -= count as u64;
        }
    }

    /// Goes to the body's end if it has one of its own.
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
