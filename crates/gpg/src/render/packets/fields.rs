//! The fields of a packet, taken one after the other, and the text that tells them.

use std::fmt::Display;

/// The longest number that gpg reads, in bits.
const MAX_BITS: usize = 16384;

/// What is left of a packet's body, and where its text goes.
pub(super) struct Fields<'b, 'o> {
    rest: &'b [u8],
    pub(super) out: &'o mut Vec<u8>,
}

impl<'b, 'o> Fields<'b, 'o> {
    pub(super) fn new(body: &'b [u8], out: &'o mut Vec<u8>) -> Self {
        Self { rest: body, out }
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

    pub(super) fn octets<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(super) fn octet(&mut self) -> Option<u8> {
        self.octets().map(|[octet]| octet)
    }

    /// Takes two octets.
    pub(super) fn short(&mut self) -> Option<u16> {
        self.octets().map(u16::from_be_bytes)
    }

    /// Takes four octets.
    pub(super) fn number(&mut self) -> Option<u32> {
        self.octets().map(u32::from_be_bytes)
    }

    /// Takes a number of any size; returns its size in bits.
    pub(super) fn integer(&mut self) -> Option<usize> {
        let bits = usize::from(self.short()?);
        let octets = self.take(bits.div_ceil(8)).filter(|_| bits <= MAX_BITS)?;
        let zeros = octets.iter().take_while(|octet| **octet == 0).count();
        let significant = octets.get(zeros).map_or(0, |octet| octet.leading_zeros() as usize);
        Some(8 * (octets.len() - zeros) - significant)
    }

    /// Takes an octet and as many others as it says, and returns these.
    pub(super) fn sized(&mut self) -> Option<&'b [u8]> {
        let length = self.octet().filter(|length| (2..=254).contains(length))?;
        self.take(length.into())
    }

    /// Tells an integer's size, or that it is none.
    pub(super) fn tell_integer(&mut self) -> Option<()> {
        let bits = self.integer();
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

    /// Tells octets in upper-case hexadecimal digits.
    pub(super) fn hex(&mut self, octets: &[u8]) {
        crate::render::digits::hex(octets, self.out);
    }
}
