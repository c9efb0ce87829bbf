//! Reads the fields of a packet's body in order.

use crate::error::Flaw;

/// The most bits of a number (GnuPG's `MAX_EXTERN_MPI_BITS`).
const MAX_NUMBER_BITS: u16 = 16384;

/// The unread bytes of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
    /// The kind of the packet, for errors.
    what: &'static str,
}

/// A multiprecision integer (RFC 9580, 3.2), without leading zeros, or a point that is written as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number<'a> {
    /// The bytes, of a number the most significant one first; none for zero.
    pub(crate) bytes: &'a [u8],
}

impl Number<'_> {
    /// Returns the size of the number in bits.
    pub(crate) fn bits(self) -> u32 {
        self.bytes.first().map_or(0, |first| self.bytes.len() as u32 * 8 - first.leading_zeros())
    }
}

impl<'a> Fields<'a> {
    pub(crate) fn new(body: &'a [u8], what: &'static str) -> Self {
        Self { rest: body, what }
    }

    /// Returns the bytes that were not read yet.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], Flaw> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Flaw::CutShort(self.what))?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Flaw> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(Flaw::CutShort(self.what))?;
        self.rest = rest;
        Ok(*taken)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Flaw> {
        self.array().map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Flaw> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Flaw> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Flaw> {
        self.array().map(u64::from_be_bytes)
    }

    /// Reads a length byte and as many bytes.
    pub(crate) fn counted(&mut self) -> Result<&'a [u8], Flaw> {
        let count = self.u8()?;
        self.take(count.into())
    }

    /// Reads a number as it stands, with the zeros before it: GnuPG writes the points of curves as numbers.
    pub(crate) fn octets(&mut self) -> Result<Number<'a>, Flaw> {
        let bits = self.u16()?;
        if bits > MAX_NUMBER_BITS {
            return Err(Flaw::NumberTooLarge(bits));
        }
        self.take(usize::from(bits).div_ceil(8)).map(|bytes| Number { bytes })
    }

    pub(crate) fn number(&mut self) -> Result<Number<'a>, Flaw> {
        let Number { bytes } = self.octets()?;
        let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
        Ok(Number { bytes: &bytes[zeros..] })
    }

    /// Ends reading; returns an error if there are unread bytes.
    pub(crate) fn finish(self) -> Result<(), Flaw> {
        if self.rest.is_empty() { Ok(()) } else { Err(Flaw::Overlong(self.what)) }
    }
}
