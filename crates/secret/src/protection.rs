//! How the secret part of a key is protected, and the layout of the secret part (RFC 9580, 5.5.3; LibrePGP for version 5).

use std::ops::Range;

use symmetric::{Aead, Cipher, S2k};
use verify::HashAlgorithm;

use crate::fields::Fields;
use crate::specifier::{Specifier, stub};

/// How the secret part of a key is protected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Protection {
    /// Without protection.
    None,
    /// With a passphrase.
    Locked(Locked),
    /// The secret is missing (GnuPG's stub).
    Dummy,
    /// The secret is on a card.
    Card {
        /// The serial number of the card; empty if it is unknown.
        serial: Vec<u8>,
    },
    /// By gpg-agent, which has the secret, and asks for its passphrase itself.
    Agent {
        /// Whether it has a passphrase; `None` if that is unknown.
        locked: Option<bool>,
        /// The serial number of the card that it is on, if it is on one; empty if that is unknown.
        card: Option<Vec<u8>>,
    },
    /// In an unknown way; says what is unknown.
    Unknown(String),
}

/// How a passphrase protects a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Locked {
    /// How a wrong passphrase is detected.
    pub check: IntegrityCheck,
    /// The cipher's number (RFC 9580, 9.3).
    pub cipher: u8,
    /// How the cipher's key is derived from the passphrase.
    pub s2k: S2k,
}

/// How a wrong passphrase or a change is detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntegrityCheck {
    /// By a checksum of 16 bits (usage 255, and the old form).
    Sum16,
    /// By a SHA-1 (usage 254).
    Sha1,
    /// By the authenticated mode with this number (usage 253; RFC 9580, 9.6).
    Aead(u8),
}

impl Protection {
    /// Returns whether the secret is there, locked or not, or the agent uses it.
    pub fn has_secret(&self) -> bool {
        matches!(self, Self::None | Self::Locked(_) | Self::Agent { .. } | Self::Unknown(_))
    }

    /// Returns whether a passphrase has to be given here; the agent asks for those of its keys.
    pub fn is_locked(&self) -> bool {
        matches!(self, Self::Locked(_))
    }
}

/// The usages of a string-to-key specifier.
const USAGE_AEAD: u8 = 253;
const USAGE_SHA1: u8 = 254;
const USAGE_SUM16: u8 = 255;

/// The layout of a secret part.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) protection: Protection,
    /// The initialisation vector or nonce.
    pub(crate) iv: Range<usize>,
    /// The secret numbers, encrypted or not, with their checksum, digest or tag.
    pub(crate) data: Range<usize>,
}

impl Layout {
    /// Reads the secret part of a key packet of version 4 to 6.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(crate) fn read(version: u8, secret: &[u8]) -> Result<Self, &'static str> {
        if version == 5 {
            return Self::read_version_5(secret);
        }
        let mut fields = Fields(secret);
        let usage = fields.u8().ok_or(SHORT)?;
        if usage == 0 {
            return Ok(Self { protection: Protection::None, iv: 1..1, data: 1..secret.len() });
        }
        // Version 6 has the length of the fields that are not encrypted.
        let end = if version == 6 {
            let count = usize::from(fields.u8().ok_or(SHORT)?);
            if count > fields.0.len() {
                return Err(SHORT);
            }
            Some(secret.len() - fields.0.len() + count)
        } else {
            None
        };
        let parameters = end.unwrap_or(secret.len());
        let mut fields = Fields(&secret[secret.len() - fields.0.len()..parameters]);
        let protection = read_parameters(version, usage, &mut fields)?;
        let start = parameters - fields.0.len();
        Ok(match &protection {
            Protection::Locked(locked) => {
                let length = match end {
                    Some(end) => end - start,
                    None => iv_length(locked).ok_or("its cipher or mode is not known")?,
                };
                if length > secret.len() - start {
                    return Err(SHORT);
                }
                Self { protection, iv: start..start + length, data: start + length..secret.len() }
            }
            _ => Self { protection, iv: start..start, data: parameters..secret.len() },
        })
    }

    /// Reads the secret part of a key packet of version 5, which has the length of the fields that are not encrypted,
    /// and that of the secret numbers. The latter says nothing new, and GnuPG passes over it.
    fn read_version_5(secret: &[u8]) -> Result<Self, &'static str> {
        let mut fields = Fields(secret);
        let usage = fields.u8().ok_or(SHORT)?;
        let mut parameters = Fields(fields.counted().ok_or(SHORT)?);
        let end = secret.len() - fields.0.len();
        fields.take(4).ok_or(SHORT)?;
        let protection = match usage {
            0 if parameters.0.is_empty() => Protection::None,
            0 => return Err("it says how its secret part is protected, which is not"),
            _ => read_parameters(5, usage, &mut parameters)?,
        };
        Ok(Self { protection, iv: end - parameters.0.len()..end, data: end + 4..secret.len() })
    }
}

const SHORT: &str = "its secret part is cut short";

fn read_parameters(version: u8, usage: u8, fields: &mut Fields<'_>) -> Result<Protection, &'static str> {
    if !matches!(usage, USAGE_AEAD | USAGE_SHA1 | USAGE_SUM16) {
        // The old form: the usage is the cipher, and its key is the MD5 digest of the passphrase.
        let s2k = S2k::Simple { hash: HashAlgorithm::MD5 };
        let locked = Locked { check: IntegrityCheck::Sum16, cipher: usage, s2k };
        return Ok(known_protection(version, locked));
    }
    let cipher = fields.u8().ok_or(SHORT)?;
    let check = match usage {
        USAGE_AEAD => IntegrityCheck::Aead(fields.u8().ok_or(SHORT)?),
        USAGE_SHA1 => IntegrityCheck::Sha1,
        _ => IntegrityCheck::Sum16,
    };
    let specifier = if version == 6 && usage != USAGE_SUM16 {
        let mut counted = Fields(fields.counted().ok_or(SHORT)?);
        let specifier = Specifier::read(&mut counted).ok_or(SHORT)?;
        if !counted.0.is_empty() {
            return Err("its string-to-key specifier is longer than it should be");
        }
        specifier
    } else {
        Specifier::read(fields).ok_or(SHORT)?
    };
    Ok(match specifier {
        Specifier::S2k(s2k) => known_protection(version, Locked { check, cipher, s2k }),
        Specifier::Stub => Protection::Dummy,
        Specifier::Card(serial) => Protection::Card { serial },
        Specifier::UnknownGnu(mode) => Protection::Unknown(format!("GnuPG's mode {mode}")),
        Specifier::Unknown(kind) => Protection::Unknown(format!("string-to-key specifier {kind}")),
    })
}

/// Returns the protection; [`Protection::Unknown`] where the sizes of its fields are unknown.
fn known_protection(version: u8, locked: Locked) -> Protection {
    let unknown = match locked.check {
        IntegrityCheck::Sum16 if version == 6 => Some("a sum of 16 bits in a key of version 6".to_owned()),
        IntegrityCheck::Aead(mode) if nonce_length(mode).is_none() => Some(format!("mode {mode}")),
        _ if block_length(locked.cipher).is_none() => Some(format!("cipher {}", locked.cipher)),
        _ => None,
    };
    unknown.map_or(Protection::Locked(locked), Protection::Unknown)
}

fn iv_length(locked: &Locked) -> Option<usize> {
    match locked.check {
        IntegrityCheck::Aead(mode) => nonce_length(mode),
        IntegrityCheck::Sha1 | IntegrityCheck::Sum16 => block_length(locked.cipher),
    }
}

/// Returns the size of a mode's nonce in bytes (RFC 9580, 9.6).
fn nonce_length(mode: u8) -> Option<usize> {
    Aead::of(mode).map(Aead::nonce_size)
}

/// Returns the size of a cipher's block in bytes (RFC 9580, 9.3).
fn block_length(cipher: u8) -> Option<usize> {
    Cipher::of(cipher).map(Cipher::block_size)
}

/// Appends a locked secret part.
pub(crate) fn write_locked(version: u8, locked: &Locked, iv: &[u8], data: &[u8], out: &mut Vec<u8>) {
    let specifier = locked.s2k.to_bytes();
    let mut parameters = vec![locked.cipher];
    if let IntegrityCheck::Aead(mode) = locked.check {
        parameters.push(mode);
    }
    if version == 6 {
        parameters.push(specifier.len() as u8);
    }
    parameters.extend(specifier);
    parameters.extend(iv);
    out.push(match locked.check {
        IntegrityCheck::Aead(_) => USAGE_AEAD,
        IntegrityCheck::Sha1 => USAGE_SHA1,
        IntegrityCheck::Sum16 => USAGE_SUM16,
    });
    if version != 4 {
        out.push(parameters.len() as u8);
    }
    out.extend(parameters);
    if version == 5 {
        out.extend((data.len() as u32).to_be_bytes());
    }
    out.extend(data);
}

/// Appends the secret part of GnuPG's stub.
pub(crate) fn write_stub(version: u8, out: &mut Vec<u8>) {
    let stub = stub();
    let length = stub.len() as u8;
    match version {
        // Versions 5 and 6 with their length fields.
        6 => out.extend([USAGE_SHA1, 2 + length, 0, length]),
        5 => out.extend([USAGE_SUM16, 1 + length, 0]),
        _ => out.extend([USAGE_SUM16, 0]),
    }
    out.extend(stub);
    if version == 5 {
        out.extend([0; 4]);
    }
}

/// Appends a secret part without protection.
pub(crate) fn write_plain(version: u8, material: &[u8], out: &mut Vec<u8>) {
    out.push(0);
    if version == 5 {
        // The length is without the checksum, as GnuPG writes it.
        out.push(0);
        out.extend((material.len() as u32).to_be_bytes());
    }
    out.extend(material);
    if version != 6 {
        out.extend(sum16(material).to_be_bytes());
    }
}

/// Returns the checksum of plain secrets of version 4: the sum of the bytes.
pub(crate) fn sum16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |sum, &byte| sum.wrapping_add(byte.into()))
}
