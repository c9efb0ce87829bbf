//! Padding packets (RFC 9580, 5.14), which hide how long content is.

use std::io::{self, Write};

use cert::packet::Tag;

use crate::{Error, Result};

/// The length of a packet's header with a length of four bytes.
const HEADER: u64 = 6;
/// The most random bytes that are made at a time.
const PIECE: usize = 64 << 10;

/// Counts the bytes that are written.
pub(crate) struct Counted<'a> {
    out: &'a mut dyn Write,
    count: u64,
}

impl<'a> Counted<'a> {
    pub(crate) fn new(out: &'a mut dyn Write) -> Self {
        Self { out, count: 0 }
    }

    /// Writes a packet of random bytes, so that the length of everything is one of few.
    pub(crate) fn pad(self) -> Result<()> {
        let length = self.count.saturating_add(HEADER);
        let filling = u32::try_from(padded(length) - length).unwrap_or(u32::MAX);
        let mut header = vec![0xc0 | Tag::PADDING.0, 0xff];
        header.extend(filling.to_be_bytes());
        self.out.write_all(&header).map_err(Error::writing)?;
        let mut left = filling as usize;
        let mut piece = vec![0; left.min(PIECE)];
        while left > 0 {
            let piece = &mut piece[..left.min(PIECE)];
            getrandom::fill(piece).map_err(|_| Error::Random)?;
            self.out.write_all(piece).map_err(Error::writing)?;
            left -= piece.len();
        }
        Ok(())
    }
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.count += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Rounds a length up, by at most an eighth, so that of it only as many bits are seen as its own length in bits has
/// (Padmé; RFC 9580, 13.11).
fn padded(length: u64) -> u64 {
    let exponent = length.max(2).ilog2();
    let zeros = exponent - (exponent.ilog2() + 1).min(exponent);
    let mask = (1 << zeros) - 1;
    length.checked_add(mask).map_or(length, |sum| sum & !mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_rounded_up_to_few_by_at_most_an_eighth() {
        for (length, expected) in
            [(0, 0), (1, 1), (6, 6), (9, 10), (100, 104), (1000, 1024), (100_000, 100_352)]
        {
            assert_eq!(padded(length), expected, "{length}");
        }
        let mut lengths: Vec<u64> = (0..100_000).map(padded).collect();
        assert!(
            lengths
                .iter()
                .zip(0..)
                .all(|(padded, length)| *padded >= length && padded - length <= length / 8)
        );
        lengths.dedup();
        assert!(lengths.len() < 200, "{}", lengths.len());
        assert_eq!(padded(u64::MAX), u64::MAX);
    }

    #[test]
    fn everything_with_its_padding_has_the_padded_length() {
        for length in [0, 1, 5, 1000, 300_000] {
            let mut out = Vec::new();
            let mut counted = Counted::new(&mut out);
            counted.write_all(&vec![7; length]).expect("memory");
            counted.pad().expect("random numbers");
            assert_eq!(out.len() as u64, padded(length as u64 + HEADER));
        }
    }
}
