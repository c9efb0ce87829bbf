//! The formats of encrypted data, and how their keys and nonces are derived.

use zeroize::Zeroizing;

use crate::pipeline::Buffer;
use crate::{Aead, Cipher, Error, Result, SessionKey};
use symmetric::{AeadKey, HkdfHash};

/// The format of an encrypted data packet, with its unencrypted fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EncryptedDataFormat {
    /// Cipher feedback without protection against changes (RFC 9580, 5.7), which is obsolete.
    Unprotected,
    /// Cipher feedback with a SHA-1 at the end (RFC 9580, 5.13.1).
    Version1,
    /// Authenticated chunks (RFC 9580, 5.13.2).
    Version2 {
        /// The cipher.
        cipher: Cipher,
        /// The mode.
        mode: Aead,
        /// The coded size of chunks: 2 to the power of this value plus 6.
        chunk: u8,
        /// The salt.
        salt: [u8; 32],
    },
    /// Authenticated chunks of GnuPG (packet type 20).
    Gnupg {
        /// The cipher.
        cipher: Cipher,
        /// The mode.
        mode: Aead,
        /// The coded size of chunks: 2 to the power of this value plus 6.
        chunk: u8,
        /// The first nonce.
        nonce: Vec<u8>,
    },
}

/// The coded size of the longest chunk, 4 MiB (RFC 9580, 5.13.2).
pub(crate) const MAX_CHUNK: u8 = 16;
/// The size in bytes of the longest chunk that is read or written.
pub const MAX_CHUNK_BYTES: usize = 1 << (MAX_CHUNK + 6);

impl EncryptedDataFormat {
    /// Returns the type of the packet.
    pub fn tag(&self) -> u8 {
        match self {
            Self::Unprotected => 9,
            Self::Version1 | Self::Version2 { .. } => 18,
            Self::Gnupg { .. } => 20,
        }
    }

    /// Returns the cipher, if the unencrypted fields name it.
    pub fn cipher(&self) -> Option<Cipher> {
        match self {
            Self::Unprotected | Self::Version1 => None,
            Self::Version2 { cipher, .. } | Self::Gnupg { cipher, .. } => Some(*cipher),
        }
    }

    /// Returns the mode, if the data are authenticated chunks.
    pub fn mode(&self) -> Option<Aead> {
        match self {
            Self::Unprotected | Self::Version1 => None,
            Self::Version2 { mode, .. } | Self::Gnupg { mode, .. } => Some(*mode),
        }
    }

    /// Returns the unencrypted fields before the encrypted data.
    pub(crate) fn head(&self) -> Vec<u8> {
        match self {
            Self::Unprotected => Vec::new(),
            Self::Version1 => vec![1],
            Self::Version2 { cipher, mode, chunk, salt } => {
                [&[2, cipher.number(), mode.number(), *chunk], &salt[..]].concat()
            }
            Self::Gnupg { cipher, mode, chunk, nonce } => {
                [&[1, cipher.number(), mode.number(), *chunk], &nonce[..]].concat()
            }
        }
    }
}

/// Encrypts and decrypts chunks.
#[derive(Clone)]
pub(crate) struct ChunkKey {
    key: AeadKey,
    /// The common prefix of all nonces, or GnuPG's first nonce.
    nonce: Zeroizing<Vec<u8>>,
    /// The associated data of each chunk, before its index where that is included.
    associated: [u8; 5],
    /// Whether this is GnuPG's format.
    gnupg: bool,
    chunk_size: usize,
}

impl ChunkKey {
    /// Derives the key and nonces of a container.
    ///
    /// # Errors
    ///
    /// If the container has no chunks, if they are too long, or if the session key is for another cipher.
    pub(crate) fn new(container: &EncryptedDataFormat, session_key: &SessionKey) -> Result<Self> {
        let (cipher, mode, chunk, salt, gnupg) = match container {
            EncryptedDataFormat::Version2 { cipher, mode, chunk, salt } => {
                (*cipher, *mode, *chunk, &salt[..], false)
            }
            EncryptedDataFormat::Gnupg { cipher, mode, chunk, nonce } => {
                (*cipher, *mode, *chunk, &nonce[..], true)
            }
            EncryptedDataFormat::Unprotected | EncryptedDataFormat::Version1 => {
                return Err(Error::Malformed("no chunks in this packet"));
            }
        };
        if chunk > MAX_CHUNK {
            return Err(Error::Limit("chunks of authenticated encryption longer than 4 MiB"));
        }
        if session_key.cipher() != cipher {
            return Err(Error::WrongKey);
        }
        let version = if gnupg { 1 } else { 2 };
        let associated = [0xc0 | container.tag(), version, cipher.number(), mode.number(), chunk];
        let chunk_size = 1 << (chunk + 6);
        let (key, nonce) = if gnupg {
            (AeadKey::new(cipher, mode, session_key.key())?, salt.to_vec())
        } else {
            let mut derived = Zeroizing::new(vec![0; cipher.key_size() + mode.nonce_size() - 8]);
            symmetric::expand(HkdfHash::Sha256, session_key.key(), salt, &associated, &mut derived);
            let (key, nonce) = derived.split_at(cipher.key_size());
            (AeadKey::new(cipher, mode, key)?, nonce.to_vec())
        };
        Ok(Self { key, nonce: Zeroizing::new(nonce), associated, gnupg, chunk_size })
    }

    /// Returns the size in bytes of all chunks but the last.
    pub(crate) fn chunk_size(&self) -> usize {
        self.chunk_size
    }

    fn nonce(&self, index: u64) -> Vec<u8> {
        let mut nonce = self.nonce.to_vec();
        if self.gnupg {
            let at = nonce.len() - 8;
            nonce[at..].iter_mut().zip(index.to_be_bytes()).for_each(|(byte, number)| *byte ^= number);
        } else {
            nonce.extend(index.to_be_bytes());
        }
        nonce
    }

    fn associated(&self, index: u64, total: Option<u64>) -> Vec<u8> {
        let mut associated = self.associated.to_vec();
        if self.gnupg {
            associated.extend(index.to_be_bytes());
        }
        associated.extend(total.into_iter().flat_map(u64::to_be_bytes));
        associated
    }

    /// Encrypts a chunk and appends its tag.
    pub(crate) fn seal(&self, index: u64, data: &mut Buffer) {
        let tag = self.key.seal(&self.nonce(index), &self.associated(index, None), data);
        data.extend_from_slice(&tag);
    }

    /// Returns the final tag after `count` chunks with `total` bytes.
    pub(crate) fn end(&self, count: u64, total: u64) -> [u8; 16] {
        self.key.seal(&self.nonce(count), &self.associated(count, Some(total)), &mut [])
    }

    /// Decrypts a chunk without its tag.
    pub(crate) fn open(&self, index: u64, data: &mut [u8], tag: &[u8]) -> Result<()> {
        Ok(self.key.open(&self.nonce(index), &self.associated(index, None), data, tag)?)
    }

    /// Verifies the final tag.
    pub(crate) fn check_end(&self, count: u64, total: u64, tag: &[u8]) -> Result<()> {
        Ok(self.key.open(&self.nonce(count), &self.associated(count, Some(total)), &mut [], tag)?)
    }
}
