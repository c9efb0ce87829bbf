//! The 24-bit checksum of ASCII armor (RFC 9580, 6.1.1).

/// A checksum being computed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checksum(u32);

impl Default for Checksum {
    fn default() -> Self {
        Self(0x00b7_04ce)
    }
}

/// How many octets are added at a time.
const SLICES: usize = 8;

/// What an octet does to the checksum when 0 to 7 octets follow it.
static TABLES: [[u32; 256]; SLICES] = tables();

const fn tables() -> [[u32; 256]; SLICES] {
    let mut tables = [[0; 256]; SLICES];
    let mut octet = 0;
    while octet < 256 {
        let mut value = (octet as u32) << 16;
        let mut slice = 0;
        while slice < SLICES {
            value = shift_octet(value);
            tables[slice][octet] = value;
            slice += 1;
        }
        octet += 1;
    }
    tables
}

const fn shift_octet(mut value: u32) -> u32 {
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
    /// Adds octets.
    pub(crate) fn add(&mut self, octets: &[u8]) {
        let (chunks, rest) = octets.as_chunks::<SLICES>();
        for chunk in chunks {
            let mut mixed = *chunk;
            mixed.iter_mut().zip(self.octets()).for_each(|(octet, state)| *octet ^= state);
            let parts = mixed.iter().enumerate();
            self.0 = parts.fold(0, |sum, (i, &octet)| sum ^ TABLES[SLICES - 1 - i][usize::from(octet)]);
        }
        for &octet in rest {
            let index = (self.0 >> 16) as u8 ^ octet;
            self.0 = (self.0 << 8) & 0x00ff_ffff ^ TABLES[0][usize::from(index)];
        }
    }

    /// Returns the checksum's octets.
    pub(crate) fn octets(self) -> [u8; 3] {
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
        assert_eq!(checksum.octets(), [0x21, 0xcf, 0x02]);
    }

    #[test]
    fn it_does_not_matter_how_the_octets_are_cut() {
        let octets: Vec<u8> = (0..=255).collect();
        let mut whole = Checksum::default();
        whole.add(&octets);
        for size in [1, 3, 7, 8, 9, 100] {
            let mut cut = Checksum::default();
            octets.chunks(size).for_each(|chunk| cut.add(chunk));
            assert_eq!(cut.octets(), whole.octets());
        }
    }
}
