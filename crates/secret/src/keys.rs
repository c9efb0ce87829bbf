//! The interface of stores of secret keys.

use std::fmt;

use cert::{Facts, Fingerprint, Keygrip};

use crate::{Ask, OpenKey, Passphrase, Protection, Question, Result, Role, SecretKey};

/// Names a secret key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Name {
    /// The fingerprint of one key packet.
    Fingerprint(Fingerprint),
    /// The keygrip of the key material, which several key packets may share.
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

/// A stored secret key, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredKey {
    /// The fingerprint.
    pub fingerprint: Fingerprint,
    /// The keygrip, if one is defined for the algorithm.
    pub keygrip: Option<Keygrip>,
    /// Whether it is a primary key or a subkey.
    pub role: Role,
    /// Whether it is plain, locked, or a placeholder.
    pub protection: Protection,
}

/// The outcome of storing a secret key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// The key is new.
    New,
    /// The secret replaced a placeholder.
    InsteadOfStub,
    /// The key was there already, and was not changed.
    Kept,
}

/// A store of secret keys.
///
/// A store need not reveal secrets: [`open`](Self::open) returns a value that signs and decrypts,
/// [`export`](Self::export) the key as it is locked.
pub trait SecretKeys {
    /// Returns all secret keys, in the order of their fingerprints. Reads no secret.
    ///
    /// # Errors
    ///
    /// Those of the store, as all methods.
    fn list(&self) -> Result<Vec<StoredKey>>;

    /// Returns those of a certificate's keys whose secret keys are here, in the order of their fingerprints, as
    /// [`list`](Self::list) does. Reads no secret, and nothing of other keys.
    fn of_certificate(&self, certificate: &Facts) -> Result<Vec<StoredKey>>;

    /// Returns the names of all secret keys, and perhaps of others that have no certificate here. Reads no key.
    fn names(&self) -> Result<Vec<Name>>;

    /// Finds a secret key. Reads no secret.
    ///
    /// Of several keys with one keygrip, the first one that is no placeholder is returned.
    fn find(&self, name: &Name) -> Result<Option<StoredKey>>;

    /// Returns whether there is such a key, which may be a placeholder.
    fn contains(&self, name: &Name) -> Result<bool> {
        Ok(self.find(name)?.is_some())
    }

    /// Unlocks a key, asking for its passphrase if it has one.
    fn open(&self, name: &Name, ask: &mut dyn Ask) -> Result<Box<dyn OpenKey>>;

    /// Stores a secret key durably.
    ///
    /// An existing key is not changed, except that a secret replaces a placeholder.
    fn store(&self, key: &SecretKey) -> Result<Stored>;

    /// Stores several keys in order; see [`store`](Self::store).
    fn store_all(&self, keys: &[&SecretKey]) -> Result<Vec<Stored>> {
        keys.iter().map(|key| self.store(key)).collect()
    }

    /// Takes back a key that was stored as [`Stored::New`] just now; there need be no certificate with it.
    fn take_back(&self, key: &SecretKey) -> Result<()> {
        self.delete(&Name::Fingerprint(key.fingerprint())).map(drop)
    }

    /// Deletes a secret key; returns whether there was one.
    fn delete(&self, name: &Name) -> Result<bool>;

    /// Returns a key as it is stored, locked or not. `ask` is asked for its passphrase where it is not given out without.
    ///
    /// # Errors
    ///
    /// [`Error::Missing`](crate::Error::Missing) if there is no such key.
    fn export(&self, name: &Name, ask: &mut dyn Ask) -> Result<SecretKey>;

    /// Locks a key with a new passphrase, or removes the protection if that is empty.
    ///
    /// `ask` is asked for the current passphrase, then `renew` for the new one ([`Question::New`]).
    ///
    /// # Errors
    ///
    /// Those of unlocking; a placeholder cannot be locked.
    fn relock(
        &self,
        name: &Name,
        ask: &mut dyn Ask,
        renew: &mut dyn FnMut(&Question<'_>) -> Result<Passphrase>,
    ) -> Result<()>;
}

/// Returns whether a key is to replace a stored one: a secret replaces a placeholder, and a card a missing secret.
pub(crate) fn replaces(new: &Protection, stored: &Protection) -> bool {
    match stored {
        Protection::Dummy => *new != Protection::Dummy,
        Protection::Card { .. } => new.has_secret(),
        _ => false,
    }
}
