//! A stream's packets with the content of compressed packets in their place, as GnuPG reads a keyring.

use crate::decompress::{Decompressor, Step};
use crate::error::{Error, Flaw, Result};
use crate::packet::Length;
use crate::packet_body::{Body, PushbackReader};
use crate::source::{Segment, Source};
use std::collections::VecDeque;
use std::io::Read;
use verify::limits;

/// What is wrong once a stream has unpacked to more than it may.
pub(crate) const TOO_MUCH: Flaw = Flaw::Compressed("more data than the limit");

/// To begin with a packet costs as much as this many bytes that come out.
const BEGINNING: u64 = 16 << 10;

/// What a stream's packets unpack to, in segments.
#[derive(Debug)]
pub(crate) struct Unpacked<R> {
    raw: PushbackReader<R>,
    packet: Option<Compressed>,
    /// How many bytes were handed out.
    handed_out: u64,
    /// What is handed out and not forgotten, by where it stands in the stream.
    stretches: VecDeque<UnpackedRange>,
    /// Over all compressed packets: bytes that went in and that came out.
    consumed: u64,
    produced: u64,
}

/// A compressed packet being unpacked.
#[derive(Debug)]
struct Compressed {
    position: u64,
    body: Body,
    /// `None` once all data came out.
    decompressor: Option<Decompressor>,
}

/// Bytes handed out from `byte` on.
#[derive(Clone, Copy, Debug)]
struct UnpackedRange {
    byte: u64,
    place: UnpackState,
}

#[derive(Clone, Copy, Debug)]
enum UnpackState {
    /// The source's bytes from this one on.
    Plain(u64),
    /// In the compressed packet at this position of the stream.
    Inside(u64),
}

impl<R: Read> Unpacked<R> {
    pub(crate) fn new(source: Source<R>) -> Self {
        let stretches = VecDeque::from([UnpackedRange { byte: 0, place: UnpackState::Plain(0) }]);
        Self {
            raw: PushbackReader::new(source),
            packet: None,
            handed_out: 0,
            stretches,
            consumed: 0,
            produced: 0,
        }
    }

    /// Goes to the next segment; the one before must be read to its end. What follows a compressed packet that cannot be
    /// unpacked is a segment of its own.
    pub(crate) fn next_segment(&mut self) -> Result<Segment> {
        let Some(mut packet) = self.packet.take() else {
            return self.raw.source.next_segment();
        };
        let skipped = packet.body.skip(&mut self.raw);
        self.end_packet();
        skipped?;
        Ok(if packet.body == Body::Open { Segment::Remains } else { Segment::Packets })
    }

    /// Reads bytes of packets; none at the segment's end.
    ///
    /// # Errors
    ///
    /// What the stream says, an error of the armored block that ends here, or what is wrong with a compressed packet: it
    /// ends the segment.
    pub(crate) fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        let mut read = self.unpack(out)?;
        if read == 0 {
            read = self.raw.read(out)?;
        }
        self.handed_out += read as u64;
        Ok(read)
    }

    /// Puts what a compressed packet unpacks to in its place.
    ///
    /// Of the packet, `first` bytes were handed out, and after them `rest`: the header and the byte that names the
    /// algorithm, and what follows.
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
        self.produced += BEGINNING;
        let body = Body::after_first_byte(length);
        self.packet = Some(Compressed { position, body, decompressor: Some(decompressor) });
        self.begin_stretch(UnpackState::Inside(position));
    }

    /// Says whether the stream may unpack to more.
    pub(crate) fn may_unpack(&self) -> bool {
        !is_too_much(self.consumed, self.produced)
    }

    /// Says whether a byte came out of a compressed packet.
    pub(crate) fn is_unpacked(&self, byte: u64) -> bool {
        matches!(self.stretch_of(byte).place, UnpackState::Inside(_))
    }

    /// Returns where in the stream a byte stands: inside a compressed packet, where that one stands.
    pub(crate) fn position_of(&self, byte: u64) -> u64 {
        let stretch = self.stretch_of(byte);
        match stretch.place {
            UnpackState::Plain(raw) => self.raw.source.position_of(raw + (byte - stretch.byte)),
            UnpackState::Inside(position) => position,
        }
    }

    /// Forgets where the bytes before this one stand.
    pub(crate) fn forget_before(&mut self, byte: u64) {
        while self.stretches.get(1).is_some_and(|second| second.byte <= byte) {
            self.stretches.pop_front();
        }
        let raw = match (self.stretches[0].place, self.stretches.get(1)) {
            (UnpackState::Plain(raw), _) => raw + (byte - self.stretches[0].byte),
            (UnpackState::Inside(_), Some(UnpackedRange { place: UnpackState::Plain(raw), .. })) => *raw,
            (UnpackState::Inside(_), _) => self.raw.passed(),
        };
        self.raw.source.forget_before(raw);
    }

    fn stretch_of(&self, byte: u64) -> UnpackedRange {
        let after = self.stretches.partition_point(|stretch| stretch.byte <= byte);
        self.stretches[after.saturating_sub(1)]
    }

    fn begin_stretch(&mut self, place: UnpackState) {
        let byte = self.handed_out;
        while self.stretches.back().is_some_and(|last| last.byte >= byte) {
            self.stretches.pop_back();
        }
        self.stretches.push_back(UnpackedRange { byte, place });
    }

    /// Unpacks the next bytes of the compressed packet; none if there is no packet, or no more.
    fn unpack(&mut self, out: &mut [u8]) -> Result<usize> {
        let Some(packet) = &mut self.packet else { return Ok(0) };
        while let Some(step) = packet.step(&mut self.raw, out)? {
            self.consumed += step.consumed as u64;
            self.produced += step.produced as u64;
            if is_too_much(self.consumed, self.produced) {
                return Err(packet.malformed(TOO_MUCH));
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
        self.begin_stretch(UnpackState::Plain(self.raw.passed()));
    }
}

fn is_too_much(consumed: u64, produced: u64) -> bool {
    produced > limits::MAX_UNPACKED + limits::MAX_EXPANSION * consumed
}

impl Compressed {
    /// Unpacks some bytes; `None` past the packet's end.
    fn step<R: Read>(&mut self, raw: &mut PushbackReader<R>, out: &mut [u8]) -> Result<Option<Step>> {
        let Some(decompressor) = &mut self.decompressor else {
            // Bytes after the data are passed over, as in GnuPG; without a length the packet ends where its data end.
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
