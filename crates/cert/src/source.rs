//! A stream that is either packets or text with armored blocks: its packets, in segments.

use crate::armor::{self, Decoder, End, Kind, TextLine};
use crate::error::{Error, Flaw, Result};
use crate::lines::Lines;
use crate::packet::{Fault, Header, Length, Tag};
use std::collections::VecDeque;
use std::io::Read;
use std::mem;
use std::ops::ControlFlow;
use zeroize::Zeroize;

/// How many octets are decoded ahead.
const AHEAD: usize = 64 << 10;

/// What comes next in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    /// Packets: the whole stream, or one armored block.
    Packets,
    /// What may be packets, from somewhere in their midst on.
    Remains,
    /// An armored block of something else, which is passed over, and the offset of its first line.
    Foreign(u64),
    /// Nothing.
    End,
}

/// A stream's packets.
#[derive(Debug)]
pub(crate) struct Source<R> {
    lines: Lines<R>,
    wanted: Kind,
    form: Form,
    decoded: Vec<u8>,
    handed_out: usize,
    /// How many octets of packets the stream held before `decoded`.
    before: u64,
    anchors: VecDeque<Anchor>,
}

#[derive(Debug)]
enum Form {
    Unknown,
    Binary,
    /// Text outside of any block.
    Text,
    /// In the data of a block.
    Block(Decoder),
    /// After a block of which not everything is handed out yet; also the offset of its last line.
    Ended(End, u64),
}

/// Where a line's first octet of packets stands in the stream.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    octet: u64,
    position: u64,
}

impl<R> Source<R> {
    /// Overwrites what went through memory; nothing can be read any more.
    pub(crate) fn wipe(&mut self) {
        self.decoded.zeroize();
        self.lines.wipe();
    }
}

impl<R: Read> Source<R> {
    pub(crate) fn new(reader: R, wanted: Kind) -> Self {
        Self {
            lines: Lines::new(reader),
            wanted,
            form: Form::Unknown,
            decoded: Vec::new(),
            handed_out: 0,
            before: 0,
            anchors: VecDeque::new(),
        }
    }

    /// Goes to the next segment; the one before must be read to its end.
    pub(crate) fn next_segment(&mut self) -> Result<Segment> {
        match self.form {
            Form::Unknown if begins_packets(self.lines.peek_octets()?) => {
                self.form = Form::Binary;
                Ok(Segment::Packets)
            }
            Form::Unknown | Form::Text => self.find_block(),
            Form::Binary | Form::Block(_) | Form::Ended(..) => Ok(Segment::End),
        }
    }

    /// Reads octets of packets; none at the segment's end.
    ///
    /// # Errors
    ///
    /// What the stream says, or an error of the block that ends here.
    pub(crate) fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        if matches!(self.form, Form::Binary) {
            return self.lines.read(out);
        }
        self.decode_ahead()?;
        let held = &self.decoded[self.handed_out..];
        let count = held.len().min(out.len());
        out[..count].copy_from_slice(&held[..count]);
        self.handed_out += count;
        if count == 0
            && let Form::Ended(end, position) = mem::replace(&mut self.form, Form::Text)
        {
            end.map_err(|flaw| Error::Malformed { position, flaw })?;
        }
        Ok(count)
    }

    /// Returns how far the stream was read.
    pub(crate) fn position(&self) -> u64 {
        self.lines.position()
    }

    /// Returns where in the stream an octet of packets stands.
    pub(crate) fn position_of(&self, octet: u64) -> u64 {
        let after = self.anchors.partition_point(|anchor| anchor.octet <= octet);
        match self.anchors.get(after.saturating_sub(1)) {
            // Four characters stand for three octets.
            Some(anchor) => anchor.position + octet.saturating_sub(anchor.octet) * 4 / 3,
            None => octet,
        }
    }

    /// Forgets where the octets before this one stand.
    pub(crate) fn forget_before(&mut self, octet: u64) {
        while self.anchors.get(1).is_some_and(|second| second.octet <= octet) {
            self.anchors.pop_front();
        }
    }

    fn find_block(&mut self) -> Result<Segment> {
        self.form = Form::Text;
        while let Some(line) = self.lines.peek()? {
            let position = line.position;
            let meaning =
                if line.begins { armor::text_line(line.text, self.wanted) } else { TextLine::Other };
            let length = line.text.len();
            self.lines.take(length);
            match meaning {
                TextLine::Other => {}
                TextLine::Foreign => return Ok(Segment::Foreign(position)),
                TextLine::Wanted => {
                    self.skip_headers()?;
                    self.form = Form::Block(Decoder::default());
                    return Ok(Segment::Packets);
                }
            }
        }
        Ok(Segment::End)
    }

    /// Goes past a block's headers and the empty line after them; data may begin without one.
    fn skip_headers(&mut self) -> Result<()> {
        while let Some(line) = self.lines.peek()? {
            let is_empty = line.text.trim_ascii_end().is_empty();
            if !is_empty && !armor::is_header(line.text) {
                break;
            }
            let length = line.text.len();
            self.lines.take(length);
            if is_empty {
                break;
            }
        }
        Ok(())
    }

    /// Decodes some lines if everything decoded is handed out.
    fn decode_ahead(&mut self) -> Result<()> {
        if self.handed_out < self.decoded.len() {
            return Ok(());
        }
        self.before += self.decoded.len() as u64;
        self.decoded.clear();
        // Were it to grow, it would leave copies of secret keys in memory: lines are no longer than that.
        self.decoded.reserve(2 * AHEAD);
        self.handed_out = 0;
        while let Form::Block(decoder) = &mut self.form
            && self.decoded.len() < AHEAD
        {
            let Some(line) = self.lines.peek()? else {
                let mut end = decoder.end(&mut self.decoded);
                let has_data = self.before + self.decoded.len() as u64 > 0;
                // Of keys as much is taken as can be read.
                if has_data && self.wanted != Kind::Keys {
                    end = end.and(Err(Flaw::Armor("no last line")));
                }
                self.form = Form::Ended(end, self.lines.position());
                break;
            };
            let octet = self.before + self.decoded.len() as u64;
            self.anchors.push_back(Anchor { octet, position: line.position });
            let is_dashes = line.begins && armor::is_dashes(line.text);
            if let ControlFlow::Break(end) = decoder.line(line.text, line.begins, &mut self.decoded) {
                self.form = Form::Ended(end, line.position);
            }
            if !is_dashes {
                let length = line.text.len();
                self.lines.take(length);
            }
        }
        Ok(())
    }
}

/// Says whether a stream that begins with these octets is binary.
///
/// The rules are those of GnuPG's armor filter, but a key may have a partial length.
fn begins_packets(octets: &[u8]) -> bool {
    match Header::parse(octets) {
        Ok(Header { tag, length: Length::Definite(_), .. }) => tag.is_known(),
        Ok(Header { tag, .. }) => tag.belongs_to_messages() || tag.is_primary_key(),
        // A length of more octets than were looked at.
        Err(Fault::Short) => octets.first().is_some_and(|&first| Tag::of(first).is_some_and(Tag::is_known)),
        Err(Fault::NotAPacket) => false,
    }
}
