//! Finds the boundaries of packets in the window, with all kinds of lengths.

use crate::decompress::{self, Decompressor};
use crate::error::{Flaw, Result};
use crate::packet::{self, Fault, Header, Length, MAX_HEADER, Tag};
use crate::unpack;
use crate::window::Window;
use std::borrow::Cow;
use std::io::Read;
use std::ops::Range;
use verify::limits;

const CUT: Flaw = Flaw::CutShort("a packet");

/// A packet in the window.
#[derive(Debug)]
pub(crate) struct Framed<'a> {
    pub(crate) tag: Tag,
    /// The range in the window, including the header.
    pub(crate) range: Range<usize>,
    /// The body; owned if it was joined from the parts of partial lengths, which are not kept in certificates.
    pub(crate) body: Cow<'a, [u8]>,
    /// The whole window.
    pub(crate) window: &'a [u8],
}

impl Framed<'_> {
    /// Returns whether nothing, another certificate, or any packet that a certificate may have follows: then the length
    /// in the header is right, and what cannot be read inside is no damage.
    ///
    /// Since some of the packets that follow may be left out, each one that may stand behind them counts.
    pub(crate) fn is_followed_by_a_packet(&self) -> bool {
        let after = &self.window[self.range.end..];
        match Header::parse(after) {
            Ok(Header { tag, length: Length::Definite(_), .. }) => !tag.belongs_to_messages(),
            Ok(_) => false,
            Err(_) => after.is_empty(),
        }
    }

    /// Returns the packet with a definite length.
    pub(crate) fn to_definite(&self) -> Vec<u8> {
        match &self.body {
            Cow::Borrowed(_) => self.window[self.range.clone()].to_vec(),
            Cow::Owned(body) => packet::write(self.tag, body),
        }
    }
}

/// A packet, nothing at the end of the segment, or a flaw.
pub(crate) type Found<'a> = std::result::Result<Option<Framed<'a>>, Flaw>;

/// Reads the packet at offset `at` of the window; a compressed packet is replaced by its content.
pub(crate) fn frame<R: Read>(window: &mut Window<R>, at: usize) -> Result<Found<'_>> {
    loop {
        window.fill(at + MAX_HEADER)?;
        let rest = &window.bytes()[at..];
        if rest.is_empty() {
            return Ok(Ok(None));
        }
        let header = match Header::parse(rest) {
            Ok(header) => header,
            Err(Fault::Short) => return Ok(Err(CUT)),
            Err(Fault::NotAPacket) => return Ok(Err(Flaw::NotAPacket)),
        };
        if header.tag != Tag::COMPRESSED {
            return match header.length {
                Length::Definite(length) => complete_packet(window, at, header, length as usize),
                Length::Partial(_) => joined(window, at, header),
                Length::Open => Ok(Err(Flaw::OpenLength(header.tag.0))),
            };
        }
        if let Err(flaw) = replace(window, at, header)? {
            return Ok(Err(flaw));
        }
    }
}

/// Replaces a compressed packet by its content.
///
/// A compressed packet inside of another one is an error, since only attackers write that. So is one that is found when
/// the bytes before another one, whose content is in the window already, are searched again after damage.
fn replace<R: Read>(
    window: &mut Window<R>,
    at: usize,
    header: Header,
) -> Result<std::result::Result<(), Flaw>> {
    if window.is_unpacked_from(at) {
        return Ok(Err(Flaw::Compressed("another compressed packet")));
    }
    if !window.may_unpack() {
        return Ok(Err(unpack::LIMIT_EXCEEDED));
    }
    let body = at + header.size;
    window.fill(body + decompress::PROBE)?;
    let length = match header.length {
        Length::Definite(length) | Length::Partial(length) => length as usize,
        Length::Open => usize::MAX,
    };
    let first = &window.bytes()[body..];
    let begun = Decompressor::begin(&first[..first.len().min(length).min(decompress::PROBE)]);
    Ok(begun.map(|decompressor| window.unpack(at, header, decompressor)))
}

fn complete_packet<R: Read>(
    window: &mut Window<R>,
    at: usize,
    header: Header,
    length: usize,
) -> Result<Found<'_>> {
    if length > limits::MAX_PACKET {
        return Ok(Err(too_large(header.tag, length)));
    }
    let body = at + header.size;
    let end = body + length;
    // With what shows whether another packet follows.
    window.fill(end + MAX_HEADER)?;
    let window = window.bytes();
    let found = window
        .get(body..end)
        .map(|body| Some(Framed { tag: header.tag, range: at..end, body: Cow::Borrowed(body), window }));
    Ok(found.ok_or(CUT))
}

/// Joins the parts; the last one has a definite length (RFC 9580, 4.2.1.4).
fn joined<R: Read>(window: &mut Window<R>, at: usize, header: Header) -> Result<Found<'_>> {
    let mut joined = Vec::new();
    // Only the first byte of the header: each part begins with its length.
    let mut end = at + 1;
    loop {
        window.fill(end + MAX_HEADER)?;
        let (length, is_last, size) = match packet::new_length(&window.bytes()[end..]) {
            Ok((Length::Definite(length), size)) => (length as usize, true, size),
            Ok((Length::Partial(length), size)) => (length as usize, false, size),
            Ok((Length::Open, _)) | Err(_) => return Ok(Err(CUT)),
        };
        if joined.len() + length > limits::MAX_PACKET {
            return Ok(Err(too_large(header.tag, joined.len() + length)));
        }
        let part = end + size;
        end = part + length;
        window.fill(end)?;
        match window.bytes().get(part..end) {
            Some(part) => joined.extend_from_slice(part),
            None => return Ok(Err(CUT)),
        }
        if is_last {
            window.fill(end + MAX_HEADER)?;
            let (range, body) = (at..end, Cow::Owned(joined));
            return Ok(Ok(Some(Framed { tag: header.tag, range, body, window: window.bytes() })));
        }
    }
}

fn too_large(tag: Tag, length: usize) -> Flaw {
    Flaw::TooLarge { tag: tag.0, length: u32::try_from(length).unwrap_or(u32::MAX) }
}
