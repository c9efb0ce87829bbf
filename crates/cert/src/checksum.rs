//! The 24-bit checksum of ASCII armor (RFC 9580, 6.1.1).

/// A checksum that is being computed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checksum(u32);

impl Default for Checksum {
    fn default() -> Self {
        Self(0x00b7_04ce)
    }
}

/// The number of bytes that are added at a time.
const SLICES: usize = 8;

/// The contribution of a byte to the checksum, by the number of bytes that follow it and its value.
static TABLES: [[u32; 256]; SLICES] = tables();

const fn tables() -> [[u32; 256]; SLICES] {
    let mut tables = [[0; 256]; SLICES];
    let mut byte = 0;
    while byte < 256 {
        let mut value = (byte as u32) << 16;
        let mut slice = 0;
        while slice < SLICES {
            value = shift_byte(value);
            tables[slice][byte] = value;
            slice += 1;
        }
        byte += 1;
    }
    tables
}

const fn shift_byte(mut value: u32) -> u32 {
    let mut bit = 0;
    while bit < 8 {
        value <<= 1;
        if value & 0x0100_0000 != 0 {
            value ^= 0x0186_4cfb;
        }
        bit += 1;
    }
    value
}

impl Checksum {
    /// Adds bytes.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        let (chunks, rest) = bytes.as_chunks::<SLICES>();
        for chunk in chunks {
            let mut mixed = *chunk;
            mixed.iter_mut().zip(self.bytes()).for_each(|(byte, state)| *byte ^= state);
            let parts = mixed.iter().enumerate();
            self.0 = parts.fold(0, |sum, (i, &byte)| sum ^ TABLES[SLICES - 1 - i][usize::from(byte)]);
        }
        for &byte in rest {
            let index = (self.0 >> 16) as u8 ^ byte;
            self.0 = (self.0 << 8) & 0x00ff_ffff ^ TABLES[0][usize::from(index)];
        }
    }

    /// Returns the checksum's bytes.
    pub(crate) fn bytes(self) -> [u8; 3] {
        let [_, a, b, c] = self.0.to_be_bytes();
        [a, b, c]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_one_of_rfc_9580() {
        let mut checksum = Checksum::default();
        checksum.add(b"123456789");
        assert_eq!(checksum.bytes(), [0x21, 0xcf, 0x02]);
    }

    #[test]
    fn it_does_not_matter_how_the_bytes_are_cut() {
        let bytes: Vec<u8> = (0..=255).collect();
        let mut whole = Checksum::default();
        whole.add(&bytes);
        for size in [1, 3, 7, 8, 9, 100] {
            let mut cut = Checksum::default();
            bytes.chunks(size).for_each(|chunk| cut.add(chunk));
            assert_eq!(cut.bytes(), whole.bytes());
        }
    }
}
