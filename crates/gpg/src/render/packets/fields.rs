//! Reads the fields of a packet one after the other, and writes them as text.

use std::fmt::Display;

use engine::configuration::Compat;

/// The longest number that gpg reads, in bits.
const MAX_BITS: usize = 16384;

/// What is wrong with a packet, in gpg's words.
pub(crate) type Complaint = String;

/// What is left of a packet's body, and where its text goes.
pub(super) struct Fields<'b, 'o> {
    rest: &'b [u8],
    pub(super) compat: Compat,
    pub(super) out: &'o mut Vec<u8>,
}

impl<'b, 'o> Fields<'b, 'o> {
    pub(super) fn new(body: &'b [u8], compat: Compat, out: &'o mut Vec<u8>) -> Self {
        Self { rest: body, compat, out }
    }

    /// Returns what is left.
    pub(super) fn rest(&self) -> &'b [u8] {
        self.rest
    }

    pub(super) fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    pub(super) fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.bytes().map(|[byte]| byte)
    }

    /// Takes two bytes.
    pub(super) fn short(&mut self) -> Option<u16> {
        self.bytes().map(u16::from_be_bytes)
    }

    /// Takes four bytes.
    pub(super) fn number(&mut self) -> Option<u32> {
        self.bytes().map(u32::from_be_bytes)
    }

    /// Takes a number of any size; returns its size in bits.
    pub(super) fn integer(&mut self) -> Option<usize> {
        self.integer_and_its_size().map(|(bits, _)| bits)
    }

    /// Takes a number of an algorithm; returns its size in bits: what it says itself if it belongs to an elliptic curve, whose
    /// numbers gpg 2.4 takes for strings.
    pub(super) fn integer_of(&mut self, algorithm: u8) -> Option<usize> {
        let (bits, said) = self.integer_and_its_size()?;
        Some(if self.compat >= Compat::V2_4 && matches!(algorithm, 18 | 19 | 22) { said } else { bits })
    }

    fn integer_and_its_size(&mut self) -> Option<(usize, usize)> {
        let said = usize::from(self.short()?);
        let bytes = self.take(said.div_ceil(8)).filter(|_| said <= MAX_BITS)?;
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        let significant = bytes.get(zeros).map_or(0, |byte| byte.leading_zeros() as usize);
        Some((8 * (bytes.len() - zeros) - significant, said))
    }

    /// Takes a byte and as many others as it says, and returns these.
    pub(super) fn sized(&mut self) -> Option<&'b [u8]> {
        let length = self.byte().filter(|length| (2..=254).contains(length))?;
        self.take(length.into())
    }

    /// Writes the size of a number of an algorithm, or that it is malformed.
    pub(super) fn report_integer(&mut self, algorithm: u8) -> Option<()> {
        let bits = self.integer_of(algorithm);
        match bits {
            Some(bits) => self.text(format_args!("[{bits} bits]")),
            None => self.text("[MPI_NULL]"),
        }
        bits.map(drop)
    }

    pub(super) fn text(&mut self, text: impl Display) {
        self.out.extend(text.to_string().into_bytes());
    }

    pub(super) fn line(&mut self, text: impl Display) {
        self.text(text);
        self.out.push(b'\n');
    }

    /// Reports bytes in upper-case hexadecimal digits.
    pub(super) fn hex(&mut self, bytes: &[u8]) {
        crate::render::digits::hex(bytes, self.out);
    }
}
