//! A bounded window over a stream's packets, from which bytes are taken at the front.

use crate::armor::BlockKind;
use crate::buffer::Buffer;
use crate::decompress::Decompressor;
use crate::error::Result;
use crate::packet::Header;
use crate::source::{Segment, Source};
use crate::unpack::Unpacked;
use std::io::Read;

/// How much is asked of the stream at a time.
const READ: usize = 256 << 10;

/// The part of a segment that is in memory.
#[derive(Debug)]
pub(crate) struct Window<R> {
    source: Unpacked<R>,
    /// What is in memory and not taken yet.
    buffer: Buffer,
    /// How many bytes of packets were taken.
    taken: u64,
    at_end: bool,
}

impl<R: Read> Window<R> {
    pub(crate) fn new(reader: R) -> Self {
        let source = Unpacked::new(Source::new(reader, BlockKind::Keys));
        Self { source, buffer: Buffer::default(), taken: 0, at_end: true }
    }

    /// Goes to the next segment, giving up what is left of this one in memory.
    pub(crate) fn next_segment(&mut self) -> Result<Segment> {
        self.take(self.buffer.len());
        let segment = self.source.next_segment()?;
        self.at_end = !matches!(segment, Segment::Packets | Segment::Remains);
        Ok(segment)
    }

    /// What is in memory.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer
    }

    /// Returns the offset in the stream of what stands `at` bytes after the window's front.
    pub(crate) fn position(&self, at: usize) -> u64 {
        self.source.position_of(self.taken + at as u64)
    }

    /// Returns how many bytes of packets were taken.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// Reads until `count` bytes are in memory, or all there are.
    ///
    /// An error ends the segment, and what of it is in memory is given up.
    pub(crate) fn fill(&mut self, count: usize) -> Result<()> {
        while self.buffer.len() < count && !self.at_end {
            self.make_room(count);
            let room = self.buffer.size() - self.buffer.len();
            match self.buffer.write_with(room, |room| self.source.read(room)) {
                Ok(read) => self.at_end = read == 0,
                Err(error) => {
                    self.at_end = true;
                    self.take(self.buffer.len());
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Puts what the compressed packet unpacks to whose header stands `at` bytes after the front in its place.
    pub(crate) fn unpack(&mut self, at: usize, header: Header, decompressor: Decompressor) {
        let first = header.size + 1;
        self.source.begin_packet(header.length, decompressor, first, &self.buffer[at + first..]);
        self.buffer.truncate(at);
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
        self.buffer.consume(count);
        self.taken += count as u64;
    }

    /// Makes sure that `count` bytes fit and a read is worth its call.
    fn make_room(&mut self, count: usize) {
        self.source.forget_before(self.taken);
        let wanted = count.max(self.buffer.len() + READ / 2).next_multiple_of(READ);
        if !(wanted..=4 * wanted).contains(&self.buffer.size()) {
            self.buffer.resize(wanted);
        }
    }
}
