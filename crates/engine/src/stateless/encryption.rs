//! Encrypting messages.

use std::io::{Read, Write};
use std::path::Path;

use cert::Timestamp;
use cert::armor_writer::ArmorWriter;
use cert::facts::SignatureType;
use message::{
    Cipher, ContentSigner, DEFAULT_CHUNK, DEFAULT_HASH, DataProtection, Format, Literal, LiteralOptions,
    MessageRecipients, NoSigner, Recipient, S2k, SessionKey,
};
use zeroize::Zeroizing;

use super::signatures::{signers, signing};
use super::text::{Utf8, of_text};
use super::{Certificates, Failure, Keys, Kind, Password, Result};
use crate::recipients::{
    self, EncryptionKey, EncryptionPurpose, Preferences, RecipientCandidate, RecipientObstacle,
};

/// How a message is encrypted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// SEIPD version 2 (RFC 9580) if all recipients have that feature, or else version 1.
    #[default]
    Default,
    /// SEIPD version 1, which every program reads: AES-256 in CFB mode.
    Rfc4880,
    /// SEIPD version 2 (RFC 9580): AES-256 in OCB mode, in authenticated chunks.
    Rfc9580,
}

impl Profile {
    /// The profiles, the default one first: the name, and what it means.
    pub const ALL: [(Self, &'static str, &'static str); 3] = [
        (
            Self::Default,
            "default",
            "RFC 9580 where all recipients read it, else RFC 4880 (aliases: performance, security)",
        ),
        (Self::Rfc4880, "rfc4880", "SEIPD version 1, AES-256: every program reads it (alias: compatibility)"),
        (Self::Rfc9580, "rfc9580", "SEIPD version 2, AES-256 in OCB mode, Argon2 for passwords"),
    ];

    /// Returns the profile of a name.
    ///
    /// # Errors
    ///
    /// [`Kind::UnsupportedProfile`].
    pub fn named(name: &str) -> Result<Self> {
        match name {
            "performance" | "security" => Ok(Self::Default),
            "compatibility" => Ok(Self::Rfc4880),
            name => Self::ALL
                .iter()
                .find(|(_, known, _)| *known == name)
                .map(|(profile, ..)| *profile)
                .ok_or_else(|| {
                    Failure::new(Kind::UnsupportedProfile, format!("{name}: unknown profile of messages"))
                }),
        }
    }
}

/// A message that is to be encrypted.
#[derive(Clone, Default)]
pub struct Encryption {
    /// How.
    pub profile: Profile,
    /// What it is for.
    pub purpose: EncryptionPurpose,
    /// The data are UTF-8 text.
    pub as_text: bool,
    /// With armor.
    pub with_armor: bool,
    /// The recipients.
    pub recipients: Vec<Certificates>,
    /// The passwords, each of which decrypts it.
    pub passwords: Vec<Password>,
    /// The keys that sign it.
    pub signers: Vec<Keys>,
    /// What unlocks their keys.
    pub key_passwords: Vec<Password>,
}

/// Encrypts data, and returns the session key.
///
/// # Errors
///
/// [`Kind::MissingArg`] if nobody could read it, [`Kind::CertCannotEncrypt`], [`Kind::KeyCannotSign`],
/// [`Kind::KeyIsProtected`], [`Kind::ExpectedText`].
pub fn encrypt(
    data: &mut dyn Read,
    out: &mut (dyn Write + Send),
    encryption: &Encryption,
    now: Timestamp,
) -> Result<SessionKey> {
    if encryption.recipients.is_empty() && encryption.passwords.is_empty() {
        return Err(Failure::new(Kind::MissingArg, "nobody could read it: give a certificate or a password"));
    }
    let keys = encryption.keys(now)?;
    let (cipher, protection) = encryption.protection(&keys);
    let recipients = keys.iter().map(|key| Recipient { public: &key.public, is_hidden: false }).collect();
    let for_whom = MessageRecipients { passwords: encryption.passwords(protection)?, recipients };
    let mut signers = signers(&encryption.signers, &encryption.key_passwords, now)?;
    let kind = if encryption.as_text { SignatureType::TEXT } else { SignatureType::BINARY };
    let mut companion: Box<dyn ContentSigner> = match &mut signers[..] {
        [] => Box::new(NoSigner),
        signers => Box::new(signing(signers, kind, &keys, now)?),
    };
    let format = if encryption.as_text { Format::Utf8 } else { Format::Binary };
    let content =
        LiteralOptions { literal: Literal { format, ..Literal::default() }, ..LiteralOptions::default() };
    let how = message::Encryption { cipher, protection, content, is_padded: false };
    let mut write = |out: &mut (dyn Write + Send)| match encryption.as_text {
        true => message::encrypt(&mut Utf8::new(&mut *data), out, &for_whom, &how, companion.as_mut()),
        false => message::encrypt(data, out, &for_whom, &how, companion.as_mut()),
    };
    if !encryption.with_armor {
        return write(out).map_err(of_text);
    }
    let mut armored = ArmorWriter::titled(out, "MESSAGE");
    let key = write(&mut armored).map_err(of_text)?;
    armored.finish()?;
    Ok(key)
}

impl Encryption {
    /// Returns the recipients' keys.
    fn keys(&self, now: Timestamp) -> Result<Vec<EncryptionKey>> {
        // A revocation counts in whichever file it is, and so does its issuer's key.
        let keyring = Certificates::joined(self.recipients.clone()).keyring(Path::new("CERTS"));
        let key = |candidate: RecipientCandidate| {
            let name = candidate.fingerprint;
            let obstacle = candidate.obstacle.unwrap_or(RecipientObstacle::NoEncryptionKey);
            candidate.key.ok_or_else(|| {
                Failure::new(Kind::CertCannotEncrypt, format!("{name}: cannot encrypt to it: {obstacle}"))
            })
        };
        recipients::of_keyring(&keyring, &[], self.purpose, now)?.into_iter().map(key).collect()
    }

    /// Returns the cipher and the protection that the profile and the recipients prefer.
    fn protection(&self, keys: &[EncryptionKey]) -> (Cipher, DataProtection) {
        let preferences: Vec<&Preferences> = keys.iter().map(|key| &key.preferences).collect();
        let (cipher, mode) = match self.profile {
            Profile::Default => recipients::preferred(&preferences),
            Profile::Rfc4880 => (recipients::preferred_cipher(&preferences), None),
            Profile::Rfc9580 => {
                let (cipher, mode) = recipients::preferred_ciphersuite(&preferences);
                (cipher, Some(mode))
            }
        };
        let protection = match mode {
            Some(mode) => DataProtection::Aead { mode, chunk: DEFAULT_CHUNK },
            None => DataProtection::Mdc,
        };
        (cipher, protection)
    }

    fn passwords(&self, protection: DataProtection) -> Result<Vec<(Zeroizing<Vec<u8>>, S2k)>> {
        let with_specifier = |password: &Password| {
            let s2k = match protection {
                DataProtection::Aead { .. } => S2k::argon2().map_err(message::Error::from)?,
                _ => S2k::iterated(DEFAULT_HASH, 1 << 26).map_err(message::Error::from)?,
            };
            Ok((password.bytes().to_vec().into(), s2k))
        };
        self.passwords.iter().map(with_specifier).collect()
    }
}
