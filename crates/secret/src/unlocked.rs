//! Keys with their plain secret.

use std::fmt;
use std::sync::OnceLock;

use cert::key::{self, Key};
use cert::{Fingerprint, Keygrip, Timestamp};
use verify::{HashAlgorithm, PublicKeyAlgorithm};
use zeroize::Zeroizing;

use crate::asymmetric::Pair;
use crate::curve25519::{self, Numbers};
use crate::memory::Guarded;
use crate::protection::write_plain;
use crate::{Ciphertext, Decryptor, Error, Result, Role, SecretKey, Signer, public};

/// A key with its plain secret, in memory that is wiped and kept out of swap and core dumps.
///
/// The secret belongs to the public part, which the constructor verifies.
pub struct Unlocked {
    role: Role,
    public: Vec<u8>,
    material: Guarded,
    fingerprint: Fingerprint,
    /// The key in the form of the cryptographic library, created at its first use.
    pair: OnceLock<Pair>,
}

impl Unlocked {
    /// Joins the body of a public key packet with its secret numbers, encoded as in a secret key packet (RFC 9580,
    /// 5.5.5).
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if they do not belong together, [`Error::Unsupported`] if that cannot be verified.
    pub fn new(role: Role, public: &[u8], material: &[u8]) -> Result<Self> {
        let key = key::parse_public(public)?;
        let pair = match Numbers::read(&key, material) {
            Some(numbers) if numbers.belong() => OnceLock::new(),
            Some(_) => {
                let what = "its secret part is not the one of its public part";
                return Err(Error::Damaged { key: key.fingerprint(), what });
            }
            None => Pair::verified(&key, material)?.into(),
        };
        let (fingerprint, material) = (key.fingerprint(), Guarded::copy_of(material));
        Ok(Self { role, public: public.to_vec(), material, fingerprint, pair })
    }

    /// Returns the same key material in another packet, with another role or creation time. A key on a NIST or
    /// Brainpool curve that encrypts can become one that signs, and vice versa.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if keys of the version and algorithm do not have such numbers.
    pub fn reissue(
        &self,
        role: Role,
        version: u8,
        created: Timestamp,
        algorithm: PublicKeyAlgorithm,
    ) -> Result<Self> {
        let key = self.public_half();
        let unsupported = || Error::Unsupported {
            key: self.fingerprint,
            what: format!("as public-key algorithm {}", algorithm.0),
        };
        let material = public::material_for(&key, algorithm).filter(|_| key.version == version);
        let material = material.ok_or_else(unsupported)?;
        let mut body = vec![version];
        body.extend(created.0.to_be_bytes());
        body.push(algorithm.0);
        if version == 6 {
            body.extend((material.len() as u32).to_be_bytes());
        }
        body.extend(material);
        Self::new(role, &body, &self.material)
    }

    /// Tries the key: signs and verifies, or encrypts and decrypts.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if the result is wrong.
    pub fn try_out(&self) -> Result<()> {
        let what = "what it signs or decrypts is wrong";
        let passes = match self.numbers() {
            Some(numbers) => numbers.passes_trial(),
            None => self.pair()?.passes_trial()?,
        };
        if passes { Ok(()) } else { Err(Error::Damaged { key: self.fingerprint, what }) }
    }

    /// Returns the numbers of a key on Curve25519, for which the library is not needed.
    fn numbers(&self) -> Option<Numbers> {
        Numbers::read(&self.public_half(), &self.material)
    }

    fn pair(&self) -> Result<&Pair> {
        if let Some(pair) = self.pair.get() {
            return Ok(pair);
        }
        // Only keys on Curve25519 have no pair yet; `new` verified them without one.
        let pair = Pair::new(&self.public_half(), &self.material)?;
        Ok(self.pair.get_or_init(|| pair))
    }

    /// Returns the body of the public key packet.
    pub fn public_body(&self) -> &[u8] {
        &self.public
    }

    /// Returns whether the key is a primary key or a subkey.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns the fingerprint.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Returns the keygrip; `None` for an algorithm for which GnuPG defines none.
    pub fn keygrip(&self) -> Option<Keygrip> {
        self.public_half().facts().keygrip
    }

    /// Returns the secret numbers, encoded as in a secret key packet.
    pub(crate) fn material(&self) -> &[u8] {
        &self.material
    }

    /// Returns the key as a packet without protection.
    pub fn plain(&self) -> SecretKey {
        let mut body = Zeroizing::new(Vec::with_capacity(self.public.len() + self.material.len() + 3));
        body.extend_from_slice(&self.public);
        write_plain(self.fingerprint.version(), &self.material, &mut body);
        SecretKey::parse(self.role, &body)
            .expect("a public part that was read, and a secret part made to be read")
    }

    fn public_half(&self) -> Key<'_> {
        key::parse_public(&self.public).expect("it was read when this was made")
    }
}

impl Signer for Unlocked {
    fn key(&self) -> Key<'_> {
        self.public_half()
    }

    fn sign(&mut self, hash: HashAlgorithm, digest: &[u8]) -> Result<Vec<u8>> {
        match self.numbers().and_then(|numbers| numbers.sign(digest)) {
            Some(signature) => Ok(curve25519::fields(self.public_half().algorithm, &signature)),
            None => self.pair()?.sign(hash, digest),
        }
    }
}

impl Decryptor for Unlocked {
    fn key(&self) -> Key<'_> {
        self.public_half()
    }

    fn decrypt(&mut self, ciphertext: &Ciphertext<'_>, length: Option<usize>) -> Result<Zeroizing<Vec<u8>>> {
        self.pair()?.decrypt(ciphertext, length)
    }
}

impl fmt::Debug for Unlocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unlocked")
            .field("fingerprint", &self.fingerprint)
            .field("role", &self.role)
            .finish_non_exhaustive()
    }
}
