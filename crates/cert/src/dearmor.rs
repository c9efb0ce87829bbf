//! Reads messages with or without ASCII armor.

use std::io::{self, Read};

use crate::armor::{ArmorRules, BlockKind};
use crate::error::{Error, Flaw};
use crate::source::{Segment, Source};

/// Reads the packets of a message: those of the stream itself, or of its armored blocks.
#[derive(Debug)]
pub struct DearmoredMessage<R> {
    source: Source<R>,
    state: State,
    further: LaterBlocks,
}

/// What happens with armored blocks after the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LaterBlocks {
    /// They are an error.
    Refused,
    /// Those of the wanted kind are read, others are an error.
    Read,
    /// Those of the wanted kind are read, others are skipped.
    ReadOrPassed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Before,
    Inside,
    Between,
    After,
}

impl<R: Read> DearmoredMessage<R> {
    /// Creates a reader of one message.
    ///
    /// Reading fails with [`Flaw::SecondBlock`] where another armored block follows, since its content must not be
    /// ignored silently.
    pub fn new(reader: R) -> Self {
        Self {
            source: Source::new(reader, BlockKind::Messages, ArmorRules::Gnupg),
            state: State::Before,
            further: LaterBlocks::Refused,
        }
    }

    /// Follows other rules for armor; must be called before reading.
    pub fn with(mut self, rules: ArmorRules) -> Self {
        self.source.follow(rules);
        self
    }

    /// Creates a reader of several armored blocks whose packets belong together, such as signatures.
    ///
    /// Reading fails with [`Flaw::SecondBlock`] where a block of another kind follows.
    pub fn of_all_blocks(reader: R) -> Self {
        Self { further: LaterBlocks::Read, ..Self::new(reader) }
    }

    /// Creates a reader of all armored blocks of any kind.
    pub fn of_any_kind(reader: R) -> Self {
        let source = Source::new(reader, BlockKind::Any, ArmorRules::Gnupg);
        Self { source, state: State::Before, further: LaterBlocks::ReadOrPassed }
    }

    /// Returns whether there was text before, between or after the armored blocks that were read so far.
    pub fn passed_text(&self) -> bool {
        self.source.passed_text()
    }

    fn read_packets(&mut self, out: &mut [u8]) -> crate::Result<usize> {
        loop {
            match self.state {
                State::Before | State::Between => self.state = self.next_state()?,
                State::Inside => match self.source.read(out)? {
                    0 => self.state = State::Between,
                    count => return Ok(count),
                },
                State::After => return Ok(0),
            }
        }
    }

    fn next_state(&mut self) -> crate::Result<State> {
        let is_further = self.state == State::Between;
        match self.source.next_segment()? {
            Segment::Packets | Segment::Remains if is_further && self.further == LaterBlocks::Refused => {
                let position = self.source.position();
                Err(Error::Malformed { position, flaw: Flaw::SecondBlock })
            }
            Segment::Foreign(position) if is_further && self.further != LaterBlocks::ReadOrPassed => {
                Err(Error::Malformed { position, flaw: Flaw::SecondBlock })
            }
            Segment::Packets | Segment::Remains => Ok(State::Inside),
            Segment::Foreign(_) => Ok(self.state),
            Segment::End => Ok(State::After),
        }
    }
}

impl<R: Read> Read for DearmoredMessage<R> {
    /// Reads bytes of packets; none at the end of the message, or if there is none.
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        self.read_packets(out).map_err(|error| match error {
            Error::Read { source, .. } => source,
            other => io::Error::new(io::ErrorKind::InvalidData, other),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::armor_writer::ArmorWriter;
    use std::io::Write;

    fn read(stream: &[u8]) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        DearmoredMessage::new(stream).read_to_end(&mut bytes).map(|_| bytes)
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
    fn text_around_a_block_is_noticed_and_its_last_line_is_none() {
        let block = armored(b"\xd2one", "SIGNATURE");
        for (before, behind, is_text) in [
            ("", "", false),
            ("\r\n \t\n", "\n\n", false),
            ("Dear Bob,\n", "", true),
            ("", "Yours\n", true),
            ("", "Yours", true),
            ("", "-----END PGP SIGNATURE-----\nYours\n", true),
            ("", "-----END PGP SIGNATURE----- Yours\n", true),
        ] {
            let stream = [before.as_bytes(), &block, behind.as_bytes()].concat();
            let mut message = DearmoredMessage::new(&stream[..]);
            message.read_to_end(&mut Vec::new()).expect("packets");
            assert_eq!(message.passed_text(), is_text, "{before:?} {behind:?}");
        }
    }

    fn is_second_block(read: io::Result<Vec<u8>>) -> bool {
        let error = read.expect_err("another block");
        let error = error.get_ref().and_then(|error| error.downcast_ref::<Error>());
        matches!(error, Some(Error::Malformed { flaw: Flaw::SecondBlock, .. }))
    }

    #[test]
    fn no_block_behind_a_message_is_dropped_without_a_word() {
        let [key, one, two, clear] = [
            ("PUBLIC KEY BLOCK", "\u{99}key"),
            ("MESSAGE", "one"),
            ("SIGNATURE", "two"),
            ("SIGNED MESSAGE", "clear"),
        ]
        .map(|(title, packets)| armored(packets.as_bytes(), title));
        assert_eq!(read(&[&key[..], &one, b"Yours\n"].concat()).expect("packets"), b"one");
        assert_eq!(read(b"no message\n").expect("nothing"), b"");
        for further in [&one, &two, &key, &clear] {
            assert!(is_second_block(read(&[&one[..], b"And\n", further].concat())));
        }
    }

    #[test]
    fn blocks_that_belong_together_are_read_as_one() {
        let [key, one, two, clear] = [
            ("PUBLIC KEY BLOCK", "key"),
            ("SIGNATURE", "one"),
            ("SIGNATURE", "two"),
            ("SIGNED MESSAGE", "clear"),
        ]
        .map(|(title, packets)| armored(packets.as_bytes(), title));
        let all = |blocks: &[&[u8]]| {
            let mut bytes = Vec::new();
            DearmoredMessage::of_all_blocks(&blocks.concat()[..]).read_to_end(&mut bytes).map(|_| bytes)
        };
        assert_eq!(all(&[&one, b"\nAnd\n", &two, b"Yours\n"]).expect("packets"), b"onetwo");
        assert!(is_second_block(all(&[&one, &key])));
        assert!(is_second_block(all(&[&one, &clear])));
        let mut bytes = Vec::new();
        let blocks = [key, one, clear, two].concat();
        DearmoredMessage::of_any_kind(&blocks[..]).read_to_end(&mut bytes).expect("packets");
        assert_eq!(bytes, b"keyonetwo");
    }

    #[test]
    fn a_block_has_a_checksum_or_a_last_line() {
        let block = armored(b"\xd2one", "MESSAGE");
        let at = |part: &[u8]| block.windows(part.len()).position(|window| window == part).expect("a line");
        let (sum, end) = (at(b"\n=") + 1, at(b"-----END"));
        assert_eq!(read(&block[..end]).expect("packets"), b"\xd2one");
        assert_eq!(read(&[&block[..sum], &block[end..]].concat()).expect("packets"), b"\xd2one");
        assert_eq!(read(&block[..sum]).expect_err("no end").kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn a_wrong_checksum_is_an_error() {
        let mut block = armored(b"\xd2one and two", "MESSAGE");
        let at = block.windows(2).position(|pair| pair == b"\n=").expect("a checksum") + 2;
        block[at..at + 4].copy_from_slice(b"AAAA");
        assert_eq!(read(&block).expect_err("a checksum").kind(), io::ErrorKind::InvalidData);
    }
}
