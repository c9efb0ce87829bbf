//! Signs, decrypts session keys, and verifies that a secret belongs to a public key.
//!
//! There is a file for each kind of numbers. Ed25519 keys sign by aws-lc; everything else is done by OpenSSL, which is
//! initialised at its first use.

use cert::key::Key;
use libcrypto::Curve;
use openssl::error::ErrorStack;
use verify::{HashAlgorithm, PublicKeyAlgorithm};
use zeroize::Zeroizing;

use crate::curve25519::{self, Kind};
use crate::ecdh::Wrapping;
use crate::montgomery::Function;
use crate::{
    Ciphertext, Error, Result, curve448, dsa, elgamal, post_quantum_encryption, post_quantum_signature,
    raw_key, rsa, weierstrass,
};

/// A key with its public and its secret numbers.
pub(crate) struct Pair<'a> {
    key: &'a Key<'a>,
    numbers: Numbers<'a>,
}

enum Numbers<'a> {
    Rsa(rsa::Numbers<'a>),
    Dsa(dsa::Numbers<'a>),
    Elgamal(elgamal::Numbers<'a>),
    Weierstrass(weierstrass::Numbers<'a>),
    Curve25519(curve25519::Numbers),
    Ed448(raw_key::Numbers<'a>),
    X448(raw_key::Numbers<'a>),
    PostQuantumSignature(post_quantum_signature::Numbers<'a>),
    PostQuantumEncryption(post_quantum_encryption::Numbers<'a>),
}

const UNREADABLE: &str = "its secret numbers cannot be read";

impl<'a> Pair<'a> {
    /// Reads the secret numbers of a key, encoded as in a secret key packet.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for an unknown algorithm or curve, [`Error::Damaged`] if the numbers cannot be read.
    pub(crate) fn read(key: &'a Key<'a>, secret: &'a [u8]) -> Result<Self> {
        let numbers = Numbers::read(key, secret)?;
        let unreadable = || Error::Damaged { key: key.fingerprint(), what: UNREADABLE };
        Ok(Self { key, numbers: numbers.ok_or_else(unreadable)? })
    }

    /// Verifies that the secret numbers belong to the public ones, which are a function of them.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if they do not.
    pub(crate) fn verify_halves(&self) -> Result<()> {
        let belong = match &self.numbers {
            Numbers::Rsa(numbers) => numbers.belong(),
            Numbers::Dsa(numbers) => numbers.belong(),
            Numbers::Elgamal(numbers) => numbers.belong(),
            Numbers::Weierstrass(numbers) => numbers.belong(),
            Numbers::Curve25519(numbers) => Ok(numbers.belong()),
            Numbers::Ed448(numbers) | Numbers::X448(numbers) => numbers.belong(),
            Numbers::PostQuantumSignature(numbers) => numbers.belong(),
            Numbers::PostQuantumEncryption(numbers) => numbers.belong(),
        };
        let what = "its secret part does not match its public part";
        match belong.map_err(|error| Error::failed(self.key, "verifying its numbers", &error))? {
            true => Ok(()),
            false => Err(Error::Damaged { key: self.key.fingerprint(), what }),
        }
    }

    /// Returns whether the key makes signatures.
    pub(crate) fn signs(&self) -> bool {
        match &self.numbers {
            Numbers::Rsa(_) | Numbers::Dsa(_) | Numbers::Ed448(_) | Numbers::PostQuantumSignature(_) => true,
            Numbers::Weierstrass(_) => self.key.algorithm == PublicKeyAlgorithm::ECDSA,
            Numbers::Curve25519(numbers) => numbers.kind() == Kind::Ed25519,
            Numbers::Elgamal(_) | Numbers::X448(_) | Numbers::PostQuantumEncryption(_) => false,
        }
    }

    /// Signs a digest; returns the signature's fields.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for a key that does not sign.
    pub(crate) fn sign(&self, hash: HashAlgorithm, digest: &[u8]) -> Result<Vec<u8>> {
        let signed = match &self.numbers {
            _ if !self.signs() => Ok(None),
            Numbers::Rsa(numbers) => numbers.sign(hash, digest),
            Numbers::Dsa(numbers) => numbers.sign(digest).map(Some),
            Numbers::Weierstrass(numbers) => numbers.sign(digest).map(Some),
            Numbers::Curve25519(numbers) => {
                Ok(numbers.sign(digest).map(|signature| curve25519::fields(self.key.algorithm, &signature)))
            }
            Numbers::Ed448(numbers) => numbers.sign(digest).map(|signature| match self.key.algorithm {
                PublicKeyAlgorithm::ED448 => Some(signature),
                _ => Some(curve448::fields(&signature)),
            }),
            Numbers::PostQuantumSignature(numbers) => numbers.sign(digest),
            Numbers::Elgamal(_) | Numbers::X448(_) | Numbers::PostQuantumEncryption(_) => Ok(None),
        };
        let signed = signed.map_err(|error| Error::failed(self.key, "signing", &error))?;
        let what = match self.numbers {
            Numbers::PostQuantumSignature(_) => "signing a digest of less than 256 bits",
            _ => "signing with this key",
        };
        signed.ok_or_else(|| Error::unsupported(self.key, what))
    }

    /// Decrypts a session key.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for a key of another algorithm than the ciphertext's, [`Error::Operation`] if the session key
    /// was not encrypted to this key. For RSA and Elgamal that is no error: the result is another one.
    pub(crate) fn decrypt(&self, ciphertext: &Ciphertext<'_>) -> Result<Zeroizing<Vec<u8>>> {
        let public = self.key.material;
        if !ciphertext.is_for(self.key.algorithm) {
            return Err(Error::unsupported(self.key, "this way of encrypting to this key"));
        }
        let decrypted = match (&self.numbers, *ciphertext) {
            (Numbers::Rsa(numbers), Ciphertext::Rsa { c }) => numbers.decrypt(c).map(Some),
            (Numbers::Elgamal(numbers), Ciphertext::Elgamal { e, c }) => numbers.decrypt(e, c),
            (Numbers::Weierstrass(numbers), Ciphertext::Ecdh { e, key }) => {
                self.unwrapped(numbers.shared(e), key)
            }
            (Numbers::Curve25519(numbers), Ciphertext::Ecdh { e, key }) => {
                let Some(e) = e.strip_prefix(&[curve25519::NATIVE]) else {
                    return Err(not_for_this_key(self.key));
                };
                self.unwrapped(Function::X25519.shared(numbers.secret(), e), key)
            }
            (Numbers::Curve25519(numbers), Ciphertext::X25519 { e, key }) => {
                unwrapped_native(Function::X25519, public, numbers.secret(), e, key)
            }
            (Numbers::X448(numbers), Ciphertext::Ecdh { e, key }) => {
                let Some(e) = curve448::ephemeral(e) else { return Err(not_for_this_key(self.key)) };
                self.unwrapped(Function::X448.shared(numbers.secret(), &e), key)
            }
            (Numbers::X448(numbers), Ciphertext::X448 { e, key }) => {
                unwrapped_native(Function::X448, public, numbers.secret(), e, key)
            }
            (Numbers::PostQuantumEncryption(numbers), Ciphertext::MlKem { e, c, key, .. }) => {
                numbers.unwrap(e, c, key)
            }
            _ => return Err(Error::unsupported(self.key, "this way of encrypting to this key")),
        };
        let decrypted = decrypted.map_err(|error| Error::failed(self.key, DECRYPTING, &error))?;
        decrypted.ok_or_else(|| not_for_this_key(self.key))
    }

    /// Unwraps a session key that is wrapped with what is derived from a shared secret.
    fn unwrapped(
        &self,
        shared: std::result::Result<Option<Zeroizing<Vec<u8>>>, ErrorStack>,
        wrapped: &[u8],
    ) -> std::result::Result<Option<Zeroizing<Vec<u8>>>, ErrorStack> {
        match (shared?, Wrapping::of(self.key)) {
            (Some(shared), Some(wrapping)) => wrapping.unwrap(&shared, wrapped),
            _ => Ok(None),
        }
    }
}

impl<'a> Numbers<'a> {
    /// Reads the numbers of a key; `None` if they cannot be read.
    fn read(key: &Key<'a>, secret: &'a [u8]) -> Result<Option<Self>> {
        type Algorithm = PublicKeyAlgorithm;
        if let Some(kind) = Kind::of(key) {
            return Ok(curve25519::Numbers::read(kind, key, secret).map(Self::Curve25519));
        }
        libcrypto::initialise();
        let public = key.material;
        Ok(match key.algorithm {
            algorithm if algorithm.is_rsa() => rsa::Numbers::read(public, secret).map(Self::Rsa),
            Algorithm::DSA => dsa::Numbers::read(public, secret).map(Self::Dsa),
            Algorithm::ELGAMAL | Algorithm::ELGAMAL_BOTH => {
                elgamal::Numbers::read(public, secret).map(Self::Elgamal)
            }
            _ if curve448::is_ed448(key) => curve448::numbers(key, secret).map(Self::Ed448),
            _ if curve448::is_x448(key) => curve448::numbers(key, secret).map(Self::X448),
            Algorithm::ECDSA | Algorithm::ECDH => {
                let curve = key.curve().and_then(Curve::by_oid);
                let curve = curve.ok_or_else(|| Error::unsupported(key, "its curve"))?;
                weierstrass::Numbers::read(curve, public, secret).map(Self::Weierstrass)
            }
            Algorithm::ED448 => raw_key::Numbers::ed448(public, secret).map(Self::Ed448),
            Algorithm::X448 => raw_key::Numbers::x448(public, secret).map(Self::X448),
            algorithm if algorithm.is_post_quantum() && algorithm.suits_version(key.version) => {
                match algorithm.signature_scheme() {
                    Some(_) => post_quantum_signature::Numbers::read(algorithm, public, secret)
                        .map(Self::PostQuantumSignature),
                    None => post_quantum_encryption::Numbers::read(algorithm, public, secret)
                        .map(Self::PostQuantumEncryption),
                }
            }
            Algorithm::EDDSA_LEGACY => return Err(Error::unsupported(key, "its curve")),
            PublicKeyAlgorithm(number) => {
                return Err(Error::unsupported(key, format!("public-key algorithm {number}")));
            }
        })
    }
}

/// Unwraps a session key with the secret that an ECDH key on a NIST or Brainpool curve or Curve25519 shares with an
/// ephemeral key (RFC 9580, 11.5); `None` if it was not wrapped for this key.
///
/// # Errors
///
/// [`Error::Operation`] if the cryptographic library fails.
pub fn unwrap_agreed(key: &Key<'_>, shared: &[u8], wrapped: &[u8]) -> Result<Option<Zeroizing<Vec<u8>>>> {
    libcrypto::initialise();
    let unwrapped = Wrapping::of(key).map(|wrapping| wrapping.unwrap(shared, wrapped));
    let unwrapped = unwrapped.transpose().map_err(|error| Error::failed(key, DECRYPTING, &error))?;
    Ok(unwrapped.flatten())
}

fn unwrapped_native(
    function: Function,
    public: &[u8],
    secret: &[u8],
    ephemeral: &[u8],
    wrapped: &[u8],
) -> std::result::Result<Option<Zeroizing<Vec<u8>>>, ErrorStack> {
    match function.shared(secret, ephemeral)? {
        Some(shared) => function.unwrap(public, ephemeral, &shared, wrapped),
        None => Ok(None),
    }
}

const DECRYPTING: &str = "opening a session key";

fn not_for_this_key(key: &Key<'_>) -> Error {
    let reason = "it was not encrypted to this key".to_owned();
    Error::Operation { key: key.fingerprint(), what: DECRYPTING, reason }
}
