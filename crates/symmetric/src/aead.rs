//! Authenticated encryption (RFC 9580, 9.6): one chunk at a time, each by the fastest library for it.

use std::sync::Arc;

use aead::inout::InOutBuf;
use aead::{AeadInOut, KeyInit, Nonce, Tag};
use aws_lc_rs::aead::{
    AES_128_GCM, AES_192_GCM, AES_256_GCM, Aad, LessSafeKey, Nonce as GcmNonce, UnboundKey,
};
use cipher::consts::{U15, U16};
use eax::Eax;
use ocb3::Ocb3;
use ossl::OsslSecret;
use ossl::cipher::{AeadParams, AesSize, EncAlg, OsslCipher};
use zeroize::Zeroizing;

use crate::{Cipher, Error, Result, openssl};

/// Bytes of an authentication tag.
pub const TAG: usize = 16;

/// A mode of authenticated encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Aead {
    /// EAX.
    Eax = 1,
    /// OCB.
    Ocb = 2,
    /// GCM.
    Gcm = 3,
}

impl Aead {
    /// Returns the mode of a number (RFC 9580, 9.6).
    pub fn of(number: u8) -> Option<Self> {
        [Self::Eax, Self::Ocb, Self::Gcm].into_iter().find(|mode| mode.number() == number)
    }

    /// Returns the mode of a name, in any case.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Eax, Self::Ocb, Self::Gcm].into_iter().find(|mode| mode.name().eq_ignore_ascii_case(name))
    }

    /// Returns its number (RFC 9580, 9.6).
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Eax => "EAX",
            Self::Ocb => "OCB",
            Self::Gcm => "GCM",
        }
    }

    /// Returns the size of its nonce in bytes.
    pub fn nonce_size(self) -> usize {
        match self {
            Self::Eax => 16,
            Self::Ocb => 15,
            Self::Gcm => 12,
        }
    }
}

impl std::fmt::Display for Aead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A cipher with a key in an authenticated mode, for use by several threads.
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
    /// If nothing here does this cipher in this mode.
    pub fn new(cipher: Cipher, mode: Aead, key: &[u8]) -> Result<Self> {
        use Cipher::*;
        assert_eq!(key.len(), cipher.key_size(), "the key has the cipher's size");
        Ok(Self(match (mode, cipher) {
            (Aead::Gcm, Aes128 | Aes192 | Aes256) => Arc::new(Gcm::new(key)),
            (Aead::Ocb, Aes128 | Aes192 | Aes256) => Arc::new(AesOcb(Zeroizing::new(key.to_vec()))),
            (Aead::Ocb, Camellia128) => keyed::<Ocb3<camellia::Camellia128, U15>>(key),
            (Aead::Ocb, Camellia192) => keyed::<Ocb3<camellia::Camellia192, U15>>(key),
            (Aead::Ocb, Camellia256) => keyed::<Ocb3<camellia::Camellia256, U15>>(key),
            (Aead::Eax, Aes128) => keyed::<Eax<aes::Aes128, U16>>(key),
            (Aead::Eax, Aes192) => keyed::<Eax<aes::Aes192, U16>>(key),
            (Aead::Eax, Aes256) => keyed::<Eax<aes::Aes256, U16>>(key),
            (Aead::Eax, Camellia128) => keyed::<Eax<camellia::Camellia128, U16>>(key),
            (Aead::Eax, Camellia192) => keyed::<Eax<camellia::Camellia192, U16>>(key),
            (Aead::Eax, Camellia256) => keyed::<Eax<camellia::Camellia256, U16>>(key),
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
    /// If the tag does not fit; then `data` means nothing.
    pub fn open(&self, nonce: &[u8], associated: &[u8], data: &mut [u8], tag: &[u8]) -> Result<()> {
        self.0.open(nonce, associated, data, tag).ok_or(Error::Changed)
    }
}

fn keyed<A: AeadInOut + KeyInit + Send + Sync + 'static>(key: &[u8]) -> Arc<dyn Chunks> {
    Arc::new(Portable(A::new_from_slice(key).expect("the key has the cipher's size")))
}

/// A mode over a block cipher, both in Rust.
struct Portable<A>(A);

impl<A: AeadInOut + Send + Sync> Chunks for Portable<A> {
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

/// AES in GCM by aws-lc; its random generator is not touched.
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

/// AES in OCB by OpenSSL.
struct AesOcb(Zeroizing<Vec<u8>>);

impl AesOcb {
    fn begin(&self, encrypt: bool, nonce: &[u8], associated: &[u8]) -> Option<OsslCipher> {
        let size = match self.0.len() {
            16 => AesSize::Aes128,
            24 => AesSize::Aes192,
            _ => AesSize::Aes256,
        };
        let key = OsslSecret::from_slice(&self.0);
        let params = AeadParams::new(Some(associated.to_vec()), TAG, 0);
        OsslCipher::new(
            openssl::context(),
            EncAlg::AesOcb(size),
            encrypt,
            key,
            Some(nonce.to_vec()),
            Some(params),
        )
        .ok()
    }
}

/// Runs all data through: whole blocks come out at once, the rest at the end.
fn run(mode: &mut OsslCipher, data: &mut [u8]) -> Option<()> {
    let done = if data.is_empty() { 0 } else { mode.update_in_place(data).ok()? };
    let last = mode.finalize(data.get_mut(done..)?).ok()?;
    (done + last == data.len()).then_some(())
}

impl Chunks for AesOcb {
    fn seal(&self, nonce: &[u8], associated: &[u8], data: &mut [u8]) -> Option<[u8; TAG]> {
        let mut mode = self.begin(true, nonce, associated)?;
        run(&mut mode, data)?;
        let mut tag = [0; TAG];
        mode.get_tag(&mut tag).ok()?;
        Some(tag)
    }

    fn open(&self, nonce: &[u8], associated: &[u8], data: &mut [u8], tag: &[u8]) -> Option<()> {
        let mut mode = self.begin(false, nonce, associated)?;
        mode.set_tag(tag).ok()?;
        run(&mut mode, data)
    }
}
