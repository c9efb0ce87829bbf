//! The octets of a secret part, read one field after the other.

/// What is left.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array().map(|[octet]| octet)
    }

    /// Reads octets behind one octet that counts them.
    pub(crate) fn counted(&mut self) -> Option<&'a [u8]> {
        let count = self.u8()?;
        self.take(count.into())
    }
    /// Reads a number behind its bits (RFC 9580, 3.2).
    pub(crate) fn number(&mut self) -> Option<&'a [u8]> {
        let bits = self.array().map(u16::from_be_bytes)?;
        self.take(usize::from(bits).div_ceil(8))
    }
}
