//! Session keys encrypted with passwords (RFC 9580, 5.3; version 5 as in GnuPG).

use cert::packet::Tag;
use zeroize::Zeroizing;

use crate::{Aead, Cfb, Cipher, Error, Result, S2k, SessionKey};
use symmetric::random;
use symmetric::{AeadKey, HkdfHash, TAG};

/// A session key encrypted with a password.
#[derive(Clone, Debug)]
pub struct Skesk {
    /// The version of the packet.
    pub version: u8,
    /// The cipher for which the key is derived from the password.
    pub cipher: Cipher,
    /// How the key is derived from the password.
    pub s2k: S2k,
    /// Whether trying it and those before it in the message would take too long.
    pub(crate) is_beyond_limit: bool,
    sealed: Sealed,
}

/// The encrypted session key.
#[derive(Clone, Debug)]
enum Sealed {
    /// None: the key derived from the password is the session key.
    Itself,
    /// Encrypted in cipher feedback mode, after the number of its cipher.
    Cfb(Vec<u8>),
    /// Encrypted with authentication.
    Aead { mode: Aead, nonce: Vec<u8>, key: Vec<u8>, tag: Vec<u8> },
}

const CUT: Error = Error::Malformed("a password packet is cut short");

impl Skesk {
    /// Parses the body of a packet.
    pub(crate) fn parse(body: &[u8]) -> Result<Self> {
        let (&version, rest) = body.split_first().ok_or(CUT)?;
        match version {
            4 => Self::parse_4(rest),
            5 => Self::parse_authenticated(5, rest),
            6 => {
                // The length of the following fields is redundant.
                Self::parse_authenticated(6, rest.get(1..).ok_or(CUT)?)
            }
            number => Err(Error::Unsupported { what: "a password packet of version", number }),
        }
    }

    fn parse_4(rest: &[u8]) -> Result<Self> {
        let (&number, rest) = rest.split_first().ok_or(CUT)?;
        let cipher = Cipher::of(number).ok_or(Error::Unsupported { what: "cipher", number })?;
        let (s2k, key) = S2k::parse(rest)?;
        let sealed = if key.is_empty() { Sealed::Itself } else { Sealed::Cfb(key.to_vec()) };
        Ok(Self { version: 4, cipher, s2k, is_beyond_limit: false, sealed })
    }

    fn parse_authenticated(version: u8, rest: &[u8]) -> Result<Self> {
        let (&[number, mode], rest) = rest.split_first_chunk().ok_or(CUT)?;
        let cipher = Cipher::of(number).ok_or(Error::Unsupported { what: "cipher", number })?;
        let mode = Aead::of(mode).ok_or(Error::Unsupported { what: "AEAD mode", number: mode })?;
        let rest = if version == 6 { rest.get(1..).ok_or(CUT)? } else { rest };
        let (s2k, rest) = S2k::parse(rest)?;
        let (nonce, rest) = rest.split_at_checked(mode.nonce_size()).ok_or(CUT)?;
        let (key, tag) = rest.split_at_checked(rest.len().wrapping_sub(TAG)).ok_or(CUT)?;
        let sealed = Sealed::Aead { mode, nonce: nonce.to_vec(), key: key.to_vec(), tag: tag.to_vec() };
        Ok(Self { version, cipher, s2k, is_beyond_limit: false, sealed })
    }

    /// Returns whether the key derived from the password is the session key.
    pub fn is_direct(&self) -> bool {
        matches!(self.sealed, Sealed::Itself)
    }

    /// Returns the authenticated mode in which the session key is encrypted, if there is one.
    pub fn mode(&self) -> Option<Aead> {
        match self.sealed {
            Sealed::Aead { mode, .. } => Some(mode),
            Sealed::Itself | Sealed::Cfb(_) => None,
        }
    }

    /// Decrypts the session key; `None` if the password is wrong.
    ///
    /// `data_cipher` is the cipher that the encrypted data name, which version 6 needs. Version 4 does not detect all
    /// wrong passwords, and may return a wrong session key.
    ///
    /// # Errors
    ///
    /// If the password's parameters are not supported or cost too much.
    pub fn open(&self, password: &[u8], data_cipher: Option<Cipher>) -> Result<Option<SessionKey>> {
        if self.is_beyond_limit {
            return Err(Error::Limit("the work of all passwords of one message"));
        }
        let key = self.s2k.key(password, self.cipher.key_size())?;
        match &self.sealed {
            Sealed::Itself => Ok(SessionKey::new(self.cipher, &key)),
            Sealed::Cfb(sealed) => {
                let mut session_key = Zeroizing::new(sealed.clone());
                Cfb::new(self.cipher, &key).decrypt(&vec![0; self.cipher.block_size()], &mut session_key);
                Ok(SessionKey::from_numbered(&session_key))
            }
            Sealed::Aead { mode, nonce, key: sealed, tag } => {
                let mut session_key = Zeroizing::new(sealed.clone());
                let associated = associated(self.version, self.cipher, *mode);
                let aead = AeadKey::new(self.cipher, *mode, &sealing_key(&key, &associated))?;
                let opened = aead.open(nonce, &associated, &mut session_key, tag);
                let cipher = data_cipher.unwrap_or(self.cipher);
                Ok(opened.ok().and_then(|()| SessionKey::new(cipher, &session_key)))
            }
        }
    }

    /// Returns the body of a packet, and the session key, which is the key derived from `password`: as GnuPG does for a
    /// message with one password and no recipients.
    ///
    /// # Errors
    ///
    /// Those of [`S2k::key`].
    pub fn direct(cipher: Cipher, s2k: &S2k, password: &[u8]) -> Result<(Vec<u8>, SessionKey)> {
        let key = s2k.key(password, cipher.key_size())?;
        let body = [&[4, cipher.number()], &s2k.to_bytes()[..]].concat();
        Ok((body, SessionKey::new(cipher, &key).expect("the key was made in the cipher's size")))
    }

    /// Encrypts `session_key` with a password, and returns the body of a version 4 packet.
    ///
    /// # Errors
    ///
    /// Those of [`S2k::key`].
    pub(crate) fn seal_4(session_key: &SessionKey, s2k: &S2k, password: &[u8]) -> Result<Vec<u8>> {
        let cipher = session_key.cipher();
        let key = s2k.key(password, cipher.key_size())?;
        let mut sealed = [&[cipher.number()], session_key.key()].concat();
        Cfb::new(cipher, &key).encrypt(&mut vec![0; cipher.block_size()], &mut sealed);
        Ok([&[4, cipher.number()], &s2k.to_bytes()[..], &sealed].concat())
    }

    /// Encrypts `session_key` with a password in an authenticated mode, and returns the body of a packet of version 6
    /// (RFC 9580) or 5 (GnuPG).
    ///
    /// # Errors
    ///
    /// Those of [`S2k::key`], and if the cipher is not supported in the mode.
    pub(crate) fn seal_authenticated(
        version: u8,
        session_key: &SessionKey,
        mode: Aead,
        s2k: &S2k,
        password: &[u8],
    ) -> Result<Vec<u8>> {
        let cipher = session_key.cipher();
        let nonce = &random::<16>()?[..mode.nonce_size()];
        let key = s2k.key(password, cipher.key_size())?;
        let associated = associated(version, cipher, mode);
        let aead = AeadKey::new(cipher, mode, &sealing_key(&key, &associated))?;
        // Nothing fails before it is encrypted.
        let mut data = session_key.key().to_vec();
        let tag = aead.seal(nonce, &associated, &mut data);
        let s2k = s2k.to_bytes();
        let mut body = vec![version];
        if version == 6 {
            body.extend([
                (3 + s2k.len() + nonce.len()) as u8,
                cipher.number(),
                mode.number(),
                s2k.len() as u8,
            ]);
        } else {
            body.extend([cipher.number(), mode.number()]);
        }
        body.extend([&s2k[..], nonce, &data, &tag].concat());
        Ok(body)
    }
}

/// Returns the key that encrypts the session key: derived from that of the password in version 6.
fn sealing_key(key: &Zeroizing<Vec<u8>>, associated: &[u8; 4]) -> Zeroizing<Vec<u8>> {
    let [_, version, ..] = associated;
    let mut derived = key.clone();
    if *version == 6 {
        symmetric::expand(HkdfHash::Sha256, key, &[], associated, &mut derived);
    }
    derived
}

fn associated(version: u8, cipher: Cipher, mode: Aead) -> [u8; 4] {
    [0xc0 | Tag(3).0, version, cipher.number(), mode.number()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use verify::HashAlgorithm;

    fn s2k() -> S2k {
        S2k::iterated(HashAlgorithm::SHA256, 1024).expect("random numbers")
    }

    fn bodies() -> Vec<(Vec<u8>, SessionKey)> {
        let key = SessionKey::random(Cipher::Aes256).expect("random numbers");
        let seal =
            |version, mode| Skesk::seal_authenticated(version, &key, mode, &s2k(), b"open").expect("a body");
        let mut bodies = vec![Skesk::direct(Cipher::Aes192, &s2k(), b"open").expect("a body")];
        bodies.push((Skesk::seal_4(&key, &s2k(), b"open").expect("a body"), key.clone()));
        for mode in [Aead::Eax, Aead::Ocb, Aead::Gcm] {
            bodies.extend([(seal(5, mode), key.clone()), (seal(6, mode), key.clone())]);
        }
        bodies
    }

    #[test]
    fn the_password_opens_the_session_key_and_another_does_not() {
        for (body, key) in bodies() {
            let skesk = Skesk::parse(&body).expect("a packet");
            let opened = skesk.open(b"open", None).expect("parameters").expect("the right password");
            assert_eq!((opened.key(), opened.cipher()), (key.key(), key.cipher()));
            let wrong = skesk.open(b"Open", None).expect("parameters");
            assert!(wrong.is_none_or(|wrong| wrong.key() != key.key()), "{skesk:?}");
        }
    }

    #[test]
    fn a_packet_that_is_cut_short_opens_nothing() {
        for (body, key) in bodies() {
            for length in 0..body.len() {
                let opened = Skesk::parse(&body[..length]).and_then(|skesk| skesk.open(b"open", None));
                assert!(opened.ok().flatten().is_none_or(|opened| opened.key() != key.key()));
            }
        }
    }
}
