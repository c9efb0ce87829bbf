//! Writes encrypted messages.

use std::io::{self, Read, Write};

use cert::packet::{self, Tag};
use verify::HashAlgorithm;
use zeroize::Zeroizing;

use crate::compress::{Compression, DEFAULT_LEVEL, compress};
use crate::container::Container;
use crate::frame::Packet;
use crate::literal::Literal;
use crate::pipeline::PIECE;
use crate::recipient::Recipient;
use crate::s2k::random;
use crate::{Aead, Cipher, Error, Result, S2k, SessionKey, Skesk, seal};

/// How data are protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// Cipher feedback and a SHA-1: what every program reads.
    Mdc,
    /// Authenticated chunks (RFC 9580, 5.13.2).
    Aead {
        /// The mode.
        mode: Aead,
        /// The coded size of chunks, 0 (64 octets) to 16 (4 MiB).
        chunk: u8,
    },
    /// Authenticated chunks as GnuPG 2.3 and later write them.
    Gnupg {
        /// The mode.
        mode: Aead,
        /// The coded size of chunks, 0 (64 octets) to 16 (4 MiB).
        chunk: u8,
    },
}

/// The coded size of chunks where none is asked for: 256 KiB, which memory and the cores' caches like.
pub const DEFAULT_CHUNK: u8 = 12;

/// What opens the message.
#[derive(Clone, Default)]
pub struct Openers<'a> {
    /// Passwords, with how each becomes a key.
    pub passwords: Vec<(Zeroizing<Vec<u8>>, S2k)>,
    /// Public keys.
    pub recipients: Vec<Recipient<'a>>,
}

/// What is written how.
#[derive(Clone, Debug)]
pub struct Encryption {
    /// The cipher.
    pub cipher: Cipher,
    /// The protection against changes.
    pub protection: Protection,
    /// The compression.
    pub compression: Compression,
    /// Its level, 0 to 9.
    pub level: u8,
    /// What the message says about its content.
    pub literal: Literal,
}

impl Default for Encryption {
    /// AES-256 as every program reads it, uncompressed.
    fn default() -> Self {
        Self {
            cipher: Cipher::Aes256,
            protection: Protection::Mdc,
            compression: Compression::Uncompressed,
            level: DEFAULT_LEVEL,
            literal: Literal::default(),
        }
    }
}

/// What goes with the literal data, around them and inside the encryption: one-pass signatures before, which hash it,
/// and signatures after.
pub trait Companion {
    /// Returns the packets before the literal data.
    ///
    /// # Errors
    ///
    /// Whatever keeps the message from being written.
    fn before(&mut self) -> Result<Vec<u8>>;
    /// Sees the literal data, piece by piece.
    fn data(&mut self, data: &[u8]);
    /// Returns the packets after the literal data.
    ///
    /// # Errors
    ///
    /// Whatever keeps the message from being written.
    fn after(&mut self) -> Result<Vec<u8>>;
}

/// Nothing goes with the data.
#[derive(Debug)]
pub struct Alone;

impl Companion for Alone {
    fn before(&mut self) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }

    fn data(&mut self, _: &[u8]) {}

    fn after(&mut self) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }
}

/// Encrypts all of `input` to `output`, and returns the session key.
///
/// The session key is for whoever asked to see it; dropping it wipes it.
///
/// # Errors
///
/// What input and output say, and what cannot be done with these openers and options.
pub fn encrypt(
    input: &mut dyn Read,
    output: &mut (dyn Write + Send),
    openers: &Openers<'_>,
    encryption: &Encryption,
    companion: &mut dyn Companion,
) -> Result<SessionKey> {
    if encryption.level > 9 {
        return Err(Error::Options("the level of a compression is 0 to 9"));
    }
    let (packets, key) = session_key(openers, encryption)?;
    output.write_all(&packets).map_err(Error::Write)?;
    seal::seal(&container(encryption)?, &key, output, |sealed| {
        compress(encryption.compression, encryption.level, sealed, |out| {
            let write = |out: &mut dyn Write, packets: &[u8]| out.write_all(packets).map_err(Error::writing);
            write(out, &companion.before()?)?;
            literal(input, out, &encryption.literal, companion)?;
            write(out, &companion.after()?)
        })
    })?;
    output.flush().map_err(Error::Write)?;
    Ok(key)
}

fn container(encryption: &Encryption) -> Result<Container> {
    let cipher = encryption.cipher;
    Ok(match encryption.protection {
        Protection::Mdc => Container::Version1,
        Protection::Aead { mode, chunk } => Container::Version2 { cipher, mode, chunk, salt: random()? },
        Protection::Gnupg { mode, chunk } => {
            Container::Gnupg { cipher, mode, chunk, nonce: random::<16>()?[..mode.nonce_size()].to_vec() }
        }
    })
}

/// Makes the session key and the packets that hand it to the openers, in GnuPG's order: public keys, then passwords.
fn session_key(openers: &Openers<'_>, encryption: &Encryption) -> Result<(Vec<u8>, SessionKey)> {
    if let ([], [(password, s2k)], Protection::Mdc) =
        (&openers.recipients[..], &openers.passwords[..], encryption.protection)
    {
        let (body, key) = Skesk::direct(encryption.cipher, s2k, password)?;
        return Ok((packet::write(Tag(3), &body), key));
    }
    if openers.recipients.is_empty() && openers.passwords.is_empty() {
        return Err(Error::Options("neither a password nor a recipient is given"));
    }
    let key = SessionKey::random(encryption.cipher)?;
    let mut packets = Vec::new();
    for recipient in &openers.recipients {
        let seipd2 = matches!(encryption.protection, Protection::Aead { .. });
        packets.extend(recipient.seal(&key, seipd2)?);
    }
    for (password, s2k) in &openers.passwords {
        let body = match encryption.protection {
            Protection::Mdc => Skesk::seal_4(&key, s2k, password)?,
            Protection::Aead { mode, .. } => Skesk::seal_authenticated(6, &key, mode, s2k, password)?,
            Protection::Gnupg { mode, .. } => Skesk::seal_authenticated(5, &key, mode, s2k, password)?,
        };
        packets.extend(packet::write(Tag(3), &body));
    }
    Ok((packets, key))
}

/// Writes the literal data packet.
fn literal(
    input: &mut dyn Read,
    out: &mut dyn Write,
    literal: &Literal,
    companion: &mut dyn Companion,
) -> Result<()> {
    let mut packet = Packet::new(out, Tag(11));
    packet.write_all(&literal.head()).map_err(Error::writing)?;
    let mut text = literal.lines();
    let mut buffer = Zeroizing::new(vec![0; PIECE]);
    loop {
        let count = match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Error::Read(error)),
        };
        let data = text.convert(&buffer[..count]);
        companion.data(&data);
        packet.write_all(&data).map_err(Error::writing)?;
    }
    packet.finish().map(drop).map_err(Error::writing)
}

/// GnuPG's default for passwords.
pub const DEFAULT_HASH: HashAlgorithm = HashAlgorithm::SHA256;
