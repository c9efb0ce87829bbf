//! Triple-DES (FIPS 46-3) with lookup tables.
//!
//! RustCrypto's implementation takes two and a half times as long as GnuPG's, and OpenSSL's cannot decrypt blocks in
//! parallel. Here each table combines an S-box with the permutation that follows it.

use cipher::Array;
use cipher::consts::U8;
use zeroize::Zeroize;

use crate::table_cipher::TableCipher;

/// The subkeys of a round: for S-boxes 2, 4, 6, 8, and for 1, 3, 5, 7, each of six bits in a byte.
type RoundKey = [u32; 2];

/// The key schedule of Triple-DES.
pub(crate) struct TripleDes {
    /// The subkeys of the three passes; the second pass decrypts.
    passes: [[RoundKey; 16]; 3],
}

impl TripleDes {
    /// Takes a key.
    pub(crate) fn new(key: &[u8; 24]) -> Self {
        let single_key =
            |start: usize| u64::from_be_bytes(key[start..start + 8].try_into().expect("8 bytes"));
        let mut passes = [0, 8, 16].map(|start| schedule(single_key(start)));
        passes[1].reverse();
        Self { passes }
    }
}

impl Drop for TripleDes {
    fn drop(&mut self) {
        self.passes.as_flattened_mut().as_flattened_mut().zeroize();
    }
}

impl TableCipher for TripleDes {
    type Size = U8;

    #[inline(always)]
    fn encrypt<const N: usize>(&self, blocks: [Block; N]) -> [Block; N] {
        let mut blocks = blocks.map(initial);
        for pass in &self.passes {
            for keys in pass.as_chunks::<2>().0 {
                for [left, right] in &mut blocks {
                    *left ^= round(*right, keys[0]);
                }
                for [left, right] in &mut blocks {
                    *right ^= round(*left, keys[1]);
                }
            }
            for block in &mut blocks {
                block.swap(0, 1);
            }
        }
        blocks.map(last)
    }
}

type Block = Array<u8, U8>;

#[inline(always)]
fn round(half: u32, keys: RoundKey) -> u32 {
    let contribution = |s_box: usize, word: u32, shift: u32| ROUND[s_box][usize::from((word >> shift) as u8)];
    let (even, odd) = (half ^ keys[0], (half ^ keys[1]).rotate_right(4));
    let even = contribution(7, even, 0)
        ^ contribution(5, even, 8)
        ^ contribution(3, even, 16)
        ^ contribution(1, even, 24);
    even ^ contribution(6, odd, 0)
        ^ contribution(4, odd, 8)
        ^ contribution(2, odd, 16)
        ^ contribution(0, odd, 24)
}

/// Swaps the bits of `low` in `mask` with the bits of `high` that are `shift` positions higher.
#[inline(always)]
fn exchange(high: &mut u32, low: &mut u32, shift: u32, mask: u32) {
    let difference = (*high >> shift ^ *low) & mask;
    *low ^= difference;
    *high ^= difference << shift;
}

/// Applies the initial permutation, and rotates both halves so that the six bits of each S-box are adjacent.
#[inline(always)]
fn initial(block: Block) -> [u32; 2] {
    let words = block.as_chunks::<4>().0;
    let (mut left, mut right) = (u32::from_be_bytes(words[0]), u32::from_be_bytes(words[1]));
    exchange(&mut left, &mut right, 4, 0x0f0f0f0f);
    exchange(&mut left, &mut right, 16, 0x0000ffff);
    exchange(&mut right, &mut left, 2, 0x33333333);
    exchange(&mut right, &mut left, 8, 0x00ff00ff);
    exchange(&mut left, &mut right, 1, 0x55555555);
    [left.rotate_left(1), right.rotate_left(1)]
}

/// Applies the final permutation, the inverse of [`initial`].
#[inline(always)]
fn last([left, right]: [u32; 2]) -> Block {
    let (mut left, mut right) = (left.rotate_right(1), right.rotate_right(1));
    exchange(&mut left, &mut right, 1, 0x55555555);
    exchange(&mut right, &mut left, 8, 0x00ff00ff);
    exchange(&mut right, &mut left, 2, 0x33333333);
    exchange(&mut left, &mut right, 16, 0x0000ffff);
    exchange(&mut left, &mut right, 4, 0x0f0f0f0f);
    (u64::from(left) << 32 | u64::from(right)).to_be_bytes().into()
}

/// Returns the round keys of a pass that encrypts (FIPS 46-3, appendix 1).
fn schedule(key: u64) -> [RoundKey; 16] {
    const ROTATIONS: [u32; 16] = [1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1];
    let chosen = permuted(key, 64, &PERMUTED_CHOICE_1);
    let (mut c, mut d) = (chosen >> 28, chosen & HALF);
    const HALF: u64 = (1 << 28) - 1;
    ROTATIONS.map(|count| {
        [c, d] = [c, d].map(|half| (half << count | half >> (28 - count)) & HALF);
        let chosen = permuted(c << 28 | d, 56, &PERMUTED_CHOICE_2);
        let six = |s_box: u32| (chosen >> (42 - 6 * s_box)) as u32 & 0x3f;
        let even = six(1) << 24 | six(3) << 16 | six(5) << 8 | six(7);
        let odd = six(0) << 24 | six(2) << 16 | six(4) << 8 | six(6);
        // `round` rotates the odd part back.
        [even, odd.rotate_left(4)]
    })
}

/// Takes bits of a word of `width` bits, counted from 1 at its highest, as the standard counts them.
const fn permuted(word: u64, width: u8, table: &[u8]) -> u64 {
    let (mut result, mut index) = (0, 0);
    while index < table.len() {
        result = result << 1 | word >> (width - table[index]) & 1;
        index += 1;
    }
    result
}

/// What each S-box contributes to a round: by its six bits and two that are none of its own, in the rotated order.
static ROUND: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut s_box = 0;
    while s_box < 8 {
        let mut byte = 0;
        while byte < 256 {
            let row = byte >> 4 & 2 | byte & 1;
            let substituted = S_BOXES[s_box][row][byte >> 1 & 15] as u64;
            let permuted = permuted(substituted << (28 - 4 * s_box), 32, &PERMUTATION);
            tables[s_box][byte] = (permuted as u32).rotate_left(1);
            byte += 1;
        }
        s_box += 1;
    }
    tables
}

#[rustfmt::skip]
const PERMUTED_CHOICE_1: [u8; 56] = [
    57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44, 36,
    63, 55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20, 12, 4,
];

#[rustfmt::skip]
const PERMUTED_CHOICE_2: [u8; 48] = [
    14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2,
    41, 52, 31, 37, 47, 55, 30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
];

#[rustfmt::skip]
const PERMUTATION: [u8; 32] = [
    16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10,
    2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6, 22, 11, 4, 25,
];

const S_BOXES: [[[u8; 16]; 4]; 8] = [
    [
        [14, 4, 13, 1, 2, 15, 11, 8, 3, 10, 6, 12, 5, 9, 0, 7],
        [0, 15, 7, 4, 14, 2, 13, 1, 10, 6, 12, 11, 9, 5, 3, 8],
        [4, 1, 14, 8, 13, 6, 2, 11, 15, 12, 9, 7, 3, 10, 5, 0],
        [15, 12, 8, 2, 4, 9, 1, 7, 5, 11, 3, 14, 10, 0, 6, 13],
    ],
    [
        [15, 1, 8, 14, 6, 11, 3, 4, 9, 7, 2, 13, 12, 0, 5, 10],
        [3, 13, 4, 7, 15, 2, 8, 14, 12, 0, 1, 10, 6, 9, 11, 5],
        [0, 14, 7, 11, 10, 4, 13, 1, 5, 8, 12, 6, 9, 3, 2, 15],
        [13, 8, 10, 1, 3, 15, 4, 2, 11, 6, 7, 12, 0, 5, 14, 9],
    ],
    [
        [10, 0, 9, 14, 6, 3, 15, 5, 1, 13, 12, 7, 11, 4, 2, 8],
        [13, 7, 0, 9, 3, 4, 6, 10, 2, 8, 5, 14, 12, 11, 15, 1],
        [13, 6, 4, 9, 8, 15, 3, 0, 11, 1, 2, 12, 5, 10, 14, 7],
        [1, 10, 13, 0, 6, 9, 8, 7, 4, 15, 14, 3, 11, 5, 2, 12],
    ],
    [
        [7, 13, 14, 3, 0, 6, 9, 10, 1, 2, 8, 5, 11, 12, 4, 15],
        [13, 8, 11, 5, 6, 15, 0, 3, 4, 7, 2, 12, 1, 10, 14, 9],
        [10, 6, 9, 0, 12, 11, 7, 13, 15, 1, 3, 14, 5, 2, 8, 4],
        [3, 15, 0, 6, 10, 1, 13, 8, 9, 4, 5, 11, 12, 7, 2, 14],
    ],
    [
        [2, 12, 4, 1, 7, 10, 11, 6, 8, 5, 3, 15, 13, 0, 14, 9],
        [14, 11, 2, 12, 4, 7, 13, 1, 5, 0, 15, 10, 3, 9, 8, 6],
        [4, 2, 1, 11, 10, 13, 7, 8, 15, 9, 12, 5, 6, 3, 0, 14],
        [11, 8, 12, 7, 1, 14, 2, 13, 6, 15, 0, 9, 10, 4, 5, 3],
    ],
    [
        [12, 1, 10, 15, 9, 2, 6, 8, 0, 13, 3, 4, 14, 7, 5, 11],
        [10, 15, 4, 2, 7, 12, 9, 5, 6, 1, 13, 14, 0, 11, 3, 8],
        [9, 14, 15, 5, 2, 8, 12, 3, 7, 0, 4, 10, 1, 13, 11, 6],
        [4, 3, 2, 12, 9, 5, 15, 10, 11, 14, 1, 7, 6, 0, 8, 13],
    ],
    [
        [4, 11, 2, 14, 15, 0, 8, 13, 3, 12, 9, 7, 5, 10, 6, 1],
        [13, 0, 11, 7, 4, 9, 1, 10, 14, 3, 5, 12, 2, 15, 8, 6],
        [1, 4, 11, 13, 12, 3, 7, 14, 10, 15, 6, 8, 0, 5, 9, 2],
        [6, 11, 13, 8, 1, 4, 10, 7, 9, 5, 0, 15, 14, 2, 3, 12],
    ],
    [
        [13, 2, 8, 4, 6, 15, 11, 1, 10, 9, 3, 14, 5, 0, 12, 7],
        [1, 15, 13, 8, 10, 3, 7, 4, 12, 5, 6, 11, 0, 14, 9, 2],
        [7, 11, 4, 1, 9, 12, 14, 2, 0, 6, 10, 13, 15, 3, 5, 8],
        [2, 1, 14, 7, 4, 10, 8, 13, 15, 12, 9, 0, 3, 5, 6, 11],
    ],
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table_cipher::BlockCipher;
    use cipher::BlockCipherEncrypt;

    #[test]
    fn three_times_the_same_key_is_des_of_which_there_is_a_known_vector() {
        let key = 0x133457799bbcdff1u64.to_be_bytes().repeat(3).try_into().expect("24 bytes");
        let mut block = Block::from(0x0123456789abcdefu64.to_be_bytes());
        BlockCipher(TripleDes::new(&key)).encrypt_block(&mut block);
        assert_eq!(block.0, 0x85e813540f0ab405u64.to_be_bytes());
    }
}
