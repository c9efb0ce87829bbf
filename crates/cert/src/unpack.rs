//! Replaces compressed packets of a stream by their content, as GnuPG reads a keyring.

use crate::decompress::{Decompressor, Step};
use crate::error::{Error, Flaw, Result};
use crate::packet::Length;
use crate::packet_body::{Body, PushbackReader};
use crate::source::{Segment, Source};
use std::collections::VecDeque;
use std::io::Read;
use verify::limits;

/// The flaw of a stream that decompresses to more than the limit.
pub(crate) const LIMIT_EXCEEDED: Flaw = Flaw::Compressed("more data than the limit");

/// The number of decompressed bytes that beginning a packet counts as.
const PACKET_COST: u64 = 16 << 10;

/// The decompressed packets of a stream, in segments.
#[derive(Debug)]
pub(crate) struct Unpacked<R> {
    raw: PushbackReader<R>,
    packet: Option<Compressed>,
    /// The number of bytes that were returned.
    handed_out: u64,
    /// The ranges of the returned bytes that were not forgotten, with their positions in the stream.
    ranges: VecDeque<UnpackedRange>,
    /// The compressed and the decompressed bytes of all compressed packets.
    consumed: u64,
    produced: u64,
}

/// A compressed packet that is decompressed.
#[derive(Debug)]
struct Compressed {
    position: u64,
    body: Body,
    /// `None` after the end of the data.
    decompressor: Option<Decompressor>,
}

/// A range of returned bytes, from `byte` on.
#[derive(Clone, Copy, Debug)]
struct UnpackedRange {
    byte: u64,
    state: UnpackState,
}

#[derive(Clone, Copy, Debug)]
enum UnpackState {
    /// Bytes of the source, from this one on.
    Plain(u64),
    /// From the compressed packet at this position of the stream.
    Inside(u64),
}

impl<R: Read> Unpacked<R> {
    pub(crate) fn new(source: Source<R>) -> Self {
        let ranges = VecDeque::from([UnpackedRange { byte: 0, state: UnpackState::Plain(0) }]);
        Self {
            raw: PushbackReader::new(source),
            packet: None,
            handed_out: 0,
            ranges,
            consumed: 0,
            produced: 0,
        }
    }

    /// Goes to the next segment; the current one must have been read to its end. The bytes after a compressed packet
    /// that cannot be decompressed are a segment of their own.
    pub(crate) fn next_segment(&mut self) -> Result<Segment> {
        let Some(mut packet) = self.packet.take() else {
            return self.raw.source.next_segment();
        };
        let skipped = packet.body.skip(&mut self.raw);
        self.end_packet();
        skipped?;
        Ok(if packet.body == Body::Open { Segment::Remains } else { Segment::Packets })
    }

    /// Reads bytes of packets; none at the end of the segment.
    ///
    /// # Errors
    ///
    /// Those of the stream, of the armored block that ends here, and of a compressed packet, which ends the segment.
    pub(crate) fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        let mut read = self.unpack(out)?;
        if read == 0 {
            read = self.raw.read(out)?;
        }
        self.handed_out += read as u64;
        Ok(read)
    }

    /// Replaces a compressed packet by its content.
    ///
    /// `first` bytes of the packet were returned, the header and the algorithm, and then `rest`; none of them comes
    /// from another compressed packet ([`Unpacked::is_unpacked_from`]).
    pub(crate) fn begin_packet(
        &mut self,
        length: Length,
        decompressor: Decompressor,
        first: usize,
        rest: &[u8],
    ) {
        self.handed_out -= (first + rest.len()) as u64;
        let position = self.position_of(self.handed_out);
        self.raw.give_back(rest);
        self.produced += PACKET_COST;
        let body = Body::after_first_byte(length);
        self.packet = Some(Compressed { position, body, decompressor: Some(decompressor) });
        self.begin_range(UnpackState::Inside(position));
    }

    /// Returns whether the stream may be decompressed further.
    pub(crate) fn may_unpack(&self) -> bool {
        !is_too_much(self.consumed, self.produced)
    }

    /// Returns whether bytes from this one on come from a compressed packet, or from both sides of one.
    pub(crate) fn is_unpacked_from(&self, byte: u64) -> bool {
        let last = self.ranges.back();
        !last.is_some_and(|last| last.byte <= byte && matches!(last.state, UnpackState::Plain(_)))
    }

    /// Returns the position of a byte in the stream; inside of a compressed packet, the position of that packet.
    pub(crate) fn position_of(&self, byte: u64) -> u64 {
        let range = self.range_of(byte);
        match range.state {
            UnpackState::Plain(raw) => self.raw.source.position_of(raw + (byte - range.byte)),
            UnpackState::Inside(position) => position,
        }
    }

    /// Forgets the positions of the bytes before this one.
    pub(crate) fn forget_before(&mut self, byte: u64) {
        while self.ranges.get(1).is_some_and(|second| second.byte <= byte) {
            self.ranges.pop_front();
        }
        let raw = match (self.ranges[0].state, self.ranges.get(1)) {
            (UnpackState::Plain(raw), _) => raw + (byte - self.ranges[0].byte),
            (UnpackState::Inside(_), Some(UnpackedRange { state: UnpackState::Plain(raw), .. })) => *raw,
            (UnpackState::Inside(_), _) => self.raw.passed(),
        };
        self.raw.source.forget_before(raw);
    }

    fn range_of(&self, byte: u64) -> UnpackedRange {
        let after = self.ranges.partition_point(|range| range.byte <= byte);
        self.ranges[after.saturating_sub(1)]
    }

    fn begin_range(&mut self, state: UnpackState) {
        let byte = self.handed_out;
        while self.ranges.back().is_some_and(|last| last.byte >= byte) {
            self.ranges.pop_back();
        }
        self.ranges.push_back(UnpackedRange { byte, state });
    }

    /// Decompresses the next bytes of the compressed packet; none at its end, or if there is none.
    fn unpack(&mut self, out: &mut [u8]) -> Result<usize> {
        let Some(packet) = &mut self.packet else { return Ok(0) };
        while let Some(step) = packet.step(&mut self.raw, out)? {
            self.consumed += step.consumed as u64;
            self.produced += step.produced as u64;
            if is_too_much(self.consumed, self.produced) {
                return Err(packet.malformed(LIMIT_EXCEEDED));
            }
            if step.produced > 0 {
                return Ok(step.produced);
            }
        }
        self.packet = None;
        self.end_packet();
        Ok(0)
    }

    fn end_packet(&mut self) {
        self.begin_range(UnpackState::Plain(self.raw.passed()));
    }
}

fn is_too_much(consumed: u64, produced: u64) -> bool {
    produced > limits::MAX_UNPACKED + limits::MAX_EXPANSION * consumed
}

impl Compressed {
    /// Decompresses some bytes; `None` after the end of the packet.
    fn step<R: Read>(&mut self, raw: &mut PushbackReader<R>, out: &mut [u8]) -> Result<Option<Step>> {
        let Some(decompressor) = &mut self.decompressor else {
            // Bytes after the data are skipped, as in GnuPG; a packet without a length ends with its data.
            self.body.skip(raw)?;
            return Ok(None);
        };
        let input = self.body.peek(raw)?;
        let is_end = input.is_empty();
        let step = decompressor.step(input, out).map_err(|flaw| self.malformed(flaw))?;
        self.body.take(raw, step.consumed);
        if step.is_last {
            self.decompressor = None;
        } else if is_end && step.produced == 0 {
            return Err(self.malformed(Flaw::CutShort("a compressed packet")));
        } else if step.consumed == 0 && step.produced == 0 {
            return Err(self.malformed(Flaw::Compressed("damaged data")));
        }
        Ok(Some(step))
    }

    fn malformed(&self, flaw: Flaw) -> Error {
        Error::Malformed { position: self.position, flaw }
    }
}
