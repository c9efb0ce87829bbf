//! Signs, decrypts session keys, and verifies that a secret belongs to a public key: by sequoia-openpgp, Elgamal by
//! [`elgamal`].

use std::fmt::Display;
use std::time::{Duration, UNIX_EPOCH};

use cert::Fingerprint;
use cert::key::Key;
use sequoia_openpgp::crypto::{Decryptor as _, KeyPair, SessionKey, Signer as _, mpi};
use sequoia_openpgp::packet;
use sequoia_openpgp::packet::key::{Key4, Key6, PublicParts, SecretParts, UnspecifiedRole};
use sequoia_openpgp::serialize::MarshalInto as _;
use verify::{HashAlgorithm, PublicKeyAlgorithm};
use zeroize::Zeroizing;

use crate::fields::Fields;
use crate::{Ciphertext, Error, Result, elgamal, numbers};

/// The public and the secret part of a key in the form of the library, which encrypts the secret in memory while it is
/// not used.
pub(crate) struct Pair {
    pair: KeyPair,
    algorithm: PublicKeyAlgorithm,
    key: Fingerprint,
}

type PublicKey = packet::Key<PublicParts, UnspecifiedRole>;

impl Pair {
    /// Converts both parts and verifies that they belong together; `material` are the secret numbers.
    pub(crate) fn verified(key: &Key<'_>, material: &[u8]) -> Result<Self> {
        let pair = Self::new(key, material)?;
        pair.verify_halves(key.material, material)?;
        Ok(pair)
    }

    /// Converts both parts, which are known to belong together.
    pub(crate) fn new(key: &Key<'_>, material: &[u8]) -> Result<Self> {
        let (fingerprint, algorithm) = (key.fingerprint(), key.algorithm);
        let unsupported =
            || Error::Unsupported { key: fingerprint, what: format!("public-key algorithm {}", algorithm.0) };
        let is_complete = is_complete(algorithm, material).ok_or_else(unsupported)?;
        let malformed = Error::Damaged { key: fingerprint, what: "its secret numbers cannot be read" };
        if !is_complete {
            return Err(malformed);
        }
        let secret =
            mpi::SecretKeyMaterial::from_bytes(algorithm.0.into(), material).map_err(|_| malformed)?;
        let public = public(key).map_err(|error| Error::Operation {
            key: fingerprint,
            what: "reading the public numbers",
            reason: error.to_string(),
        })?;
        let pair = KeyPair::new(public, secret.into()).map_err(|_| unsupported())?;
        Ok(Self { pair, algorithm, key: fingerprint })
    }

    /// Verifies that both parts belong together.
    ///
    /// The numbers of RSA and Elgamal keys are computed with. Where the public part is a function of the secret one, it
    /// is computed again; otherwise a signature is made and verified, or a session key encrypted and decrypted.
    fn verify_halves(&self, public: &[u8], material: &[u8]) -> Result<()> {
        let belongs = match self.recomputed_public()? {
            _ if self.algorithm.is_rsa() => numbers::rsa_belongs(public, material).unwrap_or(false),
            _ if self.is_elgamal() => elgamal::belongs(public, material)
                .map_err(|error| self.failed("reading the numbers", &error))?,
            Some(public) => public == *self.pair.public().mpis(),
            None if self.signs() => self.signature_verifies()?,
            None => self.decrypts_session_key()?,
        };
        let what = "its secret part is not the one of its public part";
        if belongs { Ok(()) } else { Err(Error::Damaged { key: self.key, what }) }
    }

    /// Signs a digest; returns the signature's fields.
    pub(crate) fn sign(&self, hash: HashAlgorithm, digest: &[u8]) -> Result<Vec<u8>> {
        if !self.signs() {
            return Err(self.unsupported("signing with this key"));
        }
        let signed = self.pair.clone().sign(hash.0.into(), digest);
        let fields = signed.and_then(|signature| signature.to_vec());
        fields.map_err(|error| self.failed("signing", &error))
    }

    /// Decrypts a session key.
    pub(crate) fn decrypt(
        &self,
        ciphertext: &Ciphertext<'_>,
        length: Option<usize>,
    ) -> Result<Zeroizing<Vec<u8>>> {
        let ciphertext = match *ciphertext {
            Ciphertext::Rsa { c } => mpi::Ciphertext::RSA { c: mpi::MPI::new(c) },
            Ciphertext::Elgamal { e, c } => return self.decrypt_elgamal(e, c),
            Ciphertext::Ecdh { e, key } => {
                mpi::Ciphertext::ECDH { e: mpi::MPI::new(e), key: key.to_vec().into() }
            }
            Ciphertext::X25519 { e, key } => {
                mpi::Ciphertext::X25519 { e: Box::new(*e), key: key.to_vec().into() }
            }
            Ciphertext::X448 { e, key } => {
                mpi::Ciphertext::X448 { e: Box::new(*e), key: key.to_vec().into() }
            }
        };
        let opened = self.pair.clone().decrypt(&ciphertext, length);
        opened
            .map(|session_key| Zeroizing::new(session_key.to_vec()))
            .map_err(|error| self.failed("opening a session key", &error))
    }

    fn decrypt_elgamal(&self, e: &[u8], c: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        let what = "opening a session key";
        let opened = self.pair.secret().map(|secret| match (self.pair.public().mpis(), secret) {
            (mpi::PublicKey::ElGamal { p, .. }, mpi::SecretKeyMaterial::ElGamal { x }) => {
                elgamal::decrypt(p.value(), x.value(), e, c).map_err(|error| self.failed(what, &error))
            }
            _ => Err(self.unsupported("Elgamal with this key")),
        });
        opened?.ok_or_else(|| self.failed(what, &"it was not encrypted to this key"))
    }

    /// Tries the key: returns whether its signature verifies, or whether it decrypts what was encrypted to it.
    pub(crate) fn passes_trial(&self) -> Result<bool> {
        if self.signs() { self.signature_verifies() } else { self.decrypts_session_key() }
    }

    fn is_elgamal(&self) -> bool {
        matches!(self.algorithm, PublicKeyAlgorithm::ELGAMAL | PublicKeyAlgorithm::ELGAMAL_BOTH)
    }

    /// Returns whether its algorithm makes signatures.
    fn signs(&self) -> bool {
        type Algorithm = PublicKeyAlgorithm;
        matches!(
            self.algorithm,
            Algorithm::DSA
                | Algorithm::ECDSA
                | Algorithm::EDDSA_LEGACY
                | Algorithm::ED25519
                | Algorithm::ED448
        ) || self.algorithm.is_rsa()
    }

    /// Computes the public numbers from the secret ones, where the library supports that for the algorithm.
    fn recomputed_public(&self) -> Result<Option<mpi::PublicKey>> {
        type Secret = mpi::SecretKeyMaterial;
        let made = self.pair.secret().map(|secret| match secret {
            Secret::Ed448 { x } => Some(Key6::import_secret_ed448(x, None).map(public_numbers)),
            Secret::X448 { x } => Some(Key6::import_secret_x448(x, None).map(public_numbers)),
            _ => None,
        });
        made.transpose().map_err(|error| self.failed("deriving the public key", &error))
    }

    fn signature_verifies(&self) -> Result<bool> {
        let (hash, digest) = (HashAlgorithm::SHA512.0.into(), [0x5a; 64]);
        let Ok(signature) = self.pair.clone().sign(hash, &digest) else { return Ok(false) };
        Ok(self.pair.public().verify(&signature, hash, &digest).is_ok())
    }

    fn decrypts_session_key(&self) -> Result<bool> {
        if self.is_elgamal() {
            // The secret number is known to belong to the public ones, which is sufficient.
            return Ok(true);
        }
        let session_key = SessionKey::from(vec![0x5a; 32]);
        let encrypted = self.pair.public().encrypt(&session_key);
        let encrypted = encrypted.map_err(|error| self.failed("encrypting a session key", &error))?;
        Ok(self.pair.clone().decrypt(&encrypted, Some(32)).is_ok_and(|opened| opened == session_key))
    }

    fn failed(&self, what: &'static str, error: &dyn Display) -> Error {
        Error::Operation { key: self.key, what, reason: error.to_string() }
    }

    fn unsupported(&self, what: &str) -> Error {
        Error::Unsupported { key: self.key, what: what.to_owned() }
    }
}

fn public_numbers(key: impl Into<packet::Key<SecretParts, UnspecifiedRole>>) -> mpi::PublicKey {
    key.into().mpis().clone()
}

fn public(key: &Key<'_>) -> sequoia_openpgp::Result<PublicKey> {
    let created = UNIX_EPOCH + Duration::from_secs(key.created.0.into());
    let algorithm = key.algorithm.0.into();
    let numbers = mpi::PublicKey::parse(algorithm, key.material)?;
    Ok(match key.version {
        6 => Key6::new(created, algorithm, numbers)?.into(),
        _ => Key4::new(created, algorithm, numbers)?.into(),
    })
}

/// Returns whether the material consists of exactly the secret numbers of the algorithm; `None` if that is unknown.
fn is_complete(algorithm: PublicKeyAlgorithm, material: &[u8]) -> Option<bool> {
    type Algorithm = PublicKeyAlgorithm;
    let numbers = match algorithm {
        Algorithm::X25519 | Algorithm::ED25519 => return Some(material.len() == 32),
        Algorithm::X448 => return Some(material.len() == 56),
        Algorithm::ED448 => return Some(material.len() == 57),
        Algorithm::DSA | Algorithm::ELGAMAL | Algorithm::ELGAMAL_BOTH => 1,
        Algorithm::ECDH | Algorithm::ECDSA | Algorithm::EDDSA_LEGACY => 1,
        algorithm if algorithm.is_rsa() => 4,
        _ => return None,
    };
    let mut fields = Fields(material);
    let all = (0..numbers).try_for_each(|_| fields.number().map(|_| ()));
    Some(all.is_some() && fields.0.is_empty())
}
