//! Ciphers, for secret parts.

use std::io::Write as _;

use cert::Fingerprint;
use sequoia_openpgp::crypto::SessionKey;
use sequoia_openpgp::crypto::symmetric::{BlockCipherMode, Decryptor, Encryptor, PaddingMode, UnpaddingMode};
use sequoia_openpgp::parse::{Cookie, buffered_reader};
use sequoia_openpgp::types::{AEADAlgorithm, SymmetricAlgorithm};
use zeroize::Zeroizing;

use crate::memory::Guarded;
use crate::{Error, Result, cfb};

/// A cipher that can be used, for one key.
#[derive(Clone, Copy)]
pub(crate) struct Cipher {
    algorithm: SymmetricAlgorithm,
    key: Fingerprint,
}

impl Cipher {
    /// Finds a cipher by its number; `key` is the secret key that it is wanted for.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownProtection`] if it is not known.
    pub(crate) fn new(number: u8, key: Fingerprint) -> Result<Self> {
        let algorithm = SymmetricAlgorithm::from(number);
        if !algorithm.is_supported() && !cfb::is_known(number) {
            return Err(Error::UnknownProtection { key, what: format!("cipher {number}") });
        }
        Ok(Self { algorithm, key })
    }

    /// Returns the octets of its keys.
    pub(crate) fn key_length(self) -> Result<usize> {
        self.algorithm.key_size().map_err(|error| self.failed("ciphers", &error))
    }

    /// Decrypts in CFB mode.
    pub(crate) fn open_cfb(self, key: &[u8], iv: &[u8], data: &[u8]) -> Result<Guarded> {
        if !self.algorithm.is_supported() {
            let mut plain = Guarded::copy_of(data);
            let opened = cfb::open(self.algorithm.into(), key, iv, &mut plain);
            return opened.map(|()| plain).ok_or_else(|| self.failed("decrypting", &"wrong sizes"));
        }
        let mut plain = Guarded::zeroed(data.len());
        let key = SessionKey::from(key);
        let mode = BlockCipherMode::CFB;
        let data = buffered_reader::Memory::with_cookie(data, Cookie::default());
        let opened = Decryptor::new(self.algorithm, mode, UnpaddingMode::None, &key, Some(iv), data)
            .and_then(|mut decryptor| Ok(std::io::Read::read_exact(&mut decryptor, &mut plain)?));
        opened.map_err(|error| self.failed("decrypting", &error))?;
        Ok(plain)
    }

    /// Encrypts in CFB mode.
    pub(crate) fn seal_cfb(self, key: &[u8], iv: &[u8], plain: &[u8]) -> Result<Vec<u8>> {
        let mut data = Vec::with_capacity(plain.len());
        let key = SessionKey::from(key);
        let mode = BlockCipherMode::CFB;
        let sealed = Encryptor::new(self.algorithm, mode, PaddingMode::None, &key, Some(iv), &mut data)
            .and_then(|mut encryptor| {
                encryptor.write_all(plain)?;
                encryptor.finalize()?;
                Ok(())
            });
        sealed.map_err(|error| self.failed("encrypting", &error))?;
        Ok(data)
    }

    /// Decrypts in an authenticated mode; `None` if the data is not what was sealed.
    pub(crate) fn open_aead(
        self,
        mode: AEADAlgorithm,
        key: &[u8],
        nonce: &[u8],
        associated: &[u8],
        data: &[u8],
    ) -> Result<Option<Guarded>> {
        let failed = |error| self.failed("decrypting", &error);
        let Some(length) = data.len().checked_sub(mode.digest_size().map_err(failed)?) else {
            return Ok(None);
        };
        let mut plain = Guarded::zeroed(length);
        let key = SessionKey::from(key);
        let builder = mode.context(self.algorithm, &key, associated, nonce).map_err(failed)?;
        let mut context = builder.for_decryption().map_err(failed)?;
        Ok(context.decrypt_verify(&mut plain, data).is_ok().then_some(plain))
    }

    /// Encrypts in an authenticated mode.
    pub(crate) fn seal_aead(
        self,
        mode: AEADAlgorithm,
        key: &[u8],
        nonce: &[u8],
        associated: &[u8],
        plain: &[u8],
    ) -> Result<Vec<u8>> {
        let failed = |error| self.failed("encrypting", &error);
        let mut data = vec![0; plain.len() + mode.digest_size().map_err(failed)?];
        let key = SessionKey::from(key);
        let builder = mode.context(self.algorithm, &key, associated, nonce).map_err(failed)?;
        let mut context = builder.for_encryption().map_err(failed)?;
        context.encrypt_seal(&mut data, plain).map_err(failed)?;
        Ok(data)
    }

    fn failed(self, what: &'static str, error: &dyn std::fmt::Display) -> Error {
        Error::Operation { key: self.key, what, reason: error.to_string() }
    }
}

/// Appends what checks a plain secret by its SHA-1.
pub(crate) fn with_sha1(material: &[u8]) -> Zeroizing<Vec<u8>> {
    let digest = verify::naming::sha1(&[material]);
    let mut checked = Zeroizing::new(Vec::with_capacity(material.len() + digest.len()));
    checked.extend_from_slice(material);
    checked.extend_from_slice(&digest);
    checked
}
