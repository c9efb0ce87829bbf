//! Twofish with a key of 256 bits and lookup tables that depend on the key.
//!
//! RustCrypto's implementation computes the content of these tables for each block and takes 80 times as long as
//! GnuPG's; OpenSSL has no Twofish. This implementation follows the paper (Schneier and others: Twofish: A 128-Bit
//! Block Cipher, 1998) with "full keying": the key-dependent S-boxes and the MDS matrix in four tables of 256 words.
//!
//! As in libgcrypt, which addresses of these tables are read depends on the key and the data, so that a program on the
//! same processor could learn of them through its caches.

use zeroize::Zeroize;

/// The key schedule of Twofish.
pub(crate) struct Twofish {
    /// What each byte of a word contributes to the function g.
    tables: Box<[[u32; 256]; 4]>,
    round_keys: [u32; 40],
}

impl Twofish {
    /// Takes a key.
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        let words: Vec<[u8; 4]> = key.as_chunks::<4>().0.to_vec();
        let even = [words[0], words[2], words[4], words[6]];
        let odd = [words[1], words[3], words[5], words[7]];
        let mut round_keys = [0; 40];
        for (index, pair) in (0u8..).zip(round_keys.as_chunks_mut::<2>().0) {
            let a = h([2 * index; 4], &even);
            let b = h([2 * index + 1; 4], &odd).rotate_left(8);
            *pair = [a.wrapping_add(b), a.wrapping_add(b.wrapping_mul(2)).rotate_left(9)];
        }
        let mut boxes: [[u8; 4]; 4] =
            std::array::from_fn(|index| reed_solomon(&key[8 * index..8 * index + 8]));
        boxes.reverse();
        let mut tables = Box::new([[0; 256]; 4]);
        for (index, table) in tables.iter_mut().enumerate() {
            for (byte, word) in (0..=255).zip(table) {
                *word = mds_column(index, substitute(index, byte, &boxes));
            }
        }
        Self { tables, round_keys }
    }
}

impl Drop for Twofish {
    fn drop(&mut self) {
        self.tables.iter_mut().for_each(|table| table.zeroize());
        self.round_keys.zeroize();
    }
}

type Block = [u8; 16];

impl Twofish {
    /// Encrypts whole blocks in place, each by itself (ECB).
    ///
    /// # Panics
    ///
    /// If `blocks` are not whole blocks.
    pub(crate) fn encrypt_ecb(&self, blocks: &mut [u8]) {
        // Several blocks round by round, which uses the processor better than one block alone.
        let (eights, rest) = whole(blocks).as_chunks_mut::<8>();
        eights.iter_mut().for_each(|eight| *eight = self.encrypt(*eight));
        rest.iter_mut().for_each(|block| [*block] = self.encrypt([*block]));
    }

    /// Encrypts whole blocks in place, each added to the encrypted one before it (CBC), at first to `chain`, which is
    /// set to the last one.
    ///
    /// # Panics
    ///
    /// If `blocks` are not whole blocks.
    pub(crate) fn encrypt_cbc(&self, chain: &mut Block, blocks: &mut [u8]) {
        for block in whole(blocks) {
            let sum = u128::from_ne_bytes(*chain) ^ u128::from_ne_bytes(*block);
            [*chain] = self.encrypt([sum.to_ne_bytes()]);
            *block = *chain;
        }
    }

    #[inline(always)]
    fn encrypt<const N: usize>(&self, blocks: [Block; N]) -> [Block; N] {
        let (whitening, rounds) = self.round_keys.split_at(8);
        let mut blocks = blocks.map(load);
        for block in &mut blocks {
            block.iter_mut().zip(&whitening[..4]).for_each(|(word, key)| *word ^= key);
        }
        for keys in rounds.as_chunks::<4>().0 {
            for block in &mut blocks {
                let [a, b, c, d] = *block;
                let (c, d) = self.round(a, b, c, d, keys[0], keys[1]);
                let (a, b) = self.round(c, d, a, b, keys[2], keys[3]);
                *block = [a, b, c, d];
            }
        }
        let key = &whitening[4..];
        blocks.map(|[a, b, c, d]| store([c ^ key[0], d ^ key[1], a ^ key[2], b ^ key[3]]))
    }

    #[inline(always)]
    fn g(&self, word: u32) -> u32 {
        let [a, b, c, d] = word.to_le_bytes().map(usize::from);
        self.tables[0][a] ^ self.tables[1][b] ^ self.tables[2][c] ^ self.tables[3][d]
    }

    #[inline(always)]
    fn round(&self, a: u32, b: u32, c: u32, d: u32, first: u32, second: u32) -> (u32, u32) {
        let (x, y) = (self.g(a), self.g(b.rotate_left(8)));
        let sum = x.wrapping_add(y);
        let c = (c ^ sum.wrapping_add(first)).rotate_right(1);
        let d = d.rotate_left(1) ^ sum.wrapping_add(y).wrapping_add(second);
        (c, d)
    }
}

fn whole(blocks: &mut [u8]) -> &mut [Block] {
    let (blocks, rest) = blocks.as_chunks_mut();
    assert!(rest.is_empty(), "whole blocks");
    blocks
}

#[inline(always)]
fn load(block: Block) -> [u32; 4] {
    let words = block.as_chunks::<4>().0;
    std::array::from_fn(|index| u32::from_le_bytes(words[index]))
}

#[inline(always)]
fn store(words: [u32; 4]) -> Block {
    let mut block = [0; 16];
    for (bytes, word) in block.as_chunks_mut::<4>().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
    block
}

/// The paper's function h: four bytes through S-boxes with the words of `list`, then the MDS matrix.
fn h(bytes: [u8; 4], list: &[[u8; 4]; 4]) -> u32 {
    (0..4).fold(0, |word, index| word ^ mds_column(index, substitute(index, bytes[index], list)))
}

/// Which of the permutations q0 and q1 a byte passes, by its index in the word; the last one comes first.
const PERMUTATIONS: [[usize; 5]; 4] = [[1, 0, 0, 1, 1], [0, 0, 1, 1, 0], [1, 1, 0, 0, 0], [0, 1, 1, 0, 1]];

fn substitute(index: usize, byte: u8, list: &[[u8; 4]; 4]) -> u8 {
    let [last, rest @ ..] = PERMUTATIONS[index];
    let keyed = (0..4).rev().fold(byte, |byte, round| q(rest[round], byte) ^ list[round][index]);
    q(last, keyed)
}

/// The permutations q0 and q1 in the paper's form: four tables of 16 nibbles each.
const NIBBLES: [[[u8; 16]; 4]; 2] = [
    [
        [0x8, 0x1, 0x7, 0xd, 0x6, 0xf, 0x3, 0x2, 0x0, 0xb, 0x5, 0x9, 0xe, 0xc, 0xa, 0x4],
        [0xe, 0xc, 0xb, 0x8, 0x1, 0x2, 0x3, 0x5, 0xf, 0x4, 0xa, 0x6, 0x7, 0x0, 0x9, 0xd],
        [0xb, 0xa, 0x5, 0xe, 0x6, 0xd, 0x9, 0x0, 0xc, 0x8, 0xf, 0x3, 0x2, 0x4, 0x7, 0x1],
        [0xd, 0x7, 0xf, 0x4, 0x1, 0x2, 0x6, 0xe, 0x9, 0xb, 0x3, 0x0, 0x8, 0x5, 0xc, 0xa],
    ],
    [
        [0x2, 0x8, 0xb, 0xd, 0xf, 0x7, 0x6, 0xe, 0x3, 0x1, 0x9, 0x4, 0x0, 0xa, 0xc, 0x5],
        [0x1, 0xe, 0x2, 0xb, 0x4, 0xc, 0x3, 0x7, 0x6, 0xd, 0xa, 0x5, 0xf, 0x9, 0x0, 0x8],
        [0x4, 0xc, 0x7, 0x5, 0x1, 0x6, 0x9, 0xa, 0x0, 0xe, 0xd, 0x8, 0x2, 0xb, 0x3, 0xf],
        [0xb, 0x9, 0x5, 0x1, 0xc, 0x3, 0xd, 0xe, 0x6, 0x4, 0x7, 0xf, 0x2, 0x0, 0x8, 0xa],
    ],
];

fn q(which: usize, byte: u8) -> u8 {
    let tables = &NIBBLES[which];
    let mix = |a: u8, b: u8| (a ^ b, a ^ (b >> 1 | (b & 1) << 3) ^ (a & 1) << 3);
    let (a, b) = mix(byte >> 4, byte & 15);
    let (a, b) = mix(tables[0][usize::from(a)], tables[1][usize::from(b)]);
    tables[3][usize::from(b)] << 4 | tables[2][usize::from(a)]
}

const MDS: [[u8; 4]; 4] =
    [[0x01, 0xef, 0x5b, 0x5b], [0x5b, 0xef, 0xef, 0x01], [0xef, 0x5b, 0x01, 0xef], [0xef, 0x01, 0xef, 0x5b]];

/// Returns what a byte at `index` of a word contributes to the product with the MDS matrix.
fn mds_column(index: usize, byte: u8) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|row| product(MDS[row][index], byte, 0x169)))
}

const REED_SOLOMON: [[u8; 8]; 4] = [
    [0x01, 0xa4, 0x55, 0x87, 0x5a, 0x58, 0xdb, 0x9e],
    [0xa4, 0x56, 0x82, 0xf3, 0x1e, 0xc6, 0x68, 0xe5],
    [0x02, 0xa1, 0xfc, 0xc1, 0x47, 0xae, 0x3d, 0x19],
    [0xa4, 0x55, 0x87, 0x5a, 0x58, 0xdb, 0x9e, 0x03],
];

fn reed_solomon(key: &[u8]) -> [u8; 4] {
    REED_SOLOMON.map(|row| row.iter().zip(key).fold(0, |sum, (&a, &b)| sum ^ product(a, b, 0x14d)))
}

/// Returns the product in the field of 256 elements that `polynomial` defines.
fn product(a: u8, b: u8, polynomial: u16) -> u8 {
    let mut a = u16::from(a);
    let mut sum = 0;
    for bit in 0..8 {
        if b >> bit & 1 == 1 {
            sum ^= a;
        }
        a = if a & 0x80 == 0 { a << 1 } else { a << 1 ^ polynomial };
    }
    sum as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::twofish::Twofish as Reference;
    use ::twofish::cipher::{BlockCipherEncrypt, KeyInit};

    #[test]
    fn the_papers_vector_for_256_bits_holds() {
        let key = *b"\x01\x23\x45\x67\x89\xab\xcd\xef\xfe\xdc\xba\x98\x76\x54\x32\x10\
                     \x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff";
        let mut block = [0; 16];
        Twofish::new(&key).encrypt_ecb(&mut block);
        assert_eq!(u128::from_be_bytes(block), 0x37527be0_052334b8_9f0cfcca_e87cfa20);
    }

    #[test]
    fn it_agrees_with_another_implementation_one_block_or_many() {
        for seed in 0..64 {
            let key: [u8; 32] = std::array::from_fn(|index| (index * index * 29) as u8 ^ seed);
            let blocks: [Block; 11] = std::array::from_fn(|block| {
                std::array::from_fn(|index| (block * 53 + index * 7) as u8 ^ seed)
            });
            let (ours, reference) = (Twofish::new(&key), Reference::new(&key.into()));
            let mut together = blocks;
            ours.encrypt_ecb(together.as_flattened_mut());
            let (mut chained, mut chain) = (blocks, [9; 16]);
            ours.encrypt_cbc(&mut chain, chained.as_flattened_mut());
            assert_eq!(chain, chained[10]);
            let mut before = [9; 16];
            for (index, block) in blocks.iter().enumerate() {
                let mut expected = (*block).into();
                reference.encrypt_block(&mut expected);
                assert_eq!(together[index], *expected);
                let mut expected = std::array::from_fn(|byte| block[byte] ^ before[byte]).into();
                reference.encrypt_block(&mut expected);
                assert_eq!(chained[index], *expected);
                before = chained[index];
            }
        }
    }
}
