//! Block ciphers of RustCrypto, the reference.

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use keyhoard_symmetric::Cipher;

/// Encrypts one block in place.
pub(crate) type EncryptBlock = Box<dyn Fn(&mut [u8])>;

/// Returns RustCrypto's implementation of a cipher with a key.
pub(crate) fn reference(cipher: Cipher, key: &[u8]) -> EncryptBlock {
    match cipher {
        Cipher::Idea => keyed::<idea::Idea>(key),
        Cipher::TripleDes => keyed::<des::TdesEde3>(key),
        Cipher::Cast5 => keyed::<cast5::Cast5>(key),
        Cipher::Blowfish => keyed::<blowfish::Blowfish>(key),
        Cipher::Aes128 => keyed::<aes::Aes128>(key),
        Cipher::Aes192 => keyed::<aes::Aes192>(key),
        Cipher::Aes256 => keyed::<aes::Aes256>(key),
        Cipher::Twofish => keyed::<twofish::Twofish>(key),
        Cipher::Camellia128 => keyed::<camellia::Camellia128>(key),
        Cipher::Camellia192 => keyed::<camellia::Camellia192>(key),
        Cipher::Camellia256 => keyed::<camellia::Camellia256>(key),
    }
}

fn keyed<C: BlockCipherEncrypt + KeyInit + 'static>(key: &[u8]) -> EncryptBlock {
    let cipher = C::new_from_slice(key).expect("a key of the cipher's size");
    Box::new(move |block| cipher.encrypt_block(block.try_into().expect("one block")))
}

/// Returns bytes that look random.
pub(crate) fn bytes(count: usize, seed: usize) -> Vec<u8> {
    (0..count).map(|index| (((index + seed) * (index + 7 * seed + 13) * 167) >> 5) as u8).collect()
}
