//! The body of a packet too long for memory, octet after octet, whatever its length looks like (RFC 9580, 4.2).

use crate::error::Result;
use crate::packet::{Length, MAX_HEADER, new_length};
use crate::source::Source;
use std::io::Read;
use zeroize::Zeroize;

/// How many octets are held at a time.
const HELD: usize = 64 << 10;
/// How many held octets are handed out at a time: what follows a small packet may be given back again.
const STEP: usize = 16 << 10;

/// A source of which octets can be looked at, and given back.
#[derive(Debug)]
pub(crate) struct Raw<R> {
    pub(crate) source: Source<R>,
    /// Octets of the source, those before `at` handed out.
    held: Vec<u8>,
    at: usize,
    /// How many octets of the source were handed out.
    passed: u64,
}

impl<R> Raw<R> {
    pub(crate) fn wipe(&mut self) {
        self.held.zeroize();
        self.source.wipe();
    }
}

impl<R: Read> Raw<R> {
    pub(crate) fn new(source: Source<R>) -> Self {
        Self { source, held: Vec::new(), at: 0, passed: 0 }
    }

    pub(crate) fn passed(&self) -> u64 {
        self.passed
    }

    /// Reads octets; none at the segment's end.
    pub(crate) fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        let held = &self.held[self.at..];
        let count = if held.is_empty() {
            self.held.clear();
            self.at = 0;
            self.source.read(out)?
        } else {
            let count = held.len().min(out.len()).min(STEP);
            out[..count].copy_from_slice(&held[..count]);
            self.at += count;
            count
        };
        self.passed += count as u64;
        Ok(count)
    }

    /// Takes octets back that were read last.
    pub(crate) fn give_back(&mut self, octets: &[u8]) {
        self.passed -= octets.len() as u64;
        if octets.len() <= self.at {
            self.at -= octets.len();
        } else {
            // Were it to grow in place, it would leave copies of secret keys in memory.
            let mut held = Vec::with_capacity(HELD.max(octets.len() + self.held.len() - self.at));
            held.extend_from_slice(octets);
            held.extend_from_slice(&self.held[self.at..]);
            self.held.zeroize();
            (self.held, self.at) = (held, 0);
        }
    }

    /// Returns the next octets, at least `count` unless the segment ends, and leaves them there.
    fn peek(&mut self, count: usize) -> Result<&[u8]> {
        while self.held.len() - self.at < count {
            self.held.drain(..self.at);
            self.at = 0;
            let length = self.held.len();
            self.held.resize(HELD, 0);
            let read = self.source.read(&mut self.held[length..]);
            self.held.truncate(length + read.as_ref().map_or(0, |&read| read));
            if read? == 0 {
                break;
            }
        }
        Ok(&self.held[self.at..])
    }

    fn take(&mut self, count: usize) {
        self.at += count;
        self.passed += count as u64;
    }
}

/// What of a body is not read yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    Definite(u64),
    /// So many octets of a part, then another length.
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

    /// Returns what is left after the first octet, of which there is one.
    pub(crate) fn after_first_octet(length: Length) -> Self {
        match Self::of(length) {
            Self::Definite(left) => Self::Definite(left - 1),
            Self::Parts(left) => Self::Parts(left - 1),
            Self::Open => Self::Open,
        }
    }

    /// Returns octets that come next, and leaves them there; none at the body's or the segment's end.
    pub(crate) fn peek<'a, R: Read>(&mut self, raw: &'a mut Raw<R>) -> Result<&'a [u8]> {
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

    /// Goes past octets that [`Body::peek`] returned.
    pub(crate) fn take<R: Read>(&mut self, raw: &mut Raw<R>, count: usize) {
        raw.take(count);
        if let Self::Definite(left) | Self::Parts(left) = self {
            *left -= count as u64;
        }
    }

    /// Goes to the body's end if it has one of its own.
    pub(crate) fn skip<R: Read>(&mut self, raw: &mut Raw<R>) -> Result<()> {
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
