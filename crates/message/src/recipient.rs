//! Session keys encrypted to public keys (RFC 9580, 5.1).

use cert::packet::{self, Tag};
use cert::{Fingerprint, KeyId, key};
use secret::{Ciphertext, Decryptor, Fields};
use sequoia_openpgp::packet::key::{UnspecifiedParts, UnspecifiedRole};
use sequoia_openpgp::packet::{Key, PKESK, pkesk};
use sequoia_openpgp::parse::Parse;
use sequoia_openpgp::serialize::MarshalInto;
use sequoia_openpgp::types::SymmetricAlgorithm;
use verify::PublicKeyAlgorithm;
use zeroize::Zeroizing;

use crate::{Cipher, Error, Result, SessionKey};

/// A public key to which a message is encrypted.
#[derive(Clone, Copy, Debug)]
pub struct Recipient<'a> {
    /// The body of the key packet.
    pub public: &'a [u8],
    /// Whether the message does not name the recipient.
    pub is_hidden: bool,
}

impl Recipient<'_> {
    /// Encrypts the session key to the recipient, and returns the packet: version 6 for authenticated data of RFC 9580,
    /// else version 3.
    pub(crate) fn seal(&self, session_key: &SessionKey, seipd2: bool) -> Result<Vec<u8>> {
        let name =
            key::parse_public(self.public).map(|key| key.fingerprint().to_string()).unwrap_or_default();
        self.sealed(session_key, seipd2)
            .map_err(|error| Error::Recipient { key: name, reason: error.to_string() })
    }

    fn sealed(&self, session_key: &SessionKey, seipd2: bool) -> sequoia_openpgp::Result<Vec<u8>> {
        let public = key::parse_public(self.public)?;
        if matches!(public.algorithm, PublicKeyAlgorithm::ELGAMAL | PublicKeyAlgorithm::ELGAMAL_BOTH) {
            return self.sealed_by_elgamal(&public, session_key, seipd2);
        }
        let key: Key<UnspecifiedParts, UnspecifiedRole> = Key::from_bytes(self.public)?;
        let bytes = session_key.key().into();
        let sealed: PKESK = if seipd2 {
            let mut sealed = pkesk::PKESK6::for_recipient(&bytes, &key)?;
            if self.is_hidden {
                sealed.set_recipient(None);
            }
            sealed.into()
        } else {
            let cipher = SymmetricAlgorithm::from(session_key.cipher().number());
            let mut sealed = pkesk::PKESK3::for_recipient(cipher, &bytes, &key)?;
            if self.is_hidden {
                sealed.set_recipient(None);
            }
            sealed.into()
        };
        Ok(packet::write(Tag(1), &sealed.to_vec()?))
    }

    /// Encrypts to an Elgamal key, which only packets of version 3 support.
    fn sealed_by_elgamal(
        &self,
        key: &key::Key<'_>,
        session_key: &SessionKey,
        seipd2: bool,
    ) -> sequoia_openpgp::Result<Vec<u8>> {
        if seipd2 {
            let what = "an Elgamal key for authenticated data of RFC 9580".to_owned();
            return Err(secret::Error::Unsupported { key: key.fingerprint(), what }.into());
        }
        let sum = session_key.key().iter().fold(0_u16, |sum, byte| sum.wrapping_add((*byte).into()));
        let numbered = [&[session_key.cipher().number()], session_key.key(), &sum.to_be_bytes()].concat();
        let fields = secret::elgamal::encrypt(key, &Zeroizing::new(numbered))?;
        let name = if self.is_hidden { 0 } else { key.fingerprint().key_id().0 };
        let body = [&[3], &name.to_be_bytes()[..], &[key.algorithm.0], &fields].concat();
        Ok(packet::write(Tag(1), &body))
    }
}

/// The recipient that a packet names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressee {
    /// The key ID.
    KeyId(KeyId),
    /// The fingerprint.
    Fingerprint(Fingerprint),
    /// None.
    Hidden,
}

impl Addressee {
    /// Returns whether the recipient may be this key.
    pub fn may_be(&self, key: &Fingerprint) -> bool {
        match self {
            Self::KeyId(key_id) => key.key_id() == *key_id,
            Self::Fingerprint(fingerprint) => key == fingerprint,
            Self::Hidden => true,
        }
    }
}

/// A session key encrypted to a public key.
#[derive(Clone, Debug)]
pub struct Pkesk {
    /// The recipient.
    pub addressee: Addressee,
    /// The algorithm of the key.
    pub algorithm: PublicKeyAlgorithm,
    version: u8,
    fields: Vec<u8>,
}

const CUT: Error = Error::Malformed("a recipient's packet is cut short");

impl Pkesk {
    /// Parses the body of a packet.
    pub(crate) fn parse(body: &[u8]) -> Result<Self> {
        let (&version, rest) = body.split_first().ok_or(CUT)?;
        let (addressee, rest) = match version {
            3 => {
                let (id, rest) = rest.split_first_chunk::<8>().ok_or(CUT)?;
                let id = u64::from_be_bytes(*id);
                (if id == 0 { Addressee::Hidden } else { Addressee::KeyId(KeyId(id)) }, rest)
            }
            6 => {
                let (&length, rest) = rest.split_first().ok_or(CUT)?;
                let (name, rest) = rest.split_at_checked(length.into()).ok_or(CUT)?;
                (named(name)?, rest)
            }
            number => return Err(Error::Unsupported { what: "a recipient's packet of version", number }),
        };
        let (&algorithm, fields) = rest.split_first().ok_or(CUT)?;
        Ok(Self { addressee, algorithm: PublicKeyAlgorithm(algorithm), version, fields: fields.to_vec() })
    }

    /// Decrypts the session key with a secret key; `None` if the result is malformed.
    ///
    /// `data_cipher` is the cipher that the encrypted data name, which version 6 needs.
    ///
    /// # Errors
    ///
    /// Those of unlocking and decrypting with the secret key.
    pub fn open(
        &self,
        key: &mut dyn Decryptor,
        data_cipher: Option<Cipher>,
    ) -> std::result::Result<Option<SessionKey>, secret::Error> {
        let Some((cipher, ciphertext)) = self.ciphertext() else { return Ok(None) };
        let opened = key.decrypt(&ciphertext, None)?;
        Ok(match (self.algorithm, self.version, cipher) {
            (PublicKeyAlgorithm::X25519 | PublicKeyAlgorithm::X448, 3, Some(cipher)) => {
                SessionKey::new(cipher, &opened)
            }
            (PublicKeyAlgorithm::X25519 | PublicKeyAlgorithm::X448, ..) => {
                data_cipher.and_then(|cipher| SessionKey::new(cipher, &opened))
            }
            (_, 3, _) => checked(&opened, 1).and_then(SessionKey::from_numbered),
            _ => data_cipher.zip(checked(&opened, 0)).and_then(|(cipher, key)| SessionKey::new(cipher, key)),
        })
    }

    /// Parses the algorithm-specific fields, and the cipher if it is one of them.
    fn ciphertext(&self) -> Option<(Option<Cipher>, Ciphertext<'_>)> {
        let mut fields = Fields(&self.fields);
        Some(match self.algorithm {
            PublicKeyAlgorithm::RSA | PublicKeyAlgorithm::RSA_ENCRYPT => {
                (None, Ciphertext::Rsa { c: fields.number()? })
            }
            PublicKeyAlgorithm::ELGAMAL | PublicKeyAlgorithm::ELGAMAL_BOTH => {
                (None, Ciphertext::Elgamal { e: fields.number()?, c: fields.number()? })
            }
            PublicKeyAlgorithm::ECDH => {
                (None, Ciphertext::Ecdh { e: fields.number()?, key: fields.counted()? })
            }
            PublicKeyAlgorithm::X25519 => {
                let e = fields.take(32)?.try_into().ok()?;
                let (cipher, key) = self.unnumbered(fields.counted()?)?;
                (cipher, Ciphertext::X25519 { e, key })
            }
            PublicKeyAlgorithm::X448 => {
                let e = fields.take(56)?.try_into().ok()?;
                let (cipher, key) = self.unnumbered(fields.counted()?)?;
                (cipher, Ciphertext::X448 { e, key })
            }
            _ => return None,
        })
    }

    fn unnumbered<'a>(&self, bytes: &'a [u8]) -> Option<(Option<Cipher>, &'a [u8])> {
        if self.version != 3 {
            return Some((None, bytes));
        }
        let (&number, key) = bytes.split_first()?;
        Some((Some(Cipher::of(number)?), key))
    }
}

/// Parses the version of a key and its fingerprint.
fn named(name: &[u8]) -> Result<Addressee> {
    match name.split_first() {
        None => Ok(Addressee::Hidden),
        Some((&version @ 4..=6, bytes)) => {
            Fingerprint::new(version, bytes).map(Addressee::Fingerprint).ok_or(CUT)
        }
        Some((&number, _)) => Err(Error::Unsupported { what: "a recipient's key of version", number }),
    }
}

/// Verifies and removes the checksum, which is over all but the first `before` bytes.
fn checked(bytes: &[u8], before: usize) -> Option<&[u8]> {
    let (bytes, sum) = bytes.split_last_chunk::<2>()?;
    let expected = bytes.get(before..)?.iter().fold(0u16, |sum, &byte| sum.wrapping_add(byte.into()));
    (u16::from_be_bytes(*sum) == expected).then_some(bytes)
}
