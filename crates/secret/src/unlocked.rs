//! Keys with their plain secret.

use std::fmt;

use cert::key::{self, Key};
use cert::{Fingerprint, Keygrip, Timestamp};
use verify::hash::Hasher;
use verify::{Check, HashAlgorithm, PublicKeyAlgorithm, SignatureValue, Verdict};
use zeroize::Zeroizing;

use crate::asymmetric::Pair;
use crate::encryption::encrypt;
use crate::memory::Guarded;
use crate::{Ciphertext, Decryptor, Error, Result, Role, SecretKey, Signer, public};

/// A key with its plain secret, in memory that is wiped and kept out of swap and core dumps.
///
/// The secret belongs to the public part, which the constructor verifies.
pub struct Unlocked {
    role: Role,
    public: Vec<u8>,
    material: Guarded,
    fingerprint: Fingerprint,
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
        Pair::read(&key, material)?.verify_halves()?;
        let (fingerprint, material) = (key.fingerprint(), Guarded::copy_of(material));
        Ok(Self { role, public: public.to_vec(), material, fingerprint })
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
        if version != 4 {
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
        let what = "it signs or decrypts incorrectly";
        let key = self.public_half();
        let pair = Pair::read(&key, &self.material)?;
        let passes = if pair.signs() { signature_verifies(&pair, &key) } else { decrypts(&pair, &key) };
        if passes? { Ok(()) } else { Err(Error::Damaged { key: self.fingerprint, what }) }
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
        SecretKey::from_plain(self.role, &self.public, &self.material)
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
        Pair::read(&self.public_half(), &self.material)?.sign(hash, digest)
    }
}

impl Decryptor for Unlocked {
    fn key(&self) -> Key<'_> {
        self.public_half()
    }

    fn decrypt(&mut self, ciphertext: &Ciphertext<'_>) -> Result<Zeroizing<Vec<u8>>> {
        Pair::read(&self.public_half(), &self.material)?.decrypt(ciphertext)
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

/// Returns whether a signature of a key verifies.
fn signature_verifies(pair: &Pair<'_>, key: &Key<'_>) -> Result<bool> {
    let hash = HashAlgorithm::SHA512;
    let mut hasher = Hasher::new(hash).expect("a known algorithm");
    hasher.update(b"a signature of a new key");
    let digest = hasher.finish().expect("only SHA-1 has collisions");
    let material = pair.sign(hash, digest.as_bytes())?;
    let signature = SignatureValue { algorithm: key.algorithm, material: &material };
    let check = Check { issuer: key.public_key(), hash, digest, signature };
    Ok(verify::verify(&[check]) == [Verdict::Good])
}

/// Returns whether a key decrypts a session key that is encrypted to it.
fn decrypts(pair: &Pair<'_>, key: &Key<'_>) -> Result<bool> {
    const AES_256: u8 = 9;
    let session_key = [0x5a; 32];
    let fields = encrypt(key, Some(AES_256), &session_key)?;
    let Some(read) = Ciphertext::read(key.algorithm, 3, &fields) else { return Ok(false) };
    let decrypted = pair.decrypt(&read.ciphertext)?;
    // The number of the cipher stands before it or is not encrypted, and a checksum may follow.
    Ok(read.cipher == Some(AES_256) && *decrypted == session_key
        || decrypted.strip_prefix(&[AES_256]).is_some_and(|rest| rest.starts_with(&session_key)))
}
