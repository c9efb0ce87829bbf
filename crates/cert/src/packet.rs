//! Packet headers, and iteration over packets without copying (RFC 9580, section 4).

use crate::error::Flaw;

/// A packet type (RFC 9580, 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag(pub u8);

/// The types of packets from this one on are not critical: where they are not known they are ignored (RFC 9580, 4.3).
pub(crate) const FIRST_NOT_CRITICAL: u8 = 40;

impl Tag {
    /// Signature.
    pub const SIGNATURE: Self = Self(2);
    /// Secret primary key.
    pub const SECRET_KEY: Self = Self(5);
    /// Public primary key.
    pub const PUBLIC_KEY: Self = Self(6);
    /// Secret subkey.
    pub const SECRET_SUBKEY: Self = Self(7);
    /// Compressed packets.
    pub const COMPRESSED: Self = Self(8);
    /// Marker, which is ignored.
    pub const MARKER: Self = Self(10);
    /// GnuPG's local trust values.
    pub const TRUST: Self = Self(12);
    /// User ID.
    pub const USER_ID: Self = Self(13);
    /// Public subkey.
    pub const PUBLIC_SUBKEY: Self = Self(14);
    /// User attribute.
    pub const ATTRIBUTE: Self = Self(17);
    /// Padding, which is ignored.
    pub const PADDING: Self = Self(21);

    /// Returns the type encoded in the first byte of a packet; `None` if the byte cannot begin a packet.
    pub fn of(first: u8) -> Option<Self> {
        match first {
            0xc0.. => Some(Self(first & 0x3f)),
            0x80.. => Some(Self((first >> 2) & 0xf)),
            _ => None,
        }
    }

    /// Returns whether OpenPGP or GnuPG defines the type.
    pub(crate) fn is_known(self) -> bool {
        matches!(self.0, 1..=14 | 16..=21 | 61 | 63)
    }

    /// Returns whether a certificate begins with it.
    pub fn is_primary_key(self) -> bool {
        matches!(self, Self::PUBLIC_KEY | Self::SECRET_KEY)
    }

    /// Returns whether it is a public or secret key, primary or not.
    pub fn is_key(self) -> bool {
        self.is_primary_key() || matches!(self, Self::PUBLIC_SUBKEY | Self::SECRET_SUBKEY)
    }

    /// Returns whether it is ignored and removed from certificates.
    pub fn is_ignored(self) -> bool {
        matches!(self, Self(0) | Self::MARKER | Self::TRUST | Self::PADDING)
    }

    /// Returns whether it occurs only in messages.
    pub(crate) fn belongs_to_messages(self) -> bool {
        matches!(self.0, 1 | 3 | 4 | 8 | 9 | 11 | 18..=20)
    }
}

/// The length of a packet's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// This number of bytes.
    Definite(u32),
    /// A first part of this number of bytes, followed by another length.
    Partial(u32),
    /// To the end of the stream.
    Open,
}

/// A packet's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The packet's type.
    pub tag: Tag,
    /// The length of its body.
    pub length: Length,
    /// The size of the header itself in bytes, 1 to 6.
    pub size: usize,
}

/// The size of the longest header: one byte of type, five of length.
pub(crate) const MAX_HEADER: usize = 6;

/// Why bytes are not the header of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// More bytes are needed.
    Short,
    /// The first byte cannot begin a packet.
    NotAPacket,
}

impl Header {
    /// Reads the header at the beginning of `bytes`.
    pub fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        let (&first, rest) = bytes.split_first().ok_or(Fault::Short)?;
        let tag = Tag::of(first).ok_or(Fault::NotAPacket)?;
        let (length, size) = if first >= 0xc0 { new_length(rest) } else { old_length(first & 3, rest) }?;
        Ok(Self { tag, length, size: 1 + size })
    }
}

/// Reads a length of the new format (RFC 9580, 4.2.1); also returns the number of its bytes.
pub(crate) fn new_length(bytes: &[u8]) -> Result<(Length, usize), Fault> {
    match *bytes {
        [one @ ..192, ..] => Ok((Length::Definite(u32::from(one)), 1)),
        [one @ 192..=223, two, ..] => {
            Ok((Length::Definite(((u32::from(one) - 192) << 8) + u32::from(two) + 192), 2))
        }
        [255, a, b, c, d, ..] => Ok((Length::Definite(u32::from_be_bytes([a, b, c, d])), 5)),
        [one @ 224..=254, ..] => Ok((Length::Partial(1 << (one & 0x1f)), 1)),
        _ => Err(Fault::Short),
    }
}

fn old_length(kind: u8, bytes: &[u8]) -> Result<(Length, usize), Fault> {
    match (kind, bytes) {
        (0, [a, ..]) => Ok((Length::Definite(u32::from(*a)), 1)),
        (1, [a, b, ..]) => Ok((Length::Definite(u32::from(u16::from_be_bytes([*a, *b]))), 2)),
        (2, [a, b, c, d, ..]) => Ok((Length::Definite(u32::from_be_bytes([*a, *b, *c, *d])), 4)),
        (3, _) => Ok((Length::Open, 0)),
        _ => Err(Fault::Short),
    }
}

/// Returns a packet with the shortest header.
pub fn write(tag: Tag, body: &[u8]) -> Vec<u8> {
    let mut packet = Vec::with_capacity(MAX_HEADER + body.len());
    write_header(&mut packet, tag, body.len() as u32);
    packet.extend_from_slice(body);
    packet
}

/// Returns a packet with the shortest header of the format that a first byte has.
pub(crate) fn write_like(first: u8, tag: Tag, body: &[u8]) -> Vec<u8> {
    if first < 0xc0 {
        return write(tag, body);
    }
    let mut packet = Vec::with_capacity(MAX_HEADER + body.len());
    packet.push(0xc0 | tag.0);
    write_new_length(&mut packet, body.len() as u32);
    packet.extend_from_slice(body);
    packet
}

/// Appends the shortest header, of the old format where the type allows it, as GnuPG does.
pub fn write_header(out: &mut Vec<u8>, tag: Tag, length: u32) {
    let [_, _, high, low] = length.to_be_bytes();
    match (tag.0, length) {
        (0..16, 0..0x100) => out.extend([0x80 | tag.0 << 2, low]),
        (0..16, 0x100..0x1_0000) => out.extend([0x81 | tag.0 << 2, high, low]),
        (0..16, _) => {
            out.push(0x82 | tag.0 << 2);
            out.extend(length.to_be_bytes());
        }
        _ => {
            out.push(0xc0 | tag.0);
            write_new_length(out, length);
        }
    }
}

/// Appends the shortest length of the new format (RFC 9580, 4.2.1).
pub fn write_new_length(out: &mut Vec<u8>, length: u32) {
    match length {
        0..192 => out.push(length as u8),
        192..8384 => {
            let rest = length - 192;
            out.extend([(rest >> 8) as u8 + 192, rest as u8]);
        }
        _ => {
            out.push(255);
            out.extend(length.to_be_bytes());
        }
    }
}

/// The range of a packet in the bytes of its certificate, including its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The offset of the first byte.
    pub start: u32,
    /// The offset after the last byte.
    pub end: u32,
}

impl Span {
    /// Returns the bytes of this range.
    ///
    /// # Panics
    ///
    /// If the range is outside of `bytes`.
    pub fn of(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start as usize..self.end as usize]
    }

    /// Returns this range counted from an earlier offset.
    ///
    /// # Panics
    ///
    /// If the range begins before `origin`.
    pub fn counted_from(self, origin: u32) -> Self {
        Self { start: self.start - origin, end: self.end - origin }
    }
}

/// A packet of a certificate's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The packet's type.
    pub tag: Tag,
    /// The range of the packet, including its header.
    pub span: Span,
    /// The body.
    pub body: &'a [u8],
}

impl<'a> Packet<'a> {
    /// Reads the packet at the beginning of `bytes`; `None` if it is malformed.
    pub(crate) fn first(bytes: &'a [u8]) -> Option<Self> {
        Packets::new(bytes).next()?.ok()
    }
}

/// Iterates over the packets of a certificate, all of which have a definite length.
///
/// Ends after the first error.
#[derive(Clone, Debug)]
pub struct Packets<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Packets<'a> {
    /// Iterates over the packets in `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }
}

impl<'a> Iterator for Packets<'a> {
    type Item = crate::Result<Packet<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = &self.bytes[self.at..];
        if rest.is_empty() {
            return None;
        }
        let packet = first_packet(rest, self.at);
        self.at = match packet {
            Ok(Packet { span, .. }) => span.end as usize,
            Err(_) => self.bytes.len(),
        };
        Some(packet)
    }
}

fn first_packet(rest: &[u8], at: usize) -> crate::Result<Packet<'_>> {
    let malformed = |flaw| crate::Error::Malformed { position: at as u64, flaw };
    let header = Header::parse(rest).map_err(|fault| match fault {
        Fault::Short => malformed(Flaw::CutShort("a packet")),
        Fault::NotAPacket => malformed(Flaw::NotAPacket),
    })?;
    let Length::Definite(length) = header.length else {
        return Err(malformed(Flaw::OpenLength(header.tag.0)));
    };
    let body = rest[header.size..].get(..length as usize);
    let body = body.ok_or_else(|| malformed(Flaw::CutShort("a packet")))?;
    let end = u32::try_from(at + header.size + body.len());
    let end = end.map_err(|_| malformed(Flaw::CertificateTooLarge))?;
    Ok(Packet { tag: header.tag, span: Span { start: at as u32, end }, body })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_header_is_read() {
        let read = |bytes: &[u8]| {
            let header = Header::parse(bytes).expect("a header");
            (header.tag.0, header.length, header.size)
        };
        assert_eq!(read(&[0x98, 0x33]), (6, Length::Definite(0x33), 2));
        assert_eq!(read(&[0x99, 1, 2]), (6, Length::Definite(0x102), 3));
        assert_eq!(read(&[0x9a, 0, 1, 0, 2]), (6, Length::Definite(0x1_0002), 5));
        assert_eq!(read(&[0xa3]), (8, Length::Open, 1));
        assert_eq!(read(&[0xc6, 191]), (6, Length::Definite(191), 2));
        assert_eq!(read(&[0xc6, 192, 0]), (6, Length::Definite(192), 3));
        assert_eq!(read(&[0xc6, 223, 255]), (6, Length::Definite(8383), 3));
        assert_eq!(read(&[0xd1, 255, 0, 0, 0x20, 0xc0]), (17, Length::Definite(8384), 6));
        assert_eq!(read(&[0xc2, 0xe9]), (2, Length::Partial(512), 2));
    }

    #[test]
    fn a_header_that_ends_early_asks_for_more() {
        for bytes in [&[][..], &[0xc6], &[0x99, 1], &[0xc6, 192], &[0xc6, 255, 0, 0, 0]] {
            assert_eq!(Header::parse(bytes), Err(Fault::Short));
        }
        assert_eq!(Header::parse(b"-----"), Err(Fault::NotAPacket));
    }

    #[test]
    fn a_written_header_is_read_back() {
        for length in [0, 191, 192, 255, 256, 8383, 8384, 65535, 65536, u32::MAX] {
            for tag in [Tag::USER_ID, Tag::ATTRIBUTE] {
                let mut bytes = Vec::new();
                write_header(&mut bytes, tag, length);
                let size = bytes.len();
                assert_eq!(Header::parse(&bytes), Ok(Header { tag, length: Length::Definite(length), size }));
            }
        }
    }

    #[test]
    fn packets_tile_the_bytes() {
        let bytes = [0xcd, 2, b'a', b'b', 0xb4, 1, b'c', 0xca, 0];
        let packets: Vec<_> = Packets::new(&bytes).map(|packet| packet.expect("a packet")).collect();
        let spans: Vec<_> = packets.iter().map(|packet| (packet.span.start, packet.span.end)).collect();
        assert_eq!(spans, [(0, 4), (4, 7), (7, 9)]);
        assert_eq!(packets[1].body, b"c");
    }

    #[test]
    fn the_walk_ends_at_a_packet_that_is_cut_short() {
        let mut packets = Packets::new(&[0xcd, 1, b'a', 0xcd, 9, b'b']);
        assert!(packets.next().is_some_and(|packet| packet.is_ok()));
        assert!(packets.next().is_some_and(|packet| packet.is_err()));
        assert!(packets.next().is_none());
    }
}
