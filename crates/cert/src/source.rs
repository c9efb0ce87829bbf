//! Reads the packets of a stream, which is binary or text with armored blocks, in segments.

use crate::armor::{self, ArmorRules, BlockEnd, BlockKind, Decoder, TextLine};
use crate::buffer::Buffer;
use crate::error::{Error, Flaw, Result};
use crate::lines::Lines;
use crate::packet::{FIRST_NOT_CRITICAL, Fault, Header, Length, Tag};
use std::collections::VecDeque;
use std::io::Read;
use std::mem;
use std::ops::ControlFlow;

/// The number of bytes that are decoded ahead.
const DECODED_AHEAD: usize = 64 << 10;

/// The kind of the next segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    /// Packets: the whole stream, or one armored block.
    Packets,
    /// Bytes that may be packets, beginning anywhere.
    Remains,
    /// An armored block of another kind, which is skipped; the offset of its first line.
    Foreign(u64),
    /// The end.
    End,
}

/// The packets of a stream.
#[derive(Debug)]
pub(crate) struct Source<R> {
    lines: Lines<R>,
    wanted: BlockKind,
    rules: ArmorRules,
    form: InputForm,
    /// The decoded bytes that were not returned yet.
    decoded: Buffer,
    /// The number of bytes of packets that were returned.
    before: u64,
    anchors: VecDeque<Anchor>,
    /// Whether there was text outside of blocks.
    passed_text: bool,
}

#[derive(Debug)]
enum InputForm {
    Unknown,
    Binary,
    /// In text outside of blocks.
    Text,
    /// In the data of a block.
    Block(Decoder),
    /// After a block whose bytes were not all returned yet; the offset of its last line.
    Ended(BlockEnd, u64),
}

/// The position in the stream of the first byte of packets of a line.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    byte: u64,
    position: u64,
}

impl<R: Read> Source<R> {
    pub(crate) fn new(reader: R, wanted: BlockKind, rules: ArmorRules) -> Self {
        Self {
            lines: Lines::new(reader),
            wanted,
            rules,
            form: InputForm::Unknown,
            decoded: Buffer::default(),
            before: 0,
            anchors: VecDeque::new(),
            passed_text: false,
        }
    }

    /// Follows other rules.
    pub(crate) fn follow(&mut self, rules: ArmorRules) {
        self.rules = rules;
    }

    /// Goes to the next segment; the current one must have been read to its end.
    pub(crate) fn next_segment(&mut self) -> Result<Segment> {
        match self.form {
            InputForm::Unknown if begins_packets(self.lines.peek_bytes()?, self.rules) => {
                self.form = InputForm::Binary;
                Ok(Segment::Packets)
            }
            InputForm::Unknown | InputForm::Text => self.find_block(),
            InputForm::Binary | InputForm::Block(_) | InputForm::Ended(..) => Ok(Segment::End),
        }
    }

    /// Reads bytes of packets; none at the end of the segment.
    ///
    /// # Errors
    ///
    /// Those of the stream, and of the block that ends here.
    pub(crate) fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        if matches!(self.form, InputForm::Binary) {
            return self.lines.read(out);
        }
        self.decode_ahead()?;
        let count = self.decoded.len().min(out.len());
        out[..count].copy_from_slice(&self.decoded[..count]);
        self.decoded.consume(count);
        self.before += count as u64;
        if count == 0
            && let InputForm::Ended(end, position) = mem::replace(&mut self.form, InputForm::Text)
        {
            end.map_err(|flaw| Error::Malformed { position, flaw })?;
        }
        Ok(count)
    }

    /// Returns whether there was text outside of the blocks that were read so far.
    pub(crate) fn passed_text(&self) -> bool {
        self.passed_text
    }

    /// Returns the position in the stream.
    pub(crate) fn position(&self) -> u64 {
        self.lines.position()
    }

    /// Returns the position of a byte of packets in the stream.
    pub(crate) fn position_of(&self, byte: u64) -> u64 {
        let after = self.anchors.partition_point(|anchor| anchor.byte <= byte);
        match self.anchors.get(after.saturating_sub(1)) {
            // Four characters stand for three bytes.
            Some(anchor) => anchor.position + byte.saturating_sub(anchor.byte) * 4 / 3,
            None => byte,
        }
    }

    /// Forgets the positions of the bytes before this one.
    pub(crate) fn forget_before(&mut self, byte: u64) {
        while self.anchors.get(1).is_some_and(|second| second.byte <= byte) {
            self.anchors.pop_front();
        }
    }

    fn find_block(&mut self) -> Result<Segment> {
        self.form = InputForm::Text;
        while let Some(line) = self.lines.peek()? {
            let position = line.position;
            let meaning = if line.begins {
                armor::text_line(line.text, self.wanted, self.rules)
            } else {
                TextLine::Other
            };
            let is_text = meaning == TextLine::Other && armor::is_text(line.text);
            let length = line.text.len();
            self.lines.take(length);
            self.passed_text |= is_text;
            match meaning {
                TextLine::Other => {}
                TextLine::Foreign => return Ok(Segment::Foreign(position)),
                TextLine::Wanted => {
                    if !self.skip_headers()? && self.rules == ArmorRules::Rfc9580 {
                        let flaw = Flaw::Armor("no empty line before the data");
                        return Err(Error::Malformed { position: self.lines.position(), flaw });
                    }
                    self.form = InputForm::Block(Decoder::new(self.rules));
                    return Ok(Segment::Packets);
                }
            }
        }
        Ok(Segment::End)
    }

    /// Skips the headers of a block and the empty line after them; returns whether there is one.
    fn skip_headers(&mut self) -> Result<bool> {
        while let Some(line) = self.lines.peek()? {
            let is_empty = armor::is_blank(line.text, self.rules);
            if !is_empty && !armor::is_header(line.text) {
                break;
            }
            let length = line.text.len();
            self.lines.take(length);
            if is_empty {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Decodes some lines if all decoded bytes were returned.
    fn decode_ahead(&mut self) -> Result<()> {
        if !self.decoded.is_empty() {
            return Ok(());
        }
        // Lines are no longer than that.
        self.decoded.reserve(2 * DECODED_AHEAD);
        while let InputForm::Block(decoder) = &mut self.form
            && self.decoded.len() < DECODED_AHEAD
        {
            let Some(line) = self.lines.peek()? else {
                let mut end = decoder.end(&mut self.decoded);
                let has_data = self.before + self.decoded.len() as u64 > 0;
                // For GnuPG, keys are read as far as possible.
                let must_end = self.wanted != BlockKind::Keys || self.rules == ArmorRules::Rfc9580;
                if has_data && must_end {
                    end = end.and(Err(Flaw::Armor("no last line")));
                }
                self.form = InputForm::Ended(end, self.lines.position());
                break;
            };
            let byte = self.before + self.decoded.len() as u64;
            self.anchors.push_back(Anchor { byte, position: line.position });
            let is_dashes = line.begins && armor::is_dashes(line.text);
            if let ControlFlow::Break(end) = decoder.line(line.text, line.begins, &mut self.decoded) {
                self.form = InputForm::Ended(end, line.position);
            }
            if !is_dashes {
                let length = line.text.len();
                self.lines.take(length);
            }
        }
        Ok(())
    }
}

/// Returns whether a stream that begins with these bytes is binary.
///
/// The rules are those of GnuPG's armor filter, but a key may have a partial length. By RFC 9580 (4.3) a stream may begin
/// with a packet that is ignored since its type is not known.
fn begins_packets(bytes: &[u8], rules: ArmorRules) -> bool {
    let is_ignored = |tag: Tag| rules == ArmorRules::Rfc9580 && tag.0 >= FIRST_NOT_CRITICAL;
    match Header::parse(bytes) {
        Ok(Header { tag, length: Length::Definite(_), .. }) => tag.is_known() || is_ignored(tag),
        Ok(Header { tag, .. }) => tag.belongs_to_messages() || tag.is_primary_key(),
        // A length of more bytes than were looked at.
        Err(Fault::Short) => bytes.first().is_some_and(|&first| Tag::of(first).is_some_and(Tag::is_known)),
        Err(Fault::NotAPacket) => false,
    }
}
