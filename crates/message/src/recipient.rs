//! Session keys encrypted to public keys (RFC 9580, 5.1).

use std::fmt::Display;

use cert::key::{self, Key};
use cert::packet::{self, Tag};
use cert::{Fingerprint, KeyId};
use secret::{Ciphertext, Decryptor};
use verify::PublicKeyAlgorithm;

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
        let failed = |key: &str, error: &dyn Display| Error::Recipient {
            key: key.to_owned(),
            reason: error.to_string(),
        };
        let key = key::parse_public(self.public).map_err(|error| failed("", &error))?;
        let cipher = (!seipd2).then_some(session_key.cipher().number());
        let fields = secret::encrypt(&key, cipher, session_key.key())
            .map_err(|error| failed(&key.fingerprint().to_string(), &error))?;
        let mut body = if seipd2 { self.named_by_fingerprint(&key) } else { self.named_by_key_id(&key) };
        body.push(key.algorithm.0);
        body.extend(fields);
        Ok(packet::write(Tag(1), &body))
    }

    /// Begins a packet of version 6: the key's version and fingerprint, or nothing.
    fn named_by_fingerprint(&self, key: &Key<'_>) -> Vec<u8> {
        if self.is_hidden {
            return vec![6, 0];
        }
        let fingerprint = key.fingerprint();
        let name = fingerprint.as_bytes();
        [&[6, name.len() as u8 + 1, fingerprint.version()], name].concat()
    }

    /// Begins a packet of version 3: the key ID, or zeros.
    fn named_by_key_id(&self, key: &Key<'_>) -> Vec<u8> {
        let key_id = if self.is_hidden { 0 } else { key.fingerprint().key_id().0 };
        [&[3], &key_id.to_be_bytes()[..]].concat()
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
        let Some(encrypted) = Ciphertext::read(self.algorithm, self.version, &self.fields) else {
            return Ok(None);
        };
        let opened = key.decrypt(&encrypted.ciphertext)?;
        let cipher = encrypted.cipher.and_then(Cipher::of);
        Ok(match (self.algorithm.encrypts_bare_session_keys(), self.version, cipher) {
            (true, 3, cipher) => {
                // Only AES is allowed (RFC 9580, 5.1.6 and 5.1.7; RFC 9980, 4.3.1).
                cipher.filter(is_aes).and_then(|cipher| SessionKey::new(cipher, &opened))
            }
            (true, ..) => data_cipher.and_then(|cipher| SessionKey::new(cipher, &opened)),
            (false, 3, _) => checked(&opened, 1).and_then(SessionKey::from_numbered),
            _ => data_cipher.zip(checked(&opened, 0)).and_then(|(cipher, key)| SessionKey::new(cipher, key)),
        })
    }
}

fn is_aes(cipher: &Cipher) -> bool {
    matches!(cipher, Cipher::Aes128 | Cipher::Aes192 | Cipher::Aes256)
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

#[cfg(test)]
mod tests {
    use super::*;
    use secret::{Role, Unlocked, write_number};
    use std::iter::repeat_n;
    use zeroize::Zeroizing;

    const AES_128: u8 = 7;

    fn numbers(numbers: &[&[u8]]) -> Vec<u8> {
        numbers.iter().flat_map(|number| write_number(number).to_vec()).collect()
    }

    /// Returns an Elgamal key with g = y = x = 1: its ciphertexts are the padded session keys themselves.
    fn transparent_key() -> Unlocked {
        let public =
            [&[4, 0, 0, 0, 0, PublicKeyAlgorithm::ELGAMAL.0][..], &numbers(&[&[0xff; 64], &[1], &[1]])];
        Unlocked::new(Role::Subkey, &public.concat(), &numbers(&[&[1]])).expect("a key")
    }

    #[test]
    fn wrong_padding_of_elgamal_looks_like_a_wrong_checksum() {
        let mut key = transparent_key();
        let frame = |start: [u8; 2], sum: u8| {
            let filling = repeat_n(1, 64 - 2 - 1 - 1 - 16 - 2);
            let content = [AES_128].into_iter().chain(repeat_n(1, 16)).chain([0, sum]);
            start.into_iter().chain(filling).chain([0]).chain(content).collect::<Vec<u8>>()
        };
        let mut open = |frame: &[u8]| {
            let head = [&[3], &[0; 8][..], &[PublicKeyAlgorithm::ELGAMAL.0]].concat();
            let body = [head, numbers(&[&[1], frame])].concat();
            Pkesk::parse(&body).expect("a packet").open(&mut key, None)
        };
        let good = open(&frame([0, 2], 16)).expect("a key that decrypts").expect("a session key");
        assert_eq!((good.cipher(), good.key()), (Cipher::Aes128, &[1; 16][..]));
        let mut short = frame([0, 2], 16);
        short[9] = 0;
        let mut endless = frame([0, 2], 16);
        endless.iter_mut().skip(1).filter(|byte| **byte == 0).for_each(|byte| *byte = 1);
        let wrong_sum = frame([0, 2], 17);
        for wrong in [wrong_sum, frame([1, 2], 16), frame([0, 1], 16), short, endless, vec![7]] {
            assert!(matches!(open(&wrong), Ok(None)), "{wrong:?}");
        }
    }

    /// A key that unwraps any session key, as a wrong implementation of one might.
    struct Unwrapping(Unlocked);

    impl Decryptor for Unwrapping {
        fn key(&self) -> Key<'_> {
            self.0.key()
        }

        fn decrypt(&mut self, _: &Ciphertext<'_>) -> secret::Result<Zeroizing<Vec<u8>>> {
            Ok(Zeroizing::new(vec![1; 32]))
        }
    }

    #[test]
    fn packets_of_version_3_for_x25519_and_x448_alone_or_beside_ml_kem_name_aes_only() {
        let mut key = Unwrapping(transparent_key());
        for (algorithm, length) in [
            (PublicKeyAlgorithm::X25519, 32),
            (PublicKeyAlgorithm::X448, 56),
            (PublicKeyAlgorithm::ML_KEM_768_X25519, 32 + 1088),
            (PublicKeyAlgorithm::ML_KEM_1024_X448, 56 + 1568),
        ] {
            let mut open = |cipher: Cipher| {
                let head = [&[3], &[0; 8][..], &[algorithm.0]].concat();
                let fields = [&vec![9; length][..], &[41, cipher.number()], &[0; 40]].concat();
                let pkesk = Pkesk::parse(&[head, fields].concat()).expect("a packet");
                pkesk.open(&mut key, None).expect("a session key or none")
            };
            assert!(open(Cipher::Aes256).is_some(), "{algorithm:?}");
            assert!(open(Cipher::Twofish).is_none() && open(Cipher::Camellia256).is_none(), "{algorithm:?}");
        }
    }
}
