//! Cipher feedback, OpenPGP's mode without authentication (RFC 9580, 12.9).
//!
//! Encryption is sequential, since a block depends on the encrypted block before it. Decryption needs only the
//! ciphertext, so that many blocks are decrypted in parallel, and several threads can decrypt parts of one stream.

use std::sync::Arc;

use aes::{Aes128, Aes192, Aes256};
use blowfish::Blowfish;
use cast5::Cast5;
use cipher::{
    Array, BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, InOut, KeyInit,
    ParBlocks, array::ArraySize,
};
use idea::Idea;
use zeroize::ZeroizeOnDrop;

use crate::Cipher;
use crate::camellia::Camellia;
#[cfg(target_arch = "x86_64")]
use crate::camellia_avx512::CamelliaAvx512;
use crate::table_cipher::BlockCipher;
use crate::triple_des::TripleDes;
use crate::twofish::Twofish;

/// The size of the longest block of a cipher in bytes.
pub const MAX_BLOCK: usize = 16;

/// A cipher with a key in cipher feedback mode; several threads can use it.
#[derive(Clone)]
pub struct Cfb(Arc<dyn Mode>);

/// A cipher with a key, without its type.
trait Mode: Send + Sync {
    fn encrypt(&self, feedback: &mut [u8], data: &mut [u8]);
    fn decrypt(&self, before: &[u8], data: &mut [u8]);
}

impl Cfb {
    /// Takes a key.
    ///
    /// # Panics
    ///
    /// If `key` is not of the cipher's size.
    pub fn new(cipher: Cipher, key: &[u8]) -> Self {
        Self(match cipher {
            Cipher::Idea => rust_crypto::<Idea>(key),
            Cipher::TripleDes => Arc::new(BlockMode(BlockCipher(TripleDes::new(key_array(key))))),
            Cipher::Cast5 => rust_crypto::<Cast5>(key),
            Cipher::Blowfish => rust_crypto::<Blowfish>(key),
            Cipher::Aes128 => rust_crypto::<Aes128>(key),
            Cipher::Aes192 => rust_crypto::<Aes192>(key),
            Cipher::Aes256 => rust_crypto::<Aes256>(key),
            Cipher::Twofish => Arc::new(BlockMode(BlockCipher(Twofish::new(key_array(key))))),
            Cipher::Camellia128 | Cipher::Camellia192 | Cipher::Camellia256 => {
                assert_eq!(key.len(), cipher.key_size(), "the key has the cipher's size");
                camellia(Camellia::new(key))
            }
        })
    }

    /// Encrypts `data` in place.
    ///
    /// `feedback` is the block of ciphertext before `data`, at first the initialisation vector; it is set to the last
    /// block of ciphertext. Only the last call for a stream may get data that are not whole blocks.
    ///
    /// # Panics
    ///
    /// If `feedback` is not one block.
    pub fn encrypt(&self, feedback: &mut [u8], data: &mut [u8]) {
        self.0.encrypt(feedback, data);
    }

    /// Decrypts `data` in place; `before` is the block of ciphertext before `data`.
    ///
    /// # Panics
    ///
    /// If `before` is not one block.
    pub fn decrypt(&self, before: &[u8], data: &mut [u8]) {
        self.0.decrypt(before, data);
    }
}

fn rust_crypto<C: BlockCipherEncrypt + KeyInit + ZeroizeOnDrop + Send + Sync + 'static>(
    key: &[u8],
) -> Arc<dyn Mode> {
    Arc::new(BlockMode(C::new_from_slice(key).expect("the key has the cipher's size")))
}

/// Chooses the fastest implementation of Camellia for this processor.
fn camellia(key: Camellia) -> Arc<dyn Mode> {
    #[cfg(target_arch = "x86_64")]
    let key = match CamelliaAvx512::new(key) {
        Ok(wide) => return Arc::new(BlockMode(wide)),
        Err(key) => key,
    };
    Arc::new(BlockMode(BlockCipher(key)))
}

fn key_array<const SIZE: usize>(key: &[u8]) -> &[u8; SIZE] {
    key.try_into().expect("the key has the cipher's size")
}

/// Implements the mode with a block cipher.
struct BlockMode<C>(C);

impl<C: BlockCipherEncrypt + Send + Sync> Mode for BlockMode<C> {
    fn encrypt(&self, feedback: &mut [u8], data: &mut [u8]) {
        let feedback = feedback.try_into().expect("the feedback is one block");
        self.0.encrypt_with_backend(Encryption::<C::BlockSize> { feedback, data });
    }

    fn decrypt(&self, before: &[u8], data: &mut [u8]) {
        let before = before.try_into().expect("the ciphertext before is one block");
        self.0.encrypt_with_backend(Decryption::<C::BlockSize> { before, data });
    }
}

/// Encrypts data with the backend that the block cipher chooses for this processor.
struct Encryption<'a, B: ArraySize> {
    feedback: &'a mut Array<u8, B>,
    data: &'a mut [u8],
}

impl<B: ArraySize> BlockSizeUser for Encryption<'_, B> {
    type BlockSize = B;
}

impl<B: ArraySize> BlockCipherEncClosure for Encryption<'_, B> {
    #[inline(always)]
    fn call<K: BlockCipherEncBackend<BlockSize = B>>(self, backend: &K) {
        let mut block = self.feedback.clone();
        let mut blocks = self.data.chunks_exact_mut(B::USIZE);
        for piece in &mut blocks {
            backend.encrypt_block_inplace(&mut block);
            add(&mut block, piece);
            piece.copy_from_slice(&block);
        }
        let rest = blocks.into_remainder();
        if !rest.is_empty() {
            backend.encrypt_block_inplace(&mut block);
            rest.iter_mut().zip(&block).for_each(|(byte, stream)| *byte ^= stream);
        }
        *self.feedback = block;
    }
}

/// Adds `piece` to `block` word by word: with a loop over bytes the compiler's code has a higher latency.
#[inline(always)]
fn add(block: &mut [u8], piece: &[u8]) {
    for (word, other) in block.as_chunks_mut::<8>().0.iter_mut().zip(piece.as_chunks::<8>().0) {
        *word = (u64::from_ne_bytes(*word) ^ u64::from_ne_bytes(*other)).to_ne_bytes();
    }
}

/// Decrypts data, as many blocks at a time as the backend takes.
struct Decryption<'a, B: ArraySize> {
    before: &'a Array<u8, B>,
    data: &'a mut [u8],
}

impl<B: ArraySize> BlockSizeUser for Decryption<'_, B> {
    type BlockSize = B;
}

impl<B: ArraySize> BlockCipherEncClosure for Decryption<'_, B> {
    #[inline(always)]
    fn call<K: BlockCipherEncBackend<BlockSize = B>>(self, backend: &K) {
        let mut stream = ParBlocks::<K>::default();
        let size = stream.as_flattened().len();
        let mut rest = self.data;
        // From the end: a block needs the ciphertext before it, which is not overwritten yet.
        while !rest.is_empty() {
            let start = (rest.len() - 1) / size * size;
            let before = start.checked_sub(B::USIZE);
            if let Some(input) = before.and_then(|before| rest.get(before..before + size)) {
                let blocks = Array::slice_as_chunks(input).0.try_into().expect("as many bytes as blocks");
                backend.encrypt_par_blocks(InOut::from((blocks, &mut stream)));
            } else {
                let (first, others) = stream.as_flattened_mut().split_at_mut(B::USIZE);
                first.copy_from_slice(before.map_or(self.before, |before| &rest[before..start]));
                let count = others.len().min(rest.len() - start);
                others[..count].copy_from_slice(&rest[start..start + count]);
                backend.encrypt_par_blocks(InOut::from(&mut stream));
            }
            let (others, piece) = rest.split_at_mut(start);
            piece.iter_mut().zip(stream.as_flattened()).for_each(|(byte, stream)| *byte ^= stream);
            rest = others;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sequoia_openpgp::crypto::symmetric::{BlockCipherMode, Encryptor, PaddingMode};
    use sequoia_openpgp::types::SymmetricAlgorithm;
    use std::io::Write;

    fn bytes(count: usize, seed: u8) -> Vec<u8> {
        (0..count).map(|index| (index * 31 + index / 251) as u8 ^ seed).collect()
    }

    #[test]
    fn what_is_encrypted_in_pieces_is_decrypted_in_any_pieces_of_whole_blocks() {
        for cipher in Cipher::ALL {
            let size = cipher.block_size();
            let cfb = Cfb::new(cipher, &bytes(cipher.key_size(), 7));
            for length in [0, 1, size - 1, size, size + 1, 31 * size, 32 * size, 33 * size + 3, 4000] {
                let plain = bytes(length, 99);
                let mut data = plain.clone();
                let mut feedback = vec![0; size];
                data.chunks_mut(5 * size).for_each(|piece| cfb.encrypt(&mut feedback, piece));
                let ciphertext = data.clone();
                let mut before = vec![0; size];
                for (piece, ciphertext) in data.chunks_mut(34 * size).zip(ciphertext.chunks(34 * size)) {
                    cfb.decrypt(&before, piece);
                    before = ciphertext.rchunks(size).next().expect("a piece has bytes").to_vec();
                }
                assert_eq!(data, plain, "{cipher}, {length} bytes");
            }
        }
    }

    #[test]
    fn it_agrees_with_another_implementation_where_there_is_one() {
        let mut compared = 0;
        for cipher in Cipher::ALL {
            let algorithm = SymmetricAlgorithm::from(cipher.number());
            if !algorithm.is_supported() {
                continue;
            }
            let (key, plain) = (bytes(cipher.key_size(), 3), bytes(1003, 5));
            let mut expected = Vec::new();
            let iv = vec![0; cipher.block_size()];
            let mut writer = Encryptor::new(
                algorithm,
                BlockCipherMode::CFB,
                PaddingMode::None,
                &key.as_slice().into(),
                Some(&iv),
                &mut expected,
            )
            .expect("a cipher");
            writer.write_all(&plain).expect("a vector takes everything");
            writer.finalize().expect("a vector takes everything");
            let mut ours = plain;
            Cfb::new(cipher, &key).encrypt(&mut vec![0; cipher.block_size()], &mut ours);
            assert_eq!(ours, expected, "{cipher}");
            compared += 1;
        }
        assert!(compared >= 4, "AES and Triple-DES at least");
    }
}
