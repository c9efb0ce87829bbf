//! Writes encrypted messages.

use std::io::{Read, Write};

use cert::packet::{self, Tag};
use verify::HashAlgorithm;
use zeroize::Zeroizing;

use crate::content_writer::{ContentSigner, LiteralOptions};
use crate::decrypt::MAX_PASSWORDS;
use crate::encrypted_data::EncryptedDataFormat;
use crate::padding::Counted;
use crate::recipient::Recipient;
use crate::{Aead, Cipher, Error, Result, S2k, SessionKey, Skesk, encrypt_stream};
use symmetric::random;

/// The protection of encrypted data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataProtection {
    /// Cipher feedback and a SHA-1, which every implementation reads.
    Mdc,
    /// Authenticated chunks (RFC 9580, 5.13.2).
    Aead {
        /// The mode.
        mode: Aead,
        /// The coded size of chunks, 0 (64 bytes) to 16 (4 MiB).
        chunk: u8,
    },
    /// Authenticated chunks of GnuPG 2.3 and later.
    Gnupg {
        /// The mode.
        mode: Aead,
        /// The coded size of chunks, 0 (64 bytes) to 16 (4 MiB).
        chunk: u8,
    },
}

/// The default coded size of chunks: 256 KiB, which fit in the cores' caches.
pub const DEFAULT_CHUNK: u8 = 12;

/// The passwords and public keys that decrypt a message.
#[derive(Clone, Default)]
pub struct MessageRecipients<'a> {
    /// The passwords, with their key derivation.
    pub passwords: Vec<(Zeroizing<Vec<u8>>, S2k)>,
    /// The public keys.
    pub recipients: Vec<Recipient<'a>>,
}

/// Options of encryption.
#[derive(Clone, Debug)]
pub struct Encryption {
    /// The cipher.
    pub cipher: Cipher,
    /// The protection against changes.
    pub protection: DataProtection,
    /// The options of the content.
    pub content: LiteralOptions,
    /// Whether the content is padded, so that the message does not show its exact length; before RFC 9580 programs did
    /// not know padding.
    pub is_padded: bool,
}

impl Default for Encryption {
    /// AES-256 in the format that every implementation reads, uncompressed.
    fn default() -> Self {
        Self {
            cipher: Cipher::Aes256,
            protection: DataProtection::Mdc,
            content: LiteralOptions::default(),
            is_padded: false,
        }
    }
}

/// Encrypts all of `input` to `output`, and returns the session key.
///
/// The session key is for display; dropping it wipes it.
///
/// # Errors
///
/// Those of input and output, and for impossible recipients and options.
pub fn encrypt(
    input: &mut dyn Read,
    output: &mut (dyn Write + Send),
    encrypted_keys: &MessageRecipients<'_>,
    encryption: &Encryption,
    signer: &mut dyn ContentSigner,
) -> Result<SessionKey> {
    encryption.content.check()?;
    let (packets, key) = session_key(encrypted_keys, encryption)?;
    output.write_all(&packets).map_err(Error::Write)?;
    encrypt_stream::encrypt_stream(&container(encryption)?, &key, output, |sealed| {
        let mut counted = Counted::new(sealed);
        encryption.content.write(input, &mut counted, signer)?;
        if encryption.is_padded { counted.pad() } else { Ok(()) }
    })?;
    output.flush().map_err(Error::Write)?;
    Ok(key)
}

fn container(encryption: &Encryption) -> Result<EncryptedDataFormat> {
    let cipher = encryption.cipher;
    Ok(match encryption.protection {
        DataProtection::Mdc => EncryptedDataFormat::Version1,
        DataProtection::Aead { mode, chunk } => {
            EncryptedDataFormat::Version2 { cipher, mode, chunk, salt: random()? }
        }
        DataProtection::Gnupg { mode, chunk } => EncryptedDataFormat::Gnupg {
            cipher,
            mode,
            chunk,
            nonce: random::<16>()?[..mode.nonce_size()].to_vec(),
        },
    })
}

/// Generates the session key and the packets with the encrypted session keys, in GnuPG's order: public keys, then
/// passwords.
fn session_key(
    encrypted_keys: &MessageRecipients<'_>,
    encryption: &Encryption,
) -> Result<(Vec<u8>, SessionKey)> {
    if let ([], [(password, s2k)], DataProtection::Mdc) =
        (&encrypted_keys.recipients[..], &encrypted_keys.passwords[..], encryption.protection)
    {
        let (body, key) = Skesk::direct(encryption.cipher, s2k, password)?;
        return Ok((packet::write(Tag(3), &body), key));
    }
    if encrypted_keys.recipients.is_empty() && encrypted_keys.passwords.is_empty() {
        return Err(Error::Options("neither a password nor a recipient is given"));
    }
    if encrypted_keys.passwords.len() > MAX_PASSWORDS {
        return Err(Error::Limit("passwords of one message"));
    }
    let key = SessionKey::random(encryption.cipher)?;
    let mut packets = Vec::new();
    for recipient in &encrypted_keys.recipients {
        let seipd2 = matches!(encryption.protection, DataProtection::Aead { .. });
        packets.extend(recipient.seal(&key, seipd2)?);
    }
    for (password, s2k) in &encrypted_keys.passwords {
        let body = match encryption.protection {
            DataProtection::Mdc => Skesk::seal_4(&key, s2k, password)?,
            DataProtection::Aead { mode, .. } => Skesk::seal_authenticated(6, &key, mode, s2k, password)?,
            DataProtection::Gnupg { mode, .. } => Skesk::seal_authenticated(5, &key, mode, s2k, password)?,
        };
        packets.extend(packet::write(Tag(3), &body));
    }
    Ok((packets, key))
}

/// GnuPG's default hash algorithm for passwords.
pub const DEFAULT_HASH: HashAlgorithm = HashAlgorithm::SHA256;
