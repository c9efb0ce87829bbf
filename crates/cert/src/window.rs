//! A bounded window over the packets of a stream, consumed from the front.

use crate::armor::{ArmorRules, BlockKind};
use crate::buffer::Buffer;
use crate::decompress::Decompressor;
use crate::error::{Error, Result};
use crate::packet::Header;
use crate::source::{Segment, Source};
use crate::unpack::Unpacked;
use std::io::Read;

/// The number of bytes that are read from the stream at a time.
const READ: usize = 256 << 10;

/// The part of a segment that is in memory.
#[derive(Debug)]
pub(crate) struct Window<R> {
    source: Unpacked<R>,
    /// The bytes that were read and not consumed yet.
    buffer: Buffer,
    /// The number of bytes that were consumed.
    taken: u64,
    at_end: bool,
    /// Whether an error that ends a segment comes behind the segment's bytes.
    defers_errors: bool,
    /// The error that ended this segment.
    deferred: Option<Error>,
}

impl<R: Read> Window<R> {
    pub(crate) fn new(reader: R, rules: ArmorRules) -> Self {
        let source = Unpacked::new(Source::new(reader, BlockKind::Keys, rules));
        let defers_errors = rules == ArmorRules::Rfc9580;
        Self { source, buffer: Buffer::default(), taken: 0, at_end: true, defers_errors, deferred: None }
    }

    /// Goes to the next segment, dropping the rest of this one; returns the error that ended this one, if it was deferred.
    pub(crate) fn next_segment(&mut self) -> Result<Segment> {
        self.take(self.buffer.len());
        if let Some(error) = self.deferred.take() {
            return Err(error);
        }
        let segment = self.source.next_segment()?;
        self.at_end = !matches!(segment, Segment::Packets | Segment::Remains);
        Ok(segment)
    }

    /// Returns the bytes in the window.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer
    }

    /// Returns the position in the stream of the byte at offset `at` of the window.
    pub(crate) fn position(&self, at: usize) -> u64 {
        self.source.position_of(self.taken + at as u64)
    }

    /// Returns the number of bytes that were consumed.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// Reads until `count` bytes are in the window, or to the end of the segment.
    ///
    /// An error ends the segment. For GnuPG it drops the bytes in the window; by RFC 9580 what is wrong with the armor is
    /// told after them.
    pub(crate) fn fill(&mut self, count: usize) -> Result<()> {
        while self.buffer.len() < count && !self.at_end {
            self.make_room(count);
            let room = self.buffer.size() - self.buffer.len();
            match self.buffer.write_with(room, |room| self.source.read(room)) {
                Ok(read) => self.at_end = read == 0,
                Err(error @ Error::Malformed { .. }) if self.defers_errors => {
                    self.at_end = true;
                    self.deferred = Some(error);
                }
                Err(error) => {
                    self.at_end = true;
                    self.take(self.buffer.len());
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Replaces the compressed packet whose header is at offset `at` by its content.
    pub(crate) fn unpack(&mut self, at: usize, header: Header, decompressor: Decompressor) {
        let first = header.size + 1;
        self.source.begin_packet(header.length, decompressor, first, &self.buffer[at + first..]);
        self.buffer.truncate(at);
        self.at_end = false;
    }

    /// Returns whether the stream may be decompressed further.
    pub(crate) fn may_unpack(&self) -> bool {
        self.source.may_unpack()
    }

    /// Returns whether bytes from offset `at` on come from a compressed packet, or from both sides of one.
    pub(crate) fn is_unpacked_from(&self, at: usize) -> bool {
        self.source.is_unpacked_from(self.taken + at as u64)
    }

    /// Consumes bytes from the front.
    pub(crate) fn take(&mut self, count: usize) {
        self.buffer.consume(count);
        self.taken += count as u64;
    }

    /// Makes room for `count` bytes and a read of a reasonable size.
    fn make_room(&mut self, count: usize) {
        self.source.forget_before(self.taken);
        let wanted = count.max(self.buffer.len() + READ / 2).next_multiple_of(READ);
        if !(wanted..=4 * wanted).contains(&self.buffer.size()) {
            self.buffer.resize(wanted);
        }
    }
}
