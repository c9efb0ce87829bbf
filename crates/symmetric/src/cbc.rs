//! Cipher block chaining without padding, in which gpg-agent before 2.3 encrypted secret keys in its files.

use zeroize::Zeroizing;

use crate::evp::{MEMORY, context};
use crate::{Cipher, Error, MAX_BLOCK, Result};

/// Decrypts whole blocks.
///
/// # Errors
///
/// [`Error::KeySize`] for a key of another size; [`Error::CutShort`] for data that are not whole blocks, or an
/// initialisation vector of another size; [`Error::UnsupportedCipher`] for Twofish.
pub fn decrypt_cbc(cipher: Cipher, key: &[u8], iv: &[u8], data: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    if key.len() != cipher.key_size() {
        return Err(Error::KeySize { cipher, length: key.len() });
    }
    if iv.len() != cipher.block_size() || !data.len().is_multiple_of(cipher.block_size()) {
        return Err(Error::CutShort);
    }
    let mut context = context(cipher, "CBC").ok_or(Error::UnsupportedCipher(cipher))?;
    context.decrypt_init(None, Some(key), Some(iv)).expect(MEMORY);
    context.set_padding(false);
    // OpenSSL's interface asks for room for one block more.
    let mut decrypted = Zeroizing::new(vec![0; data.len() + MAX_BLOCK]);
    let length = context.cipher_update(data, Some(&mut decrypted)).expect(MEMORY);
    decrypted.truncate(length);
    Ok(decrypted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NIST SP 800-38A, F.2.2.
    #[test]
    fn the_example_of_the_specification_is_decrypted() {
        let key = *b"\x2b\x7e\x15\x16\x28\xae\xd2\xa6\xab\xf7\x15\x88\x09\xcf\x4f\x3c";
        let iv: [u8; 16] = std::array::from_fn(|byte| byte as u8);
        let data = *b"\x76\x49\xab\xac\x81\x19\xb2\x46\xce\xe9\x8e\x9b\x12\xe9\x19\x7d\
                      \x50\x86\xcb\x9b\x50\x72\x19\xee\x95\xdb\x11\x3a\x91\x76\x78\xb2";
        let plain = *b"\x6b\xc1\xbe\xe2\x2e\x40\x9f\x96\xe9\x3d\x7e\x11\x73\x93\x17\x2a\
                       \xae\x2d\x8a\x57\x1e\x03\xac\x9c\x9e\xb7\x6f\xac\x45\xaf\x8e\x51";
        assert_eq!(decrypt_cbc(Cipher::Aes128, &key, &iv, &data).as_deref(), Ok(&plain.to_vec()));
        assert_eq!(decrypt_cbc(Cipher::Aes128, &key, &iv, &data[1..]), Err(Error::CutShort));
        assert_eq!(decrypt_cbc(Cipher::Aes128, &key, &iv[1..], &data), Err(Error::CutShort));
    }
}
