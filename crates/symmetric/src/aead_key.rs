//! Authenticated encryption of chunks (RFC 9580, 9.6): AES in GCM by aws-lc, in OCB by OpenSSL, what neither has by
//! RustCrypto.

use std::sync::Arc;

use aead::consts::{U15, U16};
use aead::inout::InOutBuf;
use aead::{AeadInOut, KeyInit, Nonce, Tag};
use aws_lc_rs::aead::{
    AES_128_GCM, AES_192_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce as GcmNonce, UnboundKey,
};
use eax::Eax;
use ocb3::Ocb3;
use openssl::cipher_ctx::CipherCtx;
use zeroize::Zeroizing;

use crate::evp::{MEMORY, context, copy};
use crate::{Aead, Cipher, Error, MAX_BLOCK, Result};

/// The size of an authentication tag in bytes.
pub const TAG: usize = 16;

/// A cipher with a key in an authenticated mode; several threads can use it.
#[derive(Clone)]
pub struct AeadKey(Arc<dyn Chunks>);

trait Chunks: Send + Sync {
    fn seal(&self, nonce: &[u8], associated: &[u8], data: &mut [u8]) -> Option<[u8; TAG]>;
    fn open(&self, nonce: &[u8], associated: &[u8], data: &mut [u8], tag: &[u8]) -> Option<()>;
}

impl AeadKey {
    /// Takes a key of the cipher's size.
    ///
    /// # Errors
    ///
    /// [`Error::KeySize`] for a key of another size, [`Error::UnsupportedMode`] for a cipher without an implementation
    /// in this mode.
    pub fn new(cipher: Cipher, mode: Aead, key: &[u8]) -> Result<Self> {
        use Cipher::*;
        if key.len() != cipher.key_size() {
            return Err(Error::KeySize { cipher, length: key.len() });
        }
        Ok(Self(match (mode, cipher) {
            (Aead::Gcm, Aes128 | Aes192 | Aes256) => Arc::new(Gcm::new(key)),
            (Aead::Ocb, Aes128 | Aes192 | Aes256) => Arc::new(AesOcb::new(cipher, key)),
            (Aead::Ocb, Camellia128) => rust_crypto::<Ocb3<camellia::Camellia128, U15>>(key),
            (Aead::Ocb, Camellia192) => rust_crypto::<Ocb3<camellia::Camellia192, U15>>(key),
            (Aead::Ocb, Camellia256) => rust_crypto::<Ocb3<camellia::Camellia256, U15>>(key),
            (Aead::Eax, Aes128) => rust_crypto::<Eax<aes::Aes128, U16>>(key),
            (Aead::Eax, Aes192) => rust_crypto::<Eax<aes::Aes192, U16>>(key),
            (Aead::Eax, Aes256) => rust_crypto::<Eax<aes::Aes256, U16>>(key),
            (Aead::Eax, Camellia128) => rust_crypto::<Eax<camellia::Camellia128, U16>>(key),
            (Aead::Eax, Camellia192) => rust_crypto::<Eax<camellia::Camellia192, U16>>(key),
            (Aead::Eax, Camellia256) => rust_crypto::<Eax<camellia::Camellia256, U16>>(key),
            _ => return Err(Error::UnsupportedMode(cipher, mode)),
        }))
    }

    /// Encrypts a chunk in place and returns its tag.
    pub fn seal(&self, nonce: &[u8], associated: &[u8], data: &mut [u8]) -> [u8; TAG] {
        self.0.seal(nonce, associated, data).expect("a chunk is shorter than any mode's limit")
    }

    /// Decrypts a chunk in place.
    ///
    /// # Errors
    ///
    /// [`Error::Changed`] if the tag does not match; the content of `data` is then undefined.
    pub fn open(&self, nonce: &[u8], associated: &[u8], data: &mut [u8], tag: &[u8]) -> Result<()> {
        self.0.open(nonce, associated, data, tag).ok_or(Error::Changed)
    }
}

/// Decrypts in place with AES in OCB mode and a nonce of 96 bits (RFC 7253), which gpg-agent takes in its files of secret keys.
///
/// # Errors
///
/// [`Error::KeySize`] for a key of another size; [`Error::Changed`] if the tag does not match, then the content of `data`
/// is undefined.
pub fn open_ocb_96(
    cipher: Cipher,
    key: &[u8],
    nonce: &[u8; 12],
    associated: &[u8],
    data: &mut [u8],
    tag: &[u8; TAG],
) -> Result<()> {
    if key.len() != cipher.key_size() {
        return Err(Error::KeySize { cipher, length: key.len() });
    }
    let mut context = context(cipher, "OCB").ok_or(Error::UnsupportedMode(cipher, Aead::Ocb))?;
    context.set_iv_length(nonce.len()).expect("OCB has nonces of this size");
    context.decrypt_init(None, Some(key), Some(nonce)).expect(MEMORY);
    context.set_tag(tag).expect(MEMORY);
    process(&mut context, associated, data).ok_or(Error::Changed)
}

fn rust_crypto<A: AeadInOut + KeyInit + Send + Sync + 'static>(key: &[u8]) -> Arc<dyn Chunks> {
    Arc::new(RustCrypto(A::new_from_slice(key).expect("the key has the cipher's size")))
}

/// A mode and a block cipher, both from RustCrypto.
struct RustCrypto<A>(A);

impl<A: AeadInOut + Send + Sync> Chunks for RustCrypto<A> {
    fn seal(&self, nonce: &[u8], associated: &[u8], data: &mut [u8]) -> Option<[u8; TAG]> {
        let nonce = <&Nonce<A>>::try_from(nonce).ok()?;
        let tag = self.0.encrypt_inout_detached(nonce, associated, InOutBuf::from(data)).ok()?;
        tag.as_slice().try_into().ok()
    }

    fn open(&self, nonce: &[u8], associated: &[u8], data: &mut [u8], tag: &[u8]) -> Option<()> {
        let (nonce, tag) = (<&Nonce<A>>::try_from(nonce).ok()?, <&Tag<A>>::try_from(tag).ok()?);
        self.0.decrypt_inout_detached(nonce, associated, InOutBuf::from(data), tag).ok()
    }
}

/// AES in GCM by aws-lc, without its random generator.
struct Gcm(LessSafeKey);

impl Gcm {
    fn new(key: &[u8]) -> Self {
        let algorithm = match key.len() {
            16 => &AES_128_GCM,
            24 => &AES_192_GCM,
            _ => &AES_256_GCM,
        };
        Self(LessSafeKey::new(UnboundKey::new(algorithm, key).expect("the key has the cipher's size")))
    }
}

impl Chunks for Gcm {
    fn seal(&self, nonce: &[u8], associated: &[u8], data: &mut [u8]) -> Option<[u8; TAG]> {
        let nonce = GcmNonce::try_assume_unique_for_key(nonce).ok()?;
        let tag = self.0.seal_in_place_separate_tag(nonce, Aad::from(associated), data).ok()?;
        tag.as_ref().try_into().ok()
    }

    fn open(&self, nonce: &[u8], associated: &[u8], data: &mut [u8], tag: &[u8]) -> Option<()> {
        let nonce = GcmNonce::try_assume_unique_for_key(nonce).ok()?;
        self.0.open_in_place_separate_tag(nonce, Aad::from(associated), tag, data).ok().map(drop)
    }
}

/// AES in OCB by OpenSSL, whose contexts take a key for one direction.
struct AesOcb {
    sealing: CipherCtx,
    opening: CipherCtx,
}

impl AesOcb {
    fn new(cipher: Cipher, key: &[u8]) -> Self {
        let keyless = || {
            let mut context = context(cipher, "OCB").expect("OpenSSL has AES");
            context.set_iv_length(Aead::Ocb.nonce_size()).expect("OCB has nonces of this size");
            context
        };
        let (mut sealing, mut opening) = (keyless(), keyless());
        sealing.encrypt_init(None, Some(key), None).expect(MEMORY);
        opening.decrypt_init(None, Some(key), None).expect(MEMORY);
        Self { sealing, opening }
    }
}

/// Returns a nonce if it is of OCB's size: of a longer one OpenSSL would take the beginning.
fn whole(nonce: &[u8]) -> Option<&[u8]> {
    (nonce.len() == Aead::Ocb.nonce_size()).then_some(nonce)
}

/// Processes the associated data and then all data in place.
fn process(context: &mut CipherCtx, associated: &[u8], data: &mut [u8]) -> Option<()> {
    context.cipher_update(associated, None).ok()?;
    // OpenSSL's interface asks for room for one block more than it gets, which the last bytes have in a buffer.
    let blocks = (data.len() / MAX_BLOCK).saturating_sub(1) * MAX_BLOCK;
    if blocks > 0 {
        context.cipher_update_inplace(data, blocks).ok()?;
    }
    let last = &mut data[blocks..];
    let mut buffer = Zeroizing::new([0; 4 * MAX_BLOCK]);
    let made = context.cipher_update(last, Some(&mut buffer[..])).ok()?;
    let made = made + context.cipher_final(&mut buffer[made..]).ok()?;
    last.copy_from_slice(buffer.get(..made)?);
    Some(())
}

impl Chunks for AesOcb {
    fn seal(&self, nonce: &[u8], associated: &[u8], data: &mut [u8]) -> Option<[u8; TAG]> {
        let mut context = copy(&self.sealing);
        context.encrypt_init(None, None, Some(whole(nonce)?)).ok()?;
        process(&mut context, associated, data)?;
        let mut tag = [0; TAG];
        context.tag(&mut tag).ok()?;
        Some(tag)
    }

    fn open(&self, nonce: &[u8], associated: &[u8], data: &mut [u8], tag: &[u8]) -> Option<()> {
        let mut context = copy(&self.opening);
        context.decrypt_init(None, None, Some(whole(nonce)?)).ok()?;
        context.set_tag(tag).ok()?;
        process(&mut context, associated, data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 7253, appendix A.
    #[test]
    fn ocb_with_a_nonce_of_96_bits_decrypts_the_example_of_its_specification() {
        let key: [u8; 16] = std::array::from_fn(|byte| byte as u8);
        let nonce = *b"\xbb\xaa\x99\x88\x77\x66\x55\x44\x33\x22\x11\x01";
        let associated: [u8; 8] = std::array::from_fn(|byte| byte as u8);
        let mut data = *b"\x68\x20\xb3\x65\x7b\x6f\x61\x5a";
        let tag = *b"\x57\x25\xbd\xa0\xd3\xb4\xeb\x3a\x25\x7c\x9a\xf1\xf8\xf0\x30\x09";
        open_ocb_96(Cipher::Aes128, &key, &nonce, &associated, &mut data, &tag).expect("the right key");
        assert_eq!(data, associated);
        let changed = open_ocb_96(Cipher::Aes128, &key, &nonce, b"", &mut data, &tag);
        assert_eq!(changed, Err(Error::Changed));
    }

    #[test]
    fn a_key_of_another_size_is_refused() {
        for cipher in [Cipher::Aes128, Cipher::Aes256, Cipher::Camellia192] {
            for length in [0, cipher.key_size() - 1, cipher.key_size() + 1] {
                let refused = AeadKey::new(cipher, Aead::Ocb, &vec![0; length]).err();
                assert_eq!(refused, Some(Error::KeySize { cipher, length }));
            }
            assert!(AeadKey::new(cipher, Aead::Ocb, &vec![0; cipher.key_size()]).is_ok());
        }
    }

    #[test]
    fn a_mode_takes_the_ciphers_that_it_has_keys_for() {
        for mode in [Aead::Eax, Aead::Ocb, Aead::Gcm] {
            for cipher in Cipher::ALL {
                let key = AeadKey::new(cipher, mode, &vec![0; cipher.key_size()]);
                assert_eq!(key.is_ok(), mode.takes(cipher), "{cipher} in {mode} mode");
            }
        }
    }
}
