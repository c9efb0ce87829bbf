//! Camellia of 32 blocks in parallel, with AVX-512 and GFNI.
//!
//! A register holds one half of eight blocks. Each S-box of Camellia is an inversion in a field of 256 elements between
//! two affine maps. GFNI computes the inversion in the field of AES, which is isomorphic; the affine maps include the
//! isomorphism. The four S-boxes differ by rotations of their input or output, which the maps include, too.

#![allow(
    unsafe_code,
    reason = "the instructions are not on every processor, and vectors are read and written by address"
)]

use std::arch::x86_64::*;

use cipher::consts::{U16, U32};
use cipher::{
    BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, InOut, ParBlocks,
    ParBlocksSizeUser,
};

use crate::camellia::{Block, Camellia};
use crate::table_cipher::TableCipher;

/// A key of Camellia on a processor with AVX-512 and GFNI.
pub(crate) struct CamelliaAvx512(Camellia);

impl CamelliaAvx512 {
    /// Takes a key; returns it in `Err` where the processor lacks the instructions.
    pub(crate) fn new(camellia: Camellia) -> Result<Self, Camellia> {
        let is_supported = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("gfni");
        if is_supported { Ok(Self(camellia)) } else { Err(camellia) }
    }
}

impl BlockSizeUser for CamelliaAvx512 {
    type BlockSize = U16;
}

impl ParBlocksSizeUser for CamelliaAvx512 {
    type ParBlocksSize = U32;
}

impl BlockCipherEncrypt for CamelliaAvx512 {
    #[inline]
    fn encrypt_with_backend(&self, f: impl BlockCipherEncClosure<BlockSize = U16>) {
        f.call(self);
    }
}

impl BlockCipherEncBackend for CamelliaAvx512 {
    #[inline(always)]
    fn encrypt_block(&self, mut block: InOut<'_, '_, Block>) {
        *block.get_out() = self.0.encrypt_one(*block.get_in());
    }

    #[inline(always)]
    fn encrypt_par_blocks(&self, mut blocks: InOut<'_, '_, ParBlocks<Self>>) {
        // SAFETY: `new` checked that the processor has the instructions.
        blocks.get_out().0 = unsafe { encrypt(&self.0, &blocks.get_in().0) };
    }
}

/// Blocks encrypted in parallel: fewer leave the processor waiting.
const BLOCKS: usize = 32;

/// One half of each block, eight blocks to a register.
type Halves = [__m512i; BLOCKS / 8];

#[target_feature(enable = "avx512f,avx512bw,gfni")]
fn encrypt(camellia: &Camellia, blocks: &[Block; BLOCKS]) -> [Block; BLOCKS] {
    let [first, second, third, fourth] = camellia.whitening;
    let (mut left, mut right) = load(blocks);
    add(&mut left, first);
    add(&mut right, second);
    for (index, keys) in camellia.rounds.iter().enumerate() {
        for pair in keys.as_chunks::<2>().0 {
            round(&mut right, &left, pair[0]);
            round(&mut left, &right, pair[1]);
        }
        if let Some(&[left_key, right_key]) = camellia.fl_keys.get(index) {
            left = left.map(|half| fl(half, left_key));
            right = right.map(|half| fl_inverse(half, right_key));
        }
    }
    add(&mut right, third);
    add(&mut left, fourth);
    store(&right, &left)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
fn add(halves: &mut Halves, key: u64) {
    let key = _mm512_set1_epi64(key.cast_signed());
    for half in halves {
        *half = _mm512_xor_si512(*half, key);
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
fn round(halves: &mut Halves, others: &Halves, key: u64) {
    let key = _mm512_set1_epi64(key.cast_signed());
    for (half, other) in halves.iter_mut().zip(others) {
        let word = _mm512_xor_si512(*other, key);
        *half = _mm512_xor_si512(*half, mix(substitute(word)));
    }
}

/// The bytes of each word that go through the S-boxes 2, 3 and 4, as masks; the others go through the first one.
const SECOND: u64 = 0x4848_4848_4848_4848;
const THIRD: u64 = 0x2424_2424_2424_2424;
const FOURTH: u64 = 0x1212_1212_1212_1212;

#[inline]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
fn substitute(word: __m512i) -> __m512i {
    let matrix = |rows: u64| _mm512_set1_epi64(rows.cast_signed());
    let before = _mm512_gf2p8affine_epi64_epi8::<0xf8>(word, matrix(0x964c_22e4_5da7_dbe3));
    let before =
        _mm512_mask_gf2p8affine_epi64_epi8::<0xf8>(before, FOURTH, word, matrix(0x4b26_1172_aed3_edf1));
    let after = _mm512_gf2p8affineinv_epi64_epi8::<0x6e>(before, matrix(0x2cc6_0d0a_01a8_5234));
    let after =
        _mm512_mask_gf2p8affineinv_epi64_epi8::<0xdc>(after, SECOND, before, matrix(0x342c_c60d_0a01_a852));
    _mm512_mask_gf2p8affineinv_epi64_epi8::<0x37>(after, THIRD, before, matrix(0xc60d_0a01_a852_342c))
}

/// Computes the linear layer P: each half of a word is rotated and added to the other half twice, then they are
/// swapped.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
fn mix(word: __m512i) -> __m512i {
    let mut word = word;
    for bytes in [
        [N, N, N, N, 3, 0, 1, 2],
        [6, 7, 4, 5, N, N, N, N],
        [N, N, N, N, 1, 2, 3, 0],
        [5, 6, 7, 4, N, N, N, N],
    ] {
        word = _mm512_xor_si512(word, _mm512_shuffle_epi8(word, shuffle_of_each_word(bytes)));
    }
    _mm512_rol_epi64::<32>(word)
}

/// The index that selects no byte.
const N: u8 = 0x80;

/// Returns the shuffle that permutes the bytes of each word; `bytes` holds the source of each byte, the lowest first.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
fn shuffle_of_each_word(bytes: [u8; 8]) -> __m512i {
    // The pattern of two words, repeated over the register.
    let low = u64::from_le_bytes(bytes);
    _mm512_broadcast_i32x4(_mm_set_epi64x((low | 0x0808_0808_0808_0808).cast_signed(), low.cast_signed()))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
fn fl(word: __m512i, key: u64) -> __m512i {
    let key = _mm512_set1_epi64(key.cast_signed());
    let word = _mm512_xor_si512(word, left_to_right(word, key));
    _mm512_xor_si512(word, right_to_left(word, key))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
fn fl_inverse(word: __m512i, key: u64) -> __m512i {
    let key = _mm512_set1_epi64(key.cast_signed());
    let word = _mm512_xor_si512(word, right_to_left(word, key));
    _mm512_xor_si512(word, left_to_right(word, key))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
fn left_to_right(word: __m512i, key: __m512i) -> __m512i {
    _mm512_rol_epi32::<1>(_mm512_srli_epi64::<32>(_mm512_and_si512(word, key)))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
fn right_to_left(word: __m512i, key: __m512i) -> __m512i {
    _mm512_slli_epi64::<32>(_mm512_or_si512(word, key))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
fn load(blocks: &[Block; BLOCKS]) -> (Halves, Halves) {
    let reversed = shuffle_of_each_word([7, 6, 5, 4, 3, 2, 1, 0]);
    let (mut left, mut right) = ([_mm512_setzero_si512(); BLOCKS / 8], [_mm512_setzero_si512(); BLOCKS / 8]);
    for (number, eight) in blocks.as_chunks::<8>().0.iter().enumerate() {
        let [low, high] = eight.as_chunks::<4>().0 else { unreachable!("eight blocks are two times four") };
        // SAFETY: four blocks are 64 bytes.
        let [low, high] = [low, high].map(|four| unsafe { _mm512_loadu_si512(four.as_ptr().cast()) });
        let (low, high) = (_mm512_shuffle_epi8(low, reversed), _mm512_shuffle_epi8(high, reversed));
        left[number] = _mm512_unpacklo_epi64(low, high);
        right[number] = _mm512_unpackhi_epi64(low, high);
    }
    (left, right)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,gfni")]
fn store(left: &Halves, right: &Halves) -> [Block; BLOCKS] {
    let reversed = shuffle_of_each_word([7, 6, 5, 4, 3, 2, 1, 0]);
    let mut blocks = [Block::default(); BLOCKS];
    for (number, eight) in blocks.as_chunks_mut::<8>().0.iter_mut().enumerate() {
        let low = _mm512_unpacklo_epi64(left[number], right[number]);
        let high = _mm512_unpackhi_epi64(left[number], right[number]);
        for (four, words) in eight.as_chunks_mut::<4>().0.iter_mut().zip([low, high]) {
            let bytes = _mm512_shuffle_epi8(words, reversed);
            // SAFETY: four blocks are 64 bytes.
            unsafe { _mm512_storeu_si512(four.as_mut_ptr().cast(), bytes) };
        }
    }
    blocks
}
