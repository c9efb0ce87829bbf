//! Reads the fields of a secret part, and writes numbers.

use zeroize::Zeroizing;

/// The unread bytes of a key or of an encrypted session key.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    /// Reads this number of bytes; `None` if there are fewer, as all methods.
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    /// Reads a length byte and as many bytes.
    pub fn counted(&mut self) -> Option<&'a [u8]> {
        let count = self.u8()?;
        self.take(count.into())
    }

    /// Reads a multiprecision integer as it stands, with the zeros before it: the points and secrets of Ed448 and X448 keys
    /// in the form of LibrePGP are written so, though they are no numbers.
    pub fn octets(&mut self) -> Option<&'a [u8]> {
        let bits = self.array().map(u16::from_be_bytes)?;
        self.take(usize::from(bits).div_ceil(8))
    }

    /// Reads a multiprecision integer (RFC 9580, 3.2), and returns it without the leading zeros that other programs write.
    pub fn number(&mut self) -> Option<&'a [u8]> {
        let number = self.octets()?;
        let zeros = number.iter().take_while(|byte| **byte == 0).count();
        Some(&number[zeros..])
    }

    /// Reads `N` multiprecision integers, after which nothing may follow.
    pub(crate) fn numbers<const N: usize>(mut self) -> Option<[&'a [u8]; N]> {
        let numbers: Vec<_> = (0..N).map_while(|_| self.number()).collect();
        numbers.try_into().ok().filter(|_| self.0.is_empty())
    }
}

/// Writes a multiprecision integer (RFC 9580, 3.2), without leading zeros.
pub fn write_number(bytes: &[u8]) -> Zeroizing<Vec<u8>> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let number = &bytes[zeros..];
    let bits = number.first().map_or(0, |first| number.len() * 8 - first.leading_zeros() as usize);
    let mut written = Zeroizing::new(Vec::with_capacity(number.len() + 2));
    written.extend((bits as u16).to_be_bytes());
    written.extend_from_slice(number);
    written
}

/// Writes bytes as GnuPG writes those that are no number in the place of one: the bits of zeros before them are counted.
pub fn write_octets(bytes: &[u8]) -> Zeroizing<Vec<u8>> {
    let unused = bytes.first().filter(|first| **first != 0).map_or(0, |first| first.leading_zeros());
    let bits = bytes.len() * 8 - unused as usize;
    let mut written = Zeroizing::new(Vec::with_capacity(bytes.len() + 2));
    written.extend((bits as u16).to_be_bytes());
    written.extend_from_slice(bytes);
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_written_without_zeros_before_it_and_read_again() {
        for (bytes, written) in [
            (&[][..], &[0, 0][..]),
            (&[0, 0], &[0, 0]),
            (&[0, 1, 2], &[0, 9, 1, 2]),
            (&[0x80], &[0, 8, 0x80]),
        ] {
            assert_eq!(*write_number(bytes), written);
            assert_eq!(Fields(written).number(), Some(&written[2..]));
        }
    }

    #[test]
    fn octets_keep_the_zeros_before_them() {
        for (bytes, written) in
            [(&[][..], &[0, 0][..]), (&[0, 1], &[0, 16, 0, 1]), (&[1, 0], &[0, 9, 1, 0]), (&[0], &[0, 8, 0])]
        {
            assert_eq!(*write_octets(bytes), written);
            assert_eq!(Fields(written).octets(), Some(bytes));
        }
        assert_eq!(Fields(&[0, 17, 0, 0]).octets(), None);
    }

    #[test]
    fn a_number_is_read_without_zeros_before_it() {
        for written in [&[0, 9, 1, 2][..], &[0, 16, 1, 2], &[0, 32, 0, 0, 1, 2]] {
            let mut fields = Fields(written);
            assert_eq!((fields.number(), fields.0), (Some(&[1, 2][..]), &[][..]));
        }
        assert_eq!(Fields(&[0, 16, 0, 0]).number(), Some(&[][..]));
        assert_eq!(Fields(&[0, 17, 0, 0]).number(), None);
    }
}
