//! Packets and their headers.

/// A packet (RFC 9580, 4.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The packet's type.
    pub tag: u8,
    /// How its length is written.
    pub header: Header,
    /// The content.
    pub body: Vec<u8>,
}

/// How the length of a packet is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Header {
    /// The shortest length of the new format.
    New,
    /// Five bytes of the new format, however short the content is.
    NewLong,
    /// The new format with this length, whatever the content's is.
    NewClaiming(u32),
    /// Parts of `1 << .0` bytes, then the rest; the first part may be shorter than the 512 bytes of the standard.
    Partial(u8),
    /// The shortest length of the old format. Only types below 16 can be written.
    Old,
    /// Four bytes of the old format with this length, whatever the content's is.
    OldClaiming(u32),
    /// The old format without a length: to the end of the input.
    Indeterminate,
}

impl Packet {
    /// Makes a packet with a header of the new format.
    pub fn new(tag: u8, body: impl Into<Vec<u8>>) -> Packet {
        Packet { tag, header: Header::New, body: body.into() }
    }

    /// Makes a user ID packet of any bytes.
    pub fn user_id(name: impl AsRef<[u8]>) -> Packet {
        Packet::new(13, name.as_ref())
    }

    /// Makes a user attribute packet of one JPEG image (RFC 9580, 5.12.1).
    pub fn image(image: &[u8]) -> Packet {
        let mut subpacket = vec![1, 16, 0, 1, 1];
        subpacket.resize(17, 0);
        subpacket.extend_from_slice(image);
        let length = (subpacket.len() as u32).to_be_bytes();
        Packet::new(17, [&[0xFF][..], &length, &subpacket].concat())
    }

    /// Makes a marker packet (RFC 9580, 5.8).
    pub fn marker() -> Packet {
        Packet::new(10, *b"PGP")
    }

    /// Makes a trust packet, whose content each program defines for itself.
    pub fn trust(body: impl Into<Vec<u8>>) -> Packet {
        Packet::new(12, body)
    }

    /// Makes a padding packet (RFC 9580, 5.14).
    pub fn padding(length: usize) -> Packet {
        Packet::new(21, vec![0xA5; length])
    }

    /// Returns the packet with another header.
    pub fn with(mut self, header: Header) -> Packet {
        self.header = header;
        self
    }

    /// Returns header and content.
    pub fn bytes(&self) -> Vec<u8> {
        let length = self.body.len() as u32;
        match self.header {
            Header::New => [&[0xC0 | self.tag][..], &new_length(length), &self.body].concat(),
            Header::NewLong => self.claiming(0xC0 | self.tag, true, length),
            Header::NewClaiming(length) => self.claiming(0xC0 | self.tag, true, length),
            Header::Partial(exponent) => self.partial(exponent),
            Header::Old => self.old(length),
            Header::OldClaiming(length) => self.claiming(0x82 | self.tag << 2, false, length),
            Header::Indeterminate => [&[0x83 | self.tag << 2][..], &self.body].concat(),
        }
    }

    fn claiming(&self, first: u8, new: bool, length: u32) -> Vec<u8> {
        let mut bytes = vec![first];
        if new {
            bytes.push(0xFF);
        }
        bytes.extend_from_slice(&length.to_be_bytes());
        bytes.extend_from_slice(&self.body);
        bytes
    }

    fn old(&self, length: u32) -> Vec<u8> {
        let first = 0x80 | self.tag << 2;
        let header = match length {
            0..0x100 => vec![first, length as u8],
            0x100..0x1_0000 => [&[first | 1][..], &(length as u16).to_be_bytes()].concat(),
            _ => [&[first | 2][..], &length.to_be_bytes()].concat(),
        };
        [header, self.body.clone()].concat()
    }

    fn partial(&self, exponent: u8) -> Vec<u8> {
        let mut bytes = vec![0xC0 | self.tag];
        let mut parts = self.body.chunks_exact(1 << exponent);
        for part in &mut parts {
            bytes.push(0xE0 | exponent);
            bytes.extend_from_slice(part);
        }
        bytes.extend(new_length(parts.remainder().len() as u32));
        bytes.extend_from_slice(parts.remainder());
        bytes
    }
}

/// Returns a length of the new format (RFC 9580, 4.2.1), which subpackets have too.
pub(crate) fn new_length(length: u32) -> Vec<u8> {
    match length {
        0..192 => vec![length as u8],
        192..8384 => vec![((length - 192) >> 8) as u8 + 192, (length - 192) as u8],
        _ => [&[0xFF][..], &length.to_be_bytes()].concat(),
    }
}

/// Returns the bytes of packets that follow one another.
pub fn bytes<'a>(packets: impl IntoIterator<Item = &'a Packet>) -> Vec<u8> {
    packets.into_iter().flat_map(Packet::bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::{Header, Packet};

    #[test]
    fn each_header_is_written_as_the_standard_has_it() {
        let packet = Packet::new(11, b"abcde".to_vec());
        for (header, bytes) in [
            (Header::New, &b"\xCB\x05abcde"[..]),
            (Header::NewLong, b"\xCB\xFF\0\0\0\x05abcde"),
            (Header::NewClaiming(9), b"\xCB\xFF\0\0\0\x09abcde"),
            (Header::Partial(1), b"\xCB\xE1ab\xE1cd\x01e"),
            (Header::Old, b"\xAC\x05abcde"),
            (Header::OldClaiming(1), b"\xAE\0\0\0\x01abcde"),
            (Header::Indeterminate, b"\xAFabcde"),
        ] {
            assert_eq!(packet.clone().with(header.clone()).bytes(), bytes, "{header:?}");
        }
        assert_eq!(Packet::new(11, vec![0; 200]).bytes()[..3], [0xCB, 192, 8]);
        assert_eq!(Packet::new(11, vec![0; 9000]).bytes()[..6], [0xCB, 255, 0, 0, 35, 40]);
    }
}
