//! CFB mode of the ciphers that sequoia-openpgp's OpenSSL goes without: IDEA, Twofish and Camellia.
//!
//! Others protect secret keys with them; nothing here does, so there is no way to encrypt.

use camellia::{Camellia128, Camellia192, Camellia256};
use cipher::{Block, BlockCipherEncrypt, KeyInit};
use idea::Idea;
use twofish::Twofish;

/// Says whether a cipher's number (RFC 9580, 9.3) is that of one of these.
pub(crate) fn is_known(number: u8) -> bool {
    matches!(number, 1 | 10..=13)
}

/// Decrypts in place; `None` for another cipher, or if the key or the initialisation vector has not its size.
pub(crate) fn open(number: u8, key: &[u8], iv: &[u8], data: &mut [u8]) -> Option<()> {
    match number {
        1 => open_with::<Idea>(key, iv, data),
        10 => open_with::<Twofish>(key, iv, data),
        11 => open_with::<Camellia128>(key, iv, data),
        12 => open_with::<Camellia192>(key, iv, data),
        13 => open_with::<Camellia256>(key, iv, data),
        _ => None,
    }
}

fn open_with<C: BlockCipherEncrypt + KeyInit>(key: &[u8], iv: &[u8], data: &mut [u8]) -> Option<()> {
    let cipher = C::new_from_slice(key).ok()?;
    let mut block: Block<C> = iv.try_into().ok()?;
    let size = block.len();
    for piece in data.chunks_mut(size) {
        cipher.encrypt_block(&mut block);
        for (octet, stream) in piece.iter_mut().zip(block.iter_mut()) {
            (*octet, *stream) = (*octet ^ *stream, *octet);
        }
    }
    Some(())
}
