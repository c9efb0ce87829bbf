//! A message out of its armor, if it has any.

use std::io::{self, Read};

use crate::armor::Kind;
use crate::error::Error;
use crate::source::{Segment, Source};

/// Reads the packets of a message: the stream itself, or what its first armored block of a message holds.
#[derive(Debug)]
pub struct Message<R> {
    source: Source<R>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Before,
    Inside,
    After,
}

impl<R: Read> Message<R> {
    /// Takes a stream; nothing is read yet.
    pub fn new(reader: R) -> Self {
        Self { source: Source::new(reader, Kind::Messages), state: State::Before }
    }

    /// Takes a stream whose first armored block is wanted, whatever is in it.
    pub fn of_any_kind(reader: R) -> Self {
        Self { source: Source::new(reader, Kind::Any), state: State::Before }
    }

    fn read_packets(&mut self, out: &mut [u8]) -> crate::Result<usize> {
        while self.state == State::Before {
            match self.source.next_segment()? {
                Segment::Packets | Segment::Remains => self.state = State::Inside,
                Segment::Foreign(_) => {}
                Segment::End => self.state = State::After,
            }
        }
        match self.state {
            State::After => Ok(0),
            _ => self.source.read(out),
        }
    }
}

impl<R: Read> Read for Message<R> {
    /// Reads octets of packets; none where there is no message.
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        let read = self.read_packets(out).map_err(|error| match error {
            Error::Read { source, .. } => source,
            other => io::Error::new(io::ErrorKind::InvalidData, other),
        })?;
        if read == 0 {
            self.state = State::After;
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::armor_writer::ArmorWriter;
    use std::io::Write;

    fn read(stream: &[u8]) -> io::Result<Vec<u8>> {
        let mut octets = Vec::new();
        Message::new(stream).read_to_end(&mut octets).map(|_| octets)
    }

    fn armored(packets: &[u8], title: &'static str) -> Vec<u8> {
        let mut writer = ArmorWriter::titled(Vec::new(), title);
        writer.write_all(packets).expect("a vector takes everything");
        writer.finish().expect("a vector takes everything")
    }

    #[test]
    fn a_message_is_read_with_armor_and_without() {
        let packets: Vec<u8> =
            [0xd2].into_iter().chain((0..100_000u32).map(|index| (index % 251) as u8)).collect();
        assert_eq!(read(&packets).expect("packets"), packets);
        let block = [b"Dear Bob,\n\n", &armored(&packets, "MESSAGE")[..], b"Yours\n"].concat();
        assert_eq!(read(&block).expect("packets"), packets);
    }

    #[test]
    fn only_the_first_block_of_a_message_is_read() {
        let blocks = [
            armored(b"\x99key", "PUBLIC KEY BLOCK"),
            armored(b"\xd2one", "MESSAGE"),
            armored(b"\xd2two", "MESSAGE"),
        ];
        assert_eq!(read(&blocks.concat()).expect("packets"), b"\xd2one");
        assert_eq!(read(b"no message\n").expect("nothing"), b"");
        let mut octets = Vec::new();
        Message::of_any_kind(&blocks.concat()[..]).read_to_end(&mut octets).expect("packets");
        assert_eq!(octets, b"\x99key");
    }

    #[test]
    fn a_wrong_checksum_is_an_error() {
        let mut block = armored(b"\xd2one and two", "MESSAGE");
        let at = block.windows(2).position(|pair| pair == b"\n=").expect("a checksum") + 2;
        block[at..at + 4].copy_from_slice(b"AAAA");
        assert_eq!(read(&block).expect_err("a checksum").kind(), io::ErrorKind::InvalidData);
    }
}
