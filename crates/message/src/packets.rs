//! Goes through all packets of anything, also of what is encrypted and compressed in it.

use std::io::{self, BufRead, BufReader, Read};

use cert::dearmor::DearmoredMessage;
use cert::packet::Header;

use crate::decompress::Unpacked;
use crate::decrypt::{EncryptedSessionKeys, MAX_DEPTH, Unlock, container};
use crate::decrypt_stream::{self, EncryptedData};
use crate::encrypted_data::EncryptedDataFormat;
use crate::frame::{self, Body, Input};
use crate::pipeline::PIECE;
use crate::{Error, Result};

/// Bytes of a packet that is read whole, at most; photographs are the longest ones.
const MAX_BODY: usize = 16 << 20;

/// A packet.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// Where it begins. Inside of another packet this goes on from where the content of that one begins.
    pub position: u64,
    /// Its first byte.
    pub first: u8,
    /// Its header.
    pub header: Header,
    /// Its body; of a packet that holds content or other packets, what comes before these.
    pub body: &'a [u8],
}

/// What is found on the way.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// A packet.
    Packet(Found<'a>),
    /// The end of encrypted data, which were not changed if they are protected against that.
    Decrypted(&'a EncryptedDataFormat),
}

/// Goes through all packets of `input`, with armor of whatever kind or without; says whether there are any.
///
/// # Errors
///
/// What the input says, what `unlock` and `take` return, and where no packet can be read any more.
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

/// An input that knows how much of it was read.
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

/// A packet's header, and where it stands.
#[derive(Clone, Copy)]
struct PacketPosition {
    position: u64,
    first: u8,
    header: Header,
}

impl PacketPosition {
    fn found(self, body: &[u8]) -> Step<'_> {
        let Self { position, first, header } = self;
        Step::Packet(Found { position, first, header, body })
    }

    /// Returns where the body goes on after so many bytes.
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
            let place = PacketPosition { position, first, header };
            let body = Body::new(&mut input, header.length);
            match header.tag.0 {
                8 => self.compressed(place, body, depth)?,
                9 | 18 | 20 => self.encrypted(place, body, std::mem::take(&mut encrypted_keys), depth)?,
                11 => self.literal(place, body)?,
                tag => {
                    let body = body.whole(MAX_BODY)?;
                    (self.take)(place.found(&body))?;
                    if matches!(tag, 1 | 3) {
                        encrypted_keys.add(header.tag, &body)?;
                    }
                }
            }
        }
    }

    fn compressed(&mut self, place: PacketPosition, mut body: Body<'_>, depth: u8) -> Result<()> {
        let &algorithm = frame::fill(&mut body)?.first().ok_or(Error::CutShort)?;
        (self.take)(place.found(&[algorithm]))?;
        let (mut unpacked, _) = Unpacked::new(body)?;
        self.level(&mut unpacked, place.inside(1), depth + 1)?;
        unpacked.finish()
    }

    fn encrypted(
        &mut self,
        place: PacketPosition,
        mut body: Body<'_>,
        encrypted_keys: EncryptedSessionKeys,
        depth: u8,
    ) -> Result<()> {
        let container = container(place.header.tag, &mut body)?;
        let head = container.head();
        (self.take)(place.found(&head))?;
        let sealed = EncryptedData::begin(body, &container)?;
        let encrypted_keys = encrypted_keys.of(&container);
        let key =
            self.unlock.session_key(&encrypted_keys, &container, &|key| sealed.fits(&container, key))?;
        if !sealed.fits(&container, &key) {
            return Err(Error::WrongKey);
        }
        let prefix = if container.mode().is_some() { 0 } else { key.cipher().block_size() + 2 };
        let position = place.inside(head.len() + prefix);
        decrypt_stream::decrypt_stream(&container, &key, sealed, |plain| {
            self.level(plain, position, depth + 1)
        })?;
        (self.take)(Step::Decrypted(&container))
    }

    fn literal(&mut self, place: PacketPosition, mut body: Body<'_>) -> Result<()> {
        let mut head: Vec<u8> = frame::bytes::<2>(&mut body)?.to_vec();
        let rest = usize::from(head[1]) + 4;
        head.resize(2 + rest, 0);
        body.read_exact(&mut head[2..]).map_err(Error::reading)?;
        (self.take)(place.found(&head))?;
        body.skip()
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
