//! A bounded window over a stream's packets, from which bytes are taken at the front.

use crate::armor::Kind;
use crate::decompress::Decompressor;
use crate::error::Result;
use crate::packet::Header;
use crate::source::{Segment, Source};
use crate::unpack::Unpacked;
use std::io::Read;
use std::mem;
use zeroize::Zeroize;

/// How much is asked of the stream at a time.
const READ: usize = 256 << 10;

/// The part of a segment that is in memory.
#[derive(Debug)]
pub(crate) struct Window<R> {
    source: Unpacked<R>,
    buffer: Vec<u8>,
    /// What is in memory and not taken yet.
    start: usize,
    end: usize,
    /// How many octets of packets were taken.
    taken: u64,
    at_end: bool,
    /// A secret key is or was in memory.
    holds_secrets: bool,
}

impl<R: Read> Window<R> {
    pub(crate) fn new(reader: R) -> Self {
        let source = Unpacked::new(Source::new(reader, Kind::Keys));
        Self { source, buffer: Vec::new(), start: 0, end: 0, taken: 0, at_end: true, holds_secrets: false }
    }

    /// From here on, wipes whatever memory the stream went through before it gives it back.
    pub(crate) fn hold_secrets(&mut self) {
        self.holds_secrets = true;
    }

    /// Goes to the next segment, giving up what is left of this one in memory.
    pub(crate) fn next_segment(&mut self) -> Result<Segment> {
        self.take(self.end - self.start);
        let segment = self.source.next_segment()?;
        self.at_end = !matches!(segment, Segment::Packets | Segment::Remains);
        Ok(segment)
    }

    /// What is in memory.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Returns the offset in the stream of what stands `at` bytes after the window's front.
    pub(crate) fn position(&self, at: usize) -> u64 {
        self.source.position_of(self.taken + at as u64)
    }

    /// Returns how many octets of packets were taken.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// Reads until `count` bytes are in memory, or all there are.
    ///
    /// An error ends the segment, and what of it is in memory is given up.
    pub(crate) fn fill(&mut self, count: usize) -> Result<()> {
        while self.end - self.start < count && !self.at_end {
            self.make_room(count);
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(read) => {
                    self.at_end = read == 0;
                    self.end += read;
                }
                Err(error) => {
                    self.at_end = true;
                    self.take(self.end - self.start);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Puts what the compressed packet unpacks to whose header stands `at` bytes after the front in its place.
    pub(crate) fn unpack(&mut self, at: usize, header: Header, decompressor: Decompressor) {
        let packet = self.start + at;
        let first = header.size + 1;
        let rest = &self.buffer[packet + first..self.end];
        self.source.begin_packet(header.length, decompressor, first, rest);
        self.end = packet;
        self.at_end = false;
    }

    /// Says whether the stream may unpack to more.
    pub(crate) fn may_unpack(&self) -> bool {
        self.source.may_unpack()
    }

    /// Says whether what stands `at` bytes after the front came out of a compressed packet.
    pub(crate) fn is_unpacked(&self, at: usize) -> bool {
        self.source.is_unpacked(self.taken + at as u64)
    }

    /// Takes bytes off the front.
    pub(crate) fn take(&mut self, count: usize) {
        debug_assert!(count <= self.end - self.start, "only what is in memory can be taken");
        self.start += count;
        self.taken += count as u64;
    }

    /// Moves what is left to the front, and makes sure that `count` bytes fit and a read is worth its call.
    fn make_room(&mut self, count: usize) {
        self.source.forget_before(self.taken);
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        let wanted = count.max(self.end + READ / 2).next_multiple_of(READ);
        if !(wanted..=4 * wanted).contains(&self.buffer.len()) {
            let mut buffer = vec![0; wanted];
            buffer[..self.end].copy_from_slice(&self.buffer[..self.end]);
            mem::swap(&mut self.buffer, &mut buffer);
            if self.holds_secrets {
                buffer.zeroize();
            }
        }
    }
}

impl<R> Drop for Window<R> {
    fn drop(&mut self) {
        if self.holds_secrets {
            self.buffer.zeroize();
            self.source.wipe();
        }
    }
}
