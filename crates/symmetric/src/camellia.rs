//! Camellia (RFC 3713) with lookup tables for the round function, for cipher feedback.
//!
//! RustCrypto's implementation computes a round byte by byte and takes twice as long as GnuPG's; the build of OpenSSL
//! that the other libraries here use has no Camellia. This implementation looks up what each byte contributes to a
//! round, in eight tables of 256 words. Many blocks in parallel take a third of that time on processors with AVX-512
//! and GFNI (`camellia_avx512`).

use cipher::Array;
use cipher::consts::U16;
use zeroize::Zeroize;

use crate::table_cipher::TableCipher;

/// The key schedule of Camellia.
pub(crate) struct Camellia {
    pub(crate) whitening: [u64; 4],
    /// The round keys in groups of six rounds: three groups for keys of 128 bits, else four.
    pub(crate) rounds: Vec<[u64; 6]>,
    /// The keys of FL and its inverse, between the groups.
    pub(crate) fl_keys: Vec<[u64; 2]>,
}

impl Camellia {
    /// Takes a key of 16, 24 or 32 bytes.
    pub(crate) fn new(key: &[u8]) -> Self {
        let half =
            |range: std::ops::Range<usize>| u128::from_be_bytes(key[range].try_into().expect("16 bytes"));
        let left = half(0..16);
        let right = match key.len() {
            16 => 0,
            24 => {
                let rest = u64::from_be_bytes(key[16..].try_into().expect("8 bytes"));
                u128::from(rest) << 64 | u128::from(!rest)
            }
            _ => half(16..32),
        };
        let (a, b) = derive(left, right);
        if key.len() == 16 { Self::short(left, a) } else { Self::long(left, right, a, b) }
    }

    fn short(left: u128, a: u128) -> Self {
        let [k9, _] = halves(a, 45);
        let [_, k10] = halves(left, 60);
        Self {
            whitening: join(halves(left, 0), halves(a, 111)),
            rounds: vec![
                concatenate([halves(a, 0), halves(left, 15), halves(a, 15)]),
                concatenate([halves(left, 45), [k9, k10], halves(a, 60)]),
                concatenate([halves(left, 94), halves(a, 94), halves(left, 111)]),
            ],
            fl_keys: vec![halves(a, 30), halves(left, 77)],
        }
    }

    fn long(left: u128, right: u128, a: u128, b: u128) -> Self {
        Self {
            whitening: join(halves(left, 0), halves(b, 111)),
            rounds: vec![
                concatenate([halves(b, 0), halves(right, 15), halves(a, 15)]),
                concatenate([halves(b, 30), halves(left, 45), halves(a, 45)]),
                concatenate([halves(right, 60), halves(b, 60), halves(left, 77)]),
                concatenate([halves(right, 94), halves(a, 94), halves(left, 111)]),
            ],
            fl_keys: vec![halves(right, 30), halves(left, 60), halves(a, 77)],
        }
    }
}

impl Drop for Camellia {
    fn drop(&mut self) {
        self.whitening.zeroize();
        self.rounds.zeroize();
        self.fl_keys.zeroize();
    }
}

impl TableCipher for Camellia {
    type Size = U16;

    #[inline(always)]
    fn encrypt<const N: usize>(&self, blocks: [Block; N]) -> [Block; N] {
        let [first, second, third, fourth] = self.whitening;
        let mut blocks = blocks.map(|block| {
            let [left, right] = load(block);
            [left ^ first, right ^ second]
        });
        for (index, keys) in self.rounds.iter().enumerate() {
            for pair in keys.as_chunks::<2>().0 {
                for [left, right] in &mut blocks {
                    *right ^= f(*left ^ pair[0]);
                }
                for [left, right] in &mut blocks {
                    *left ^= f(*right ^ pair[1]);
                }
            }
            if let Some(&[left_key, right_key]) = self.fl_keys.get(index) {
                for [left, right] in &mut blocks {
                    *left = fl(*left, left_key);
                    *right = fl_inverse(*right, right_key);
                }
            }
        }
        blocks.map(|[left, right]| store([right ^ third, left ^ fourth]))
    }

    /// Computes the input of the next round beside the half that it becomes part of, which shortens the chain
    /// of dependent operations. Since both need the three partial sums, the compiler does not add up all eight terms in
    /// a row, which takes longer.
    #[inline(always)]
    fn encrypt_one(&self, block: Block) -> Block {
        let [first, second, third, fourth] = self.whitening;
        let [left, right] = load(block);
        let (mut left, mut right) = (left ^ first, right ^ second);
        for (index, keys) in self.rounds.iter().enumerate() {
            let mut input = left ^ keys[0];
            for at in [1, 3, 5] {
                let [a, b, c] = partial_sums(input);
                input = right ^ keys[at] ^ a ^ b ^ c;
                right = right ^ a ^ b ^ c;
                let [a, b, c] = partial_sums(input);
                if let Some(next) = keys.get(at + 1) {
                    input = left ^ next ^ a ^ b ^ c;
                }
                left = left ^ a ^ b ^ c;
            }
            if let Some(&[left_key, right_key]) = self.fl_keys.get(index) {
                left = fl(left, left_key);
                right = fl_inverse(right, right_key);
            }
        }
        store([right ^ third, left ^ fourth])
    }
}

pub(crate) type Block = Array<u8, U16>;

#[inline(always)]
fn load(block: Block) -> [u64; 2] {
    let words = block.as_chunks::<8>().0;
    [u64::from_be_bytes(words[0]), u64::from_be_bytes(words[1])]
}

#[inline(always)]
fn store(words: [u64; 2]) -> Block {
    let mut block = Block::default();
    for (bytes, word) in block.as_chunks_mut::<8>().0.iter_mut().zip(words) {
        *bytes = word.to_be_bytes();
    }
    block
}

const SIGMA: [u64; 6] = [
    0xa09e667f3bcc908b,
    0xb67ae8584caa73b2,
    0xc6ef372fe94f82be,
    0x54ff53a5f1d36f1c,
    0x10e527fade682d1d,
    0xb05688c2b3e6c1fd,
];

/// Returns KA and KB (RFC 3713, 2.2).
fn derive(left: u128, right: u128) -> (u128, u128) {
    let two_rounds = |value: u128, first: u64, second: u64| {
        let [mut left, mut right] = halves(value, 0);
        right ^= f(left ^ first);
        left ^= f(right ^ second);
        u128::from(left) << 64 | u128::from(right)
    };
    let a = two_rounds(two_rounds(left ^ right, SIGMA[0], SIGMA[1]) ^ left, SIGMA[2], SIGMA[3]);
    (a, two_rounds(a ^ right, SIGMA[4], SIGMA[5]))
}

fn halves(value: u128, rotation: u32) -> [u64; 2] {
    let value = value.rotate_left(rotation);
    [(value >> 64) as u64, value as u64]
}

fn join([a, b]: [u64; 2], [c, d]: [u64; 2]) -> [u64; 4] {
    [a, b, c, d]
}

fn concatenate([[a, b], [c, d], [e, f]]: [[u64; 2]; 3]) -> [u64; 6] {
    [a, b, c, d, e, f]
}

#[inline(always)]
fn fl(word: u64, key: u64) -> u64 {
    let word = word ^ left_to_right(word, key);
    word ^ right_to_left(word, key)
}

#[inline(always)]
fn fl_inverse(word: u64, key: u64) -> u64 {
    let word = word ^ right_to_left(word, key);
    word ^ left_to_right(word, key)
}

/// Returns what the left half of a word adds to the right half in FL.
#[inline(always)]
fn left_to_right(word: u64, key: u64) -> u64 {
    let left = ((word & key) >> 32) as u32;
    u64::from(left.rotate_left(1))
}

/// Returns what the right half of a word adds to the left half in FL.
#[inline(always)]
fn right_to_left(word: u64, key: u64) -> u64 {
    (word | key) << 32
}

/// Computes the round function of a word to which the round key was added.
#[inline(always)]
fn f(word: u64) -> u64 {
    let [a, b, c] = partial_sums(word);
    a ^ b ^ c
}

/// Returns three partial sums of the round function, over two, three and three bytes of the word.
#[inline(always)]
fn partial_sums(word: u64) -> [u64; 3] {
    let contribution = |index: usize| ROUND[index][usize::from((word >> (56 - 8 * index)) as u8)];
    [
        contribution(0) ^ contribution(7),
        contribution(1) ^ contribution(2) ^ contribution(3),
        contribution(4) ^ contribution(5) ^ contribution(6),
    ]
}

/// What each byte of a word contributes to the round function, by its index in the word and its value.
static ROUND: [[u64; 256]; 8] = tables();

const fn tables() -> [[u64; 256]; 8] {
    // For each byte of the word: its S-box, and the bytes of the result that depend on it (RFC 3713, 2.4.1).
    const S_BOX_AND_MASK: [(u32, u64); 8] = [
        (1, 0xffffff00ff0000ff),
        (2, 0x00ffffffffff0000),
        (3, 0xff00ffff00ffff00),
        (4, 0xffff00ff0000ffff),
        (2, 0x00ffffff00ffffff),
        (3, 0xff00ffffff00ffff),
        (4, 0xffff00ffffff00ff),
        (1, 0xffffff00ffffff00),
    ];
    let mut tables = [[0; 256]; 8];
    let mut index = 0;
    while index < 8 {
        let (s_box, mask) = S_BOX_AND_MASK[index];
        let mut byte = 0;
        while byte < 256 {
            let substituted = match s_box {
                1 => S_BOX[byte],
                2 => S_BOX[byte].rotate_left(1),
                3 => S_BOX[byte].rotate_left(7),
                _ => S_BOX[(byte as u8).rotate_left(1) as usize],
            };
            tables[index][byte] = mask & (substituted as u64).wrapping_mul(0x0101010101010101);
            byte += 1;
        }
        index += 1;
    }
    tables
}

#[rustfmt::skip]
const S_BOX: [u8; 256] = [
    0x70, 0x82, 0x2c, 0xec, 0xb3, 0x27, 0xc0, 0xe5, 0xe4, 0x85, 0x57, 0x35, 0xea, 0x0c, 0xae, 0x41,
    0x23, 0xef, 0x6b, 0x93, 0x45, 0x19, 0xa5, 0x21, 0xed, 0x0e, 0x4f, 0x4e, 0x1d, 0x65, 0x92, 0xbd,
    0x86, 0xb8, 0xaf, 0x8f, 0x7c, 0xeb, 0x1f, 0xce, 0x3e, 0x30, 0xdc, 0x5f, 0x5e, 0xc5, 0x0b, 0x1a,
    0xa6, 0xe1, 0x39, 0xca, 0xd5, 0x47, 0x5d, 0x3d, 0xd9, 0x01, 0x5a, 0xd6, 0x51, 0x56, 0x6c, 0x4d,
    0x8b, 0x0d, 0x9a, 0x66, 0xfb, 0xcc, 0xb0, 0x2d, 0x74, 0x12, 0x2b, 0x20, 0xf0, 0xb1, 0x84, 0x99,
    0xdf, 0x4c, 0xcb, 0xc2, 0x34, 0x7e, 0x76, 0x05, 0x6d, 0xb7, 0xa9, 0x31, 0xd1, 0x17, 0x04, 0xd7,
    0x14, 0x58, 0x3a, 0x61, 0xde, 0x1b, 0x11, 0x1c, 0x32, 0x0f, 0x9c, 0x16, 0x53, 0x18, 0xf2, 0x22,
    0xfe, 0x44, 0xcf, 0xb2, 0xc3, 0xb5, 0x7a, 0x91, 0x24, 0x08, 0xe8, 0xa8, 0x60, 0xfc, 0x69, 0x50,
    0xaa, 0xd0, 0xa0, 0x7d, 0xa1, 0x89, 0x62, 0x97, 0x54, 0x5b, 0x1e, 0x95, 0xe0, 0xff, 0x64, 0xd2,
    0x10, 0xc4, 0x00, 0x48, 0xa3, 0xf7, 0x75, 0xdb, 0x8a, 0x03, 0xe6, 0xda, 0x09, 0x3f, 0xdd, 0x94,
    0x87, 0x5c, 0x83, 0x02, 0xcd, 0x4a, 0x90, 0x33, 0x73, 0x67, 0xf6, 0xf3, 0x9d, 0x7f, 0xbf, 0xe2,
    0x52, 0x9b, 0xd8, 0x26, 0xc8, 0x37, 0xc6, 0x3b, 0x81, 0x96, 0x6f, 0x4b, 0x13, 0xbe, 0x63, 0x2e,
    0xe9, 0x79, 0xa7, 0x8c, 0x9f, 0x6e, 0xbc, 0x8e, 0x29, 0xf5, 0xf9, 0xb6, 0x2f, 0xfd, 0xb4, 0x59,
    0x78, 0x98, 0x06, 0x6a, 0xe7, 0x46, 0x71, 0xba, 0xd4, 0x25, 0xab, 0x42, 0x88, 0xa2, 0x8d, 0xfa,
    0x72, 0x07, 0xb9, 0x55, 0xf8, 0xee, 0xac, 0x0a, 0x36, 0x49, 0x2a, 0x68, 0x3c, 0x38, 0xf1, 0xa4,
    0x40, 0x28, 0xd3, 0x7b, 0xbb, 0xc9, 0x43, 0xc1, 0x15, 0xe3, 0xad, 0xf4, 0x77, 0xc7, 0x80, 0x9e,
];

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_arch = "x86_64")]
    use crate::camellia_avx512::CamelliaAvx512;
    use crate::table_cipher::BlockCipher;
    use cipher::{BlockCipherEncrypt, KeyInit};

    /// The key of RFC 3713, appendix A; shorter keys are its beginning, the plaintext is its first half.
    const KEY: [u8; 32] = [
        0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10, 0x00,
        0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff,
    ];

    #[test]
    fn the_vectors_of_rfc_3713_hold() {
        let vectors: [(usize, u128); 3] = [
            (16, 0x67673138549669730857065648eabe43),
            (24, 0xb4993401b3e996f84ee5cee7d79b09b9),
            (32, 0x9acc237dff16d76c20ef7c919e3a7509),
        ];
        for (size, expected) in vectors {
            let mut block = Block::try_from(&KEY[..16]).expect("a block");
            BlockCipher(Camellia::new(&KEY[..size])).encrypt_block(&mut block);
            assert_eq!(block.as_slice(), expected.to_be_bytes(), "{size} bytes");
        }
    }

    fn agrees<C: BlockCipherEncrypt<BlockSize = U16> + KeyInit>(seed: u8) {
        let key: Vec<u8> = (0..C::key_size()).map(|index| (index as u8).wrapping_mul(37) ^ seed).collect();
        let text = |block: u8| {
            std::array::from_fn::<u8, 16, _>(|index| (index as u8).wrapping_mul(91) ^ block ^ seed)
        };
        let theirs = C::new_from_slice(&key).expect("a key of this size");
        let blocks: [Block; 77] = std::array::from_fn(|index| text(index as u8).into());
        let mut expected = blocks;
        theirs.encrypt_blocks(&mut expected);
        let ours = BlockCipher(Camellia::new(&key));
        assert_eq!(one_by_one_and_together(&ours, blocks), [expected; 2]);
        #[cfg(target_arch = "x86_64")]
        if let Ok(wide) = CamelliaAvx512::new(Camellia::new(&key)) {
            assert_eq!(one_by_one_and_together(&wide, blocks), [expected; 2]);
        }
    }

    fn one_by_one_and_together<const N: usize>(
        ours: &impl BlockCipherEncrypt<BlockSize = U16>,
        blocks: [Block; N],
    ) -> [[Block; N]; 2] {
        let (mut one_by_one, mut together) = (blocks, blocks);
        one_by_one.iter_mut().for_each(|block| ours.encrypt_block(block));
        ours.encrypt_blocks(&mut together);
        [one_by_one, together]
    }

    #[test]
    fn it_agrees_with_another_implementation_one_block_or_many() {
        for seed in 0..64 {
            agrees::<camellia::Camellia128>(seed);
            agrees::<camellia::Camellia192>(seed);
            agrees::<camellia::Camellia256>(seed);
        }
    }
}
