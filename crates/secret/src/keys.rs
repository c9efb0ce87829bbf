//! Where secret keys live.

use std::fmt;

use cert::{Fingerprint, Keygrip};
use verify::HashAlgorithm;
use zeroize::Zeroizing;

use crate::{Ask, Ciphertext, OpenKey, Passphrase, Protection, Question, Result, Role, SecretKey};

/// By what a secret key is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Name {
    /// The fingerprint: of one key packet.
    Fingerprint(Fingerprint),
    /// The keygrip: of the key material, which several key packets may share.
    Keygrip(Keygrip),
}

impl From<Fingerprint> for Name {
    fn from(fingerprint: Fingerprint) -> Self {
        Self::Fingerprint(fingerprint)
    }
}

impl From<Keygrip> for Name {
    fn from(keygrip: Keygrip) -> Self {
        Self::Keygrip(keygrip)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fingerprint(fingerprint) => fingerprint.fmt(f),
            Self::Keygrip(keygrip) => write!(f, "with keygrip {keygrip}"),
        }
    }
}

/// A secret key that is held, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredKey {
    /// Its fingerprint.
    pub fingerprint: Fingerprint,
    /// Its keygrip, if its algorithm has one.
    pub keygrip: Option<Keygrip>,
    /// Its place in its certificate.
    pub role: Role,
    /// Whether it is plain, locked, or a placeholder.
    pub protection: Protection,
}

/// What storing a secret key came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// There was none.
    New,
    /// There was a placeholder in its place, and now there is a secret.
    InsteadOfStub,
    /// There was one already, which was left as it is.
    Kept,
}

/// Where secret keys live.
///
/// Whoever holds them need not give a secret away: [`open`](Self::open) hands out what can sign and decrypt,
/// [`export`](Self::export) the key as it is locked.
pub trait SecretKeys {
    /// Returns all secret keys, in the order of their fingerprints. Reads no secret.
    ///
    /// # Errors
    ///
    /// The errors of the place where they live, here as below.
    fn list(&self) -> Result<Vec<StoredKey>>;

    /// Finds a secret key. Reads no secret.
    ///
    /// Of several keys with one keygrip it is the first that is no placeholder.
    fn find(&self, name: &Name) -> Result<Option<StoredKey>>;

    /// Says whether there is such a key, be it a placeholder.
    fn contains(&self, name: &Name) -> Result<bool> {
        Ok(self.find(name)?.is_some())
    }

    /// Unlocks a key for as long as the answer lives, asking for its passphrase if it has one.
    fn open(&self, name: &Name, ask: &mut dyn Ask) -> Result<Box<dyn OpenKey>>;

    /// Signs one digest; see [`Signer::sign`](crate::Signer::sign).
    fn sign(&self, name: &Name, ask: &mut dyn Ask, hash: HashAlgorithm, digest: &[u8]) -> Result<Vec<u8>> {
        self.open(name, ask)?.sign(hash, digest)
    }

    /// Opens one session key; see [`Decryptor::decrypt`](crate::Decryptor::decrypt).
    fn decrypt(
        &self,
        name: &Name,
        ask: &mut dyn Ask,
        ciphertext: &Ciphertext<'_>,
        length: Option<usize>,
    ) -> Result<Zeroizing<Vec<u8>>> {
        self.open(name, ask)?.decrypt(ciphertext, length)
    }

    /// Keeps a secret key; it is there for good when this returns.
    ///
    /// A key that is there already stays as it is, but for a placeholder, which a secret replaces.
    fn store(&self, key: &SecretKey) -> Result<Stored>;

    /// Keeps several keys, the first ones first; see [`store`](Self::store).
    fn store_all(&self, keys: &[&SecretKey]) -> Result<Vec<Stored>> {
        keys.iter().map(|key| self.store(key)).collect()
    }

    /// Removes a secret key; says whether there was one.
    fn delete(&self, name: &Name) -> Result<bool>;

    /// Returns a key as it is kept, locked if it is.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`](crate::Error::Missing) if there is none.
    fn export(&self, name: &Name) -> Result<SecretKey>;

    /// Locks a key with another passphrase, or with none if that is empty, asking for the one it has.
    ///
    /// `renew` is asked for the new one ([`Question::New`]) when the key is unlocked.
    ///
    /// # Errors
    ///
    /// Those of unlocking; a placeholder has nothing that could be locked.
    fn relock(
        &self,
        name: &Name,
        ask: &mut dyn Ask,
        renew: &mut dyn FnMut(&Question<'_>) -> Result<Passphrase>,
    ) -> Result<()>;
}
