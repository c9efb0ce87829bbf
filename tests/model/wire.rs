//! Packets as bytes: writing and reading, in a few lines of the tests' own.

pub(crate) const SIGNATURE: u8 = 2;
pub(crate) const PUBLIC_KEY: u8 = 6;
pub(crate) const TRUST: u8 = 12;
pub(crate) const USER_ID: u8 = 13;
pub(crate) const PUBLIC_SUBKEY: u8 = 14;

/// Writes a packet with a header of RFC 9580, 4.2.1.
pub(crate) fn packet(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32).to_be_bytes();
    [&[0xc0 | tag, 0xff], &length[..], body].concat()
}

/// Reads packets that [`packet`] wrote.
pub(crate) fn packets(mut bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut packets = Vec::new();
    while let [tag, 0xff, a, b, c, d, rest @ ..] = bytes {
        let length = u32::from_be_bytes([*a, *b, *c, *d]) as usize;
        packets.push((tag & 0x3f, rest[..length].to_vec()));
        bytes = &rest[length..];
    }
    assert!(bytes.is_empty(), "the tests write whole packets");
    packets
}

/// A subpacket: its type with the critical bit, and its body.
pub(crate) type Subpacket = (u8, Vec<u8>);

/// Writes subpackets with the shortest lengths that do (RFC 9580, 5.2.3.7).
pub(crate) fn area(subpackets: &[Subpacket]) -> Vec<u8> {
    let mut area = Vec::new();
    for (kind, body) in subpackets {
        match body.len() + 1 {
            length @ ..192 => area.push(length as u8),
            length @ 192..8384 => {
                area.extend([((length - 192) >> 8) as u8 + 192, (length - 192) as u8]);
            }
            length => area.extend([&[255], &(length as u32).to_be_bytes()[..]].concat()),
        }
        area.push(*kind);
        area.extend(body);
    }
    area
}

/// Reads subpackets that [`area`] wrote.
pub(crate) fn subpackets(mut area: &[u8]) -> Vec<Subpacket> {
    let mut subpackets = Vec::new();
    while !area.is_empty() {
        let (length, rest) = match area {
            [255, a, b, c, d, rest @ ..] => (u32::from_be_bytes([*a, *b, *c, *d]) as usize, rest),
            [one @ 192..=254, two, rest @ ..] => {
                (((usize::from(*one) - 192) << 8) + usize::from(*two) + 192, rest)
            }
            [length, rest @ ..] => (usize::from(*length), rest),
            [] => unreachable!("it is not empty"),
        };
        subpackets.push((rest[0], rest[1..length].to_vec()));
        area = &rest[length..];
    }
    subpackets
}

/// The parts of a signature packet of version 4 (RFC 9580, 5.2.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    pub(crate) kind: u8,
    pub(crate) algorithm: u8,
    pub(crate) hash: u8,
    pub(crate) hashed: Vec<Subpacket>,
    pub(crate) unhashed: Vec<Subpacket>,
    pub(crate) prefix: [u8; 2],
    pub(crate) value: Vec<u8>,
}

impl Signature {
    /// Reads the body of a packet that [`body`](Self::body) wrote.
    pub(crate) fn read(body: &[u8]) -> Self {
        let sized = |at: usize| {
            let length = usize::from(u16::from_be_bytes([body[at], body[at + 1]]));
            &body[at + 2..at + 2 + length]
        };
        assert_eq!(body[0], 4, "the tests make signatures of version 4");
        let hashed = sized(4);
        let unhashed = sized(6 + hashed.len());
        let rest = &body[8 + hashed.len() + unhashed.len()..];
        Self {
            kind: body[1],
            algorithm: body[2],
            hash: body[3],
            hashed: subpackets(hashed),
            unhashed: subpackets(unhashed),
            prefix: [rest[0], rest[1]],
            value: rest[2..].to_vec(),
        }
    }

    /// Returns the bytes that are hashed.
    pub(crate) fn covered(&self) -> Vec<u8> {
        let hashed = area(&self.hashed);
        let head = [4, self.kind, self.algorithm, self.hash];
        [&head, &(hashed.len() as u16).to_be_bytes()[..], &hashed].concat()
    }

    /// Writes the body of the packet.
    pub(crate) fn body(&self) -> Vec<u8> {
        let unhashed = area(&self.unhashed);
        let length = (unhashed.len() as u16).to_be_bytes();
        [&self.covered(), &length[..], &unhashed, &self.prefix, &self.value].concat()
    }
}
