//! Lists all packets of an input, including those inside of encrypted and compressed packets.

use std::io::{self, BufRead, BufReader, Read};

use cert::dearmor::DearmoredMessage;
use cert::packet::Header;

use crate::decompress::Decompressor;
use crate::decrypt::{EncryptedSessionKeys, MAX_DEPTH, Unlock, container};
use crate::decrypt_stream;
use crate::encrypted_data::EncryptedDataFormat;
use crate::frame::{self, Body, Input};
use crate::pipeline::PIECE;
use crate::{Error, Result};

/// The most bytes of a packet that is read completely; photographs are the longest ones.
const MAX_BODY: usize = 16 << 20;

/// A packet.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// The position of its first byte. Positions inside of another packet continue from the beginning of its content.
    pub position: u64,
    /// The first byte.
    pub first: u8,
    /// The header.
    pub header: Header,
    /// The body; of a packet that contains data or other packets, the fields before them.
    pub body: &'a [u8],
}

/// A step of the listing.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// A packet.
    Packet(Found<'a>),
    /// The end of encrypted data; if they are protected against changes, they were unchanged.
    Decrypted(&'a EncryptedDataFormat),
}

/// Calls `take` with all packets of `input`, with any kind of armor or without; returns whether there are any.
///
/// # Errors
///
/// Those of the input, of `unlock` and `take`, and for malformed packets.
pub fn packets(
    input: &mut (dyn Read + Send),
    unlock: &mut dyn Unlock,
    take: &mut dyn FnMut(Step<'_>) -> Result<()>,
) -> Result<bool> {
    let mut input = BufReader::with_capacity(PIECE, DearmoredMessage::of_any_kind(input));
    let is_empty = frame::fill(&mut input)?.is_empty();
    Walk { unlock, take }.level(&mut input, 0, 0)?;
    Ok(!is_empty)
}

/// An input that counts the bytes that were read.
struct Counted<'a> {
    input: &'a mut dyn Input,
    position: u64,
}

impl BufRead for Counted<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.input.consume(count);
        self.position += count as u64;
    }
}

impl Read for Counted<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(out)?;
        self.position += count as u64;
        Ok(count)
    }
}

impl Found<'_> {
    fn with(self, body: &[u8]) -> Step<'_> {
        let Self { position, first, header, .. } = self;
        Step::Packet(Found { position, first, header, body })
    }

    /// Returns the position after `bytes` bytes of the body.
    fn inside(self, bytes: usize) -> u64 {
        self.position + (self.header.size + bytes) as u64
    }
}

struct Walk<'a> {
    unlock: &'a mut dyn Unlock,
    take: &'a mut dyn FnMut(Step<'_>) -> Result<()>,
}

impl Walk<'_> {
    fn level(&mut self, input: &mut dyn Input, position: u64, depth: u8) -> Result<()> {
        if depth > MAX_DEPTH {
            return Err(Error::Limit("packets inside of packets"));
        }
        let mut input = Counted { input, position };
        let mut encrypted_keys = EncryptedSessionKeys::default();
        loop {
            let position = input.position;
            let Some(&first) = frame::fill(&mut input)?.first() else { return Ok(()) };
            let Some(header) = frame::header(&mut input)? else { return Ok(()) };
            let packet = Found { position, first, header, body: &[] };
            let body = Body::new(&mut input, header.length);
            match header.tag.0 {
                8 => self.compressed(packet, body, depth)?,
                9 | 18 | 20 => self.encrypted(packet, body, std::mem::take(&mut encrypted_keys), depth)?,
                11 => self.literal(packet, body)?,
                tag => {
                    let body = body.whole(MAX_BODY)?;
                    (self.take)(packet.with(&body))?;
                    if matches!(tag, 1 | 3) {
                        encrypted_keys.add(header.tag, &body)?;
                    }
                }
            }
        }
    }

    fn compressed(&mut self, packet: Found<'_>, mut body: Body<'_>, depth: u8) -> Result<()> {
        let &algorithm = frame::fill(&mut body)?.first().ok_or(Error::CutShort)?;
        (self.take)(packet.with(&[algorithm]))?;
        let (mut unpacked, _) = Decompressor::new(body)?;
        self.level(&mut unpacked, packet.inside(1), depth + 1)?;
        unpacked.finish()
    }

    fn encrypted(
        &mut self,
        packet: Found<'_>,
        mut body: Body<'_>,
        encrypted_keys: EncryptedSessionKeys,
        depth: u8,
    ) -> Result<()> {
        let container = container(packet.header.tag, &mut body)?;
        let head = container.head();
        (self.take)(packet.with(&head))?;
        let (sealed, key) = encrypted_keys.unlock(self.unlock, &container, body)?;
        let prefix = if container.mode().is_some() { 0 } else { key.cipher().block_size() + 2 };
        let position = packet.inside(head.len() + prefix);
        decrypt_stream::decrypt_stream(&container, &key, sealed, |plain| {
            self.level(plain, position, depth + 1)
        })?;
        (self.take)(Step::Decrypted(&container))
    }

    fn literal(&mut self, packet: Found<'_>, mut body: Body<'_>) -> Result<()> {
        let mut head: Vec<u8> = frame::bytes::<2>(&mut body)?.to_vec();
        let rest = usize::from(head[1]) + 4;
        head.resize(2 + rest, 0);
        body.read_exact(&mut head[2..]).map_err(Error::reading)?;
        (self.take)(packet.with(&head))?;
        frame::skip(&mut body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoKeys;

    /// Where a packet stands, its tag and its body.
    type Found = (u64, u8, Vec<u8>);

    fn found(input: &[u8]) -> (Vec<Found>, Result<bool>) {
        let mut found = Vec::new();
        let walked = packets(&mut &input[..], &mut NoKeys, &mut |step| {
            if let Step::Packet(packet) = step {
                found.push((packet.position, packet.header.tag.0, packet.body.to_vec()));
            }
            Ok(())
        });
        (found, walked)
    }

    #[test]
    fn packets_inside_of_compressed_ones_are_found_where_these_begin() {
        // A marker, then a compressed packet that is stored, with a literal packet and a user ID.
        let inside = [&[0xcb, 9, b'b', 1, b'n', 0, 0, 0, 7, b'x', b'y'][..], &[0xcd, 1, b'u']].concat();
        let bytes = [&[0xca, 3, b'P', b'G', b'P', 0xa3, 0][..], &inside].concat();
        let (found, walked) = found(&bytes);
        assert!(walked.is_ok_and(|any| any));
        let literal = vec![b'b', 1, b'n', 0, 0, 0, 7];
        assert_eq!(
            found,
            [(0, 10, b"PGP".to_vec()), (5, 8, vec![0]), (7, 11, literal), (18, 13, vec![b'u'])]
        );
    }

    #[test]
    fn what_cannot_be_opened_ends_the_way() {
        let bytes = [&[0xd2, 30, 1][..], &[0; 29]].concat();
        let (found, walked) = found(&bytes);
        assert_eq!(found, [(0, 18, vec![1])]);
        assert!(matches!(walked, Err(Error::NoKey)));
        assert!(packets(&mut &b""[..], &mut NoKeys, &mut |_| Ok(())).is_ok_and(|any| !any));
    }
}
