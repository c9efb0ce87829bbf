//! An input as a script: numbers that choose what is built, and what is done to it.

use packet_builder::Packet;

/// An input that is read from its beginning. Behind its end everything is zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Script<'a>(&'a [u8]);

impl<'a> Script<'a> {
    /// Begins to read an input.
    pub(crate) fn new(input: &'a [u8]) -> Self {
        Self(input)
    }

    /// Says whether nothing is left.
    pub(crate) fn is_over(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads a byte.
    pub(crate) fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// Reads a number of two bytes.
    pub(crate) fn number(&mut self) -> usize {
        usize::from(u16::from_be_bytes([self.byte(), self.byte()]))
    }

    /// Reads a number below `count`; zero if there is none.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        let number = if count <= 0x100 { self.byte().into() } else { self.number() };
        number.checked_rem(count).unwrap_or(0)
    }

    /// Chooses one of several things.
    pub(crate) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// Reads a yes or no, mostly no.
    pub(crate) fn rarely(&mut self) -> bool {
        self.byte() >= 0xc0
    }

    /// Reads bytes, their number first.
    pub(crate) fn bytes(&mut self) -> &'a [u8] {
        let count = usize::from(self.byte());
        let (bytes, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        bytes
    }

    /// Changes some bytes of `bytes` at a place: flips bits, takes some out, puts some in, repeats some or cuts the rest
    /// off.
    pub(crate) fn damage(&mut self, bytes: &mut Vec<u8>) {
        let at = self.below(bytes.len() + 1);
        match self.below(5) {
            0 => {
                let bits = self.byte().max(1);
                bytes.get_mut(at).into_iter().for_each(|byte| *byte ^= bits);
            }
            1 => drop(bytes.drain(at..(at + self.below(0x40)).min(bytes.len()))),
            2 => drop(bytes.splice(at..at, self.bytes().iter().copied())),
            3 => {
                let end = (at + 1 + self.below(0x40)).min(bytes.len());
                bytes.extend_from_within(at..end);
                let count = end - at;
                bytes[at..].rotate_right(count);
            }
            _ => bytes.truncate(at),
        }
    }

    /// Chooses how the length of a packet is written, mostly in the usual way.
    pub(crate) fn header(&mut self, packet: Packet) -> Packet {
        use packet_builder::Header::{Indeterminate, New, NewClaiming, NewLong, Old, OldClaiming, Partial};
        let header = match self.below(16) {
            9 => NewLong,
            10 => Partial(self.one_of(&[9, 1, 4])),
            11 if packet.tag < 16 => Old,
            12 if packet.tag < 16 => Indeterminate,
            13 => NewClaiming(self.number() as u32),
            14 if packet.tag < 16 => OldClaiming(self.number() as u32),
            _ => New,
        };
        packet.with(header)
    }
}

#[cfg(test)]
mod tests {
    use super::Script;

    #[test]
    fn a_script_is_zero_behind_its_end() {
        let mut script = Script::new(&[7, 1, 0, 3, b'a', b'b']);
        assert_eq!((script.below(5), script.number()), (2, 0x100));
        assert_eq!(script.bytes(), b"ab");
        assert!(script.is_over());
        assert_eq!((script.byte(), script.number(), script.below(0)), (0, 0, 0));
    }

    #[test]
    fn damage_changes_what_it_says() {
        for (script, damaged) in [
            (&[1, 0, 0x20][..], &b"aBc"[..]),
            (&[1, 1, 1], b"ac"),
            (&[3, 2, 1, b'd'], b"abcd"),
            (&[0, 3, 1], b"ababc"),
            (&[1, 4], b"a"),
        ] {
            let mut bytes = b"abc".to_vec();
            Script::new(script).damage(&mut bytes);
            assert_eq!(bytes, damaged);
        }
    }
}
