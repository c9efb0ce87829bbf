//! AES key wrap (RFC 3394).

use openssl::cipher::Cipher;
use openssl::cipher_ctx::{CipherCtx, CipherCtxFlags};
use openssl::error::ErrorStack;
use zeroize::Zeroizing;

/// The size of a key that wraps others, in bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeySize {
    Aes128,
    Aes192,
    Aes256,
}

impl KeySize {
    /// Finds the size of a cipher's key by the cipher's number (RFC 9580, 9.3); `None` for other ciphers than AES.
    pub(crate) fn of(cipher: u8) -> Option<Self> {
        match cipher {
            7 => Some(Self::Aes128),
            8 => Some(Self::Aes192),
            9 => Some(Self::Aes256),
            _ => None,
        }
    }

    /// Returns the size in bytes.
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Aes128 => 16,
            Self::Aes192 => 24,
            Self::Aes256 => 32,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Aes128 => "AES-128-WRAP",
            Self::Aes192 => "AES-192-WRAP",
            Self::Aes256 => "AES-256-WRAP",
        }
    }
}

/// Wraps bytes, whose length is a multiple of 8 and at least 16, with AES-128, as programs hand over keys to each other;
/// `None` if the library fails.
pub fn wrap_for_transfer(key: &[u8; 16], content: &[u8]) -> Option<Vec<u8>> {
    libcrypto::initialise();
    wrap(KeySize::Aes128, key, content).ok()
}

/// Unwraps what was wrapped with AES-128; `None` if it was not wrapped with the key.
pub fn unwrap_from_transfer(key: &[u8; 16], wrapped: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    libcrypto::initialise();
    unwrap(KeySize::Aes128, key, wrapped).ok().flatten()
}

/// The length of the shortest wrapped key: two blocks of 8 bytes, and the check value.
const SHORTEST: usize = 24;

/// Wraps bytes, whose length is a multiple of 8 and at least 16; `key` has the given size.
pub(crate) fn wrap(size: KeySize, key: &[u8], content: &[u8]) -> Result<Vec<u8>, ErrorStack> {
    let mut context = context()?;
    let cipher = Cipher::fetch(None, size.name(), None)?;
    context.encrypt_init(Some(&cipher), Some(key), None)?;
    let mut wrapped = Vec::new();
    context.cipher_update_vec(content, &mut wrapped)?;
    Ok(wrapped)
}

/// Unwraps bytes; `None` if they were not wrapped with the key.
pub(crate) fn unwrap(
    size: KeySize,
    key: &[u8],
    wrapped: &[u8],
) -> Result<Option<Zeroizing<Vec<u8>>>, ErrorStack> {
    if wrapped.len() < SHORTEST {
        return Ok(None);
    }
    let mut context = context()?;
    let cipher = Cipher::fetch(None, size.name(), None)?;
    context.decrypt_init(Some(&cipher), Some(key), None)?;
    let mut content = Zeroizing::new(vec![0; wrapped.len()]);
    // The only error is that of the check value, or of a length that is impossible.
    let Ok(length) = context.cipher_update(wrapped, Some(&mut content)) else { return Ok(None) };
    content.truncate(length);
    Ok(Some(content))
}

fn context() -> Result<CipherCtx, ErrorStack> {
    let mut context = CipherCtx::new()?;
    context.set_flags(CipherCtxFlags::FLAG_WRAP_ALLOW);
    Ok(context)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<_> = text.chars().filter_map(|letter| letter.to_digit(16)).collect();
        digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
    }

    #[test]
    fn the_samples_of_rfc_3394_come_out() {
        let key = hex("000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F");
        let content = hex("00112233445566778899AABBCCDDEEFF000102030405060708090A0B0C0D0E0F");
        for (size, length, expected) in [
            (KeySize::Aes128, 16, "1FA68B0A8112B447AEF34BD8FB5A7B829D3E862371D2CFE5"),
            (KeySize::Aes192, 16, "96778B25AE6CA435F92B5B97C050AED2468AB8A17AD84E5D"),
            (KeySize::Aes256, 16, "64E8C3F9CE0F5BA263E9777905818A2A93C8191E7D6E8AE7"),
            (
                KeySize::Aes256,
                32,
                "28C9F404C4B810F4CBCCB35CFB87F8263F5786E2D80ED326CBC7F0E71A99F43BFB988B9B7A02DD21",
            ),
        ] {
            libcrypto::initialise();
            let (key, content) = (&key[..size.bytes()], &content[..length]);
            let wrapped = wrap(size, key, content).expect("memory");
            assert_eq!(wrapped, hex(expected));
            assert_eq!(**unwrap(size, key, &wrapped).expect("memory").expect("it was wrapped"), *content);
        }
    }

    #[test]
    fn what_was_changed_or_cut_short_is_not_unwrapped() {
        libcrypto::initialise();
        let wrapped = wrap(KeySize::Aes128, &[7; 16], &[1; 16]).expect("memory");
        let unwrapped = |wrapped: &[u8]| unwrap(KeySize::Aes128, &[7; 16], wrapped).expect("memory");
        assert!(unwrapped(&wrapped).is_some());
        for at in 0..wrapped.len() {
            let mut changed = wrapped.clone();
            changed[at] ^= 1;
            assert!(unwrapped(&changed).is_none(), "byte {at}");
        }
        for length in 0..wrapped.len() {
            assert!(unwrapped(&wrapped[..length]).is_none(), "{length} bytes");
        }
    }
}
