//! Cipher feedback, OpenPGP's mode without authentication (RFC 9580, 12.9).
//!
//! Each block of ciphertext is a block of plaintext plus the encryption of the ciphertext before it: `c[i] = p[i] ^ s[i]`
//! with `s[i] = E(c[i-1])`. To decrypt, all `c` are known: `s` is computed in ECB mode, many blocks at once, and several
//! threads can decrypt parts of one stream. To encrypt, `s[i] = E(p[i-1] ^ s[i-1])` is the plaintext in CBC mode. OpenSSL
//! is faster in these two modes than in its cipher feedback.

use std::sync::Arc;

use openssl::cipher_ctx::CipherCtx;
use zeroize::Zeroizing;

use crate::Cipher;
use crate::evp::{MEMORY, context, copy};
use crate::twofish::Twofish;

/// The size of the longest block of a cipher in bytes.
pub const MAX_BLOCK: usize = 16;

/// A cipher with a key in cipher feedback mode; several threads can use it.
#[derive(Clone)]
pub struct Cfb {
    cipher: Cipher,
    key: Arc<Key>,
}

enum Key {
    Openssl { cbc: CipherCtx, ecb: CipherCtx },
    Twofish(Twofish),
}

impl Cfb {
    /// Takes a key.
    ///
    /// # Panics
    ///
    /// If `key` is not of the cipher's size.
    pub fn new(cipher: Cipher, key: &[u8]) -> Self {
        assert_eq!(key.len(), cipher.key_size(), "the key has the cipher's size");
        let keyed = |mode| {
            let mut context = context(cipher, mode)?;
            context.encrypt_init(None, Some(key), Some(&[0; MAX_BLOCK])).expect(MEMORY);
            Some(context)
        };
        let key = match (keyed("CBC"), keyed("ECB")) {
            (Some(cbc), Some(ecb)) => Key::Openssl { cbc, ecb },
            _ => Key::Twofish(Twofish::new(key.try_into().expect("the key has the cipher's size"))),
        };
        Self { cipher, key: Arc::new(key) }
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
        assert_eq!(feedback.len(), self.cipher.block_size(), "the feedback is one block");
        match &*self.key {
            Key::Openssl { cbc, .. } => add_by_openssl(cbc, feedback, data),
            Key::Twofish(key) => {
                let mut chain = Zeroizing::new([0; MAX_BLOCK]);
                add_stream(feedback, data, |blocks, length| {
                    key.encrypt_cbc(&mut chain, &mut blocks[..length])
                });
            }
        }
        if let Some(last) = data.rchunks_exact(feedback.len()).next() {
            feedback.copy_from_slice(last);
        }
    }

    /// Decrypts `data` in place; `before` is the block of ciphertext before `data`.
    ///
    /// # Panics
    ///
    /// If `before` is not one block.
    pub fn decrypt(&self, before: &[u8], data: &mut [u8]) {
        assert_eq!(before.len(), self.cipher.block_size(), "the ciphertext before is one block");
        match &*self.key {
            Key::Openssl { ecb, .. } => add_by_openssl(ecb, before, data),
            Key::Twofish(key) => {
                add_stream(before, data, |blocks, length| key.encrypt_ecb(&mut blocks[..length]))
            }
        }
    }
}

/// Adds to `data` what OpenSSL makes of the blocks before.
fn add_by_openssl(context: &CipherCtx, before: &[u8], data: &mut [u8]) {
    let mut context = copy(context);
    add_stream(before, data, |blocks, length| {
        context.cipher_update_inplace(blocks, length).expect(MEMORY);
    });
}

/// Adds to `data` what `encrypt` makes of the block `before` and all blocks of `data` but the last.
///
/// `encrypt` gets the number of bytes to encrypt in place, which are whole blocks, and a slice that is one block longer,
/// since OpenSSL's interface asks for this room.
fn add_stream(before: &[u8], data: &mut [u8], mut encrypt: impl FnMut(&mut [u8], usize)) {
    /// Whole blocks of any cipher, few enough for the processor's first cache.
    const PIECE: usize = 4 << 10;
    let size = before.len();
    let mut before = Zeroizing::new(before.to_vec());
    let mut stream = Zeroizing::new([0; PIECE + MAX_BLOCK]);
    for piece in data.chunks_mut(PIECE) {
        let length = piece.len().next_multiple_of(size);
        stream[..size].copy_from_slice(&before);
        stream[size..length].copy_from_slice(&piece[..length - size]);
        if let Some(last) = piece.rchunks_exact(size).next() {
            before.copy_from_slice(last);
        }
        encrypt(&mut stream[..length + size], length);
        piece.iter_mut().zip(&*stream).for_each(|(byte, stream)| *byte ^= stream);
    }
}
