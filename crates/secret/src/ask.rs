//! Asks for passphrases.

use cert::Fingerprint;
use cert::key::Key;
use verify::PublicKeyAlgorithm;

use crate::{Error, Passphrase, Result, SecretKey, Unlocked};

/// The number of wrong passphrases after which unlocking fails.
pub const MAX_TRIES: u8 = 3;

/// A question for a passphrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question<'a> {
    /// The passphrase that a key is locked with.
    Unlock {
        /// The key.
        key: &'a KeyName,
        /// The number of wrong passphrases so far.
        wrong: u8,
    },
    /// The passphrase to lock keys with, which a terminal asks for twice; an empty one means no protection.
    New {
        /// The key, or the first of several.
        key: &'a KeyName,
    },
}

/// Describes a key in a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyName {
    /// The fingerprint.
    pub fingerprint: Fingerprint,
    /// The algorithm.
    pub algorithm: PublicKeyAlgorithm,
    /// The size in bits.
    pub bits: u32,
    /// When it was made, in seconds since 1970.
    pub created: u32,
}

impl From<&Key<'_>> for KeyName {
    fn from(key: &Key<'_>) -> Self {
        let (fingerprint, created) = (key.fingerprint(), key.created.0);
        Self { fingerprint, algorithm: key.algorithm, bits: key.bits(), created }
    }
}

/// A source of passphrases.
pub trait Ask {
    /// Asks for a passphrase; `None` if there is no answer.
    ///
    /// # Errors
    ///
    /// [`Error::Asking`] if asking fails.
    fn passphrase(&mut self, question: &Question<'_>) -> Result<Option<Passphrase>>;

    /// Returns a passphrase that unlocked another key, which is tried first and does not count for [`MAX_TRIES`].
    fn known(&mut self) -> Option<Passphrase> {
        None
    }
}

/// Never answers, so that locked keys stay locked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Ask for Nobody {
    fn passphrase(&mut self, _question: &Question<'_>) -> Result<Option<Passphrase>> {
        Ok(None)
    }
}

/// Asks for the passphrase of a key until `unlock` accepts one, at most [`MAX_TRIES`] times.
///
/// # Errors
///
/// [`Error::NoPassphrase`] if there is no answer, [`Error::TooManyTries`] if every answer is wrong, and the other errors
/// of `unlock`.
pub fn unlock_asking<T>(
    name: &KeyName,
    ask: &mut dyn Ask,
    mut unlock: impl FnMut(&Passphrase) -> Result<T>,
) -> Result<T> {
    let key = name.fingerprint;
    if let Some(known) = ask.known() {
        match unlock(&known) {
            Err(Error::WrongPassphrase { .. }) => {}
            other => return other,
        }
    }
    for wrong in 0..MAX_TRIES {
        let answer = ask.passphrase(&Question::Unlock { key: name, wrong })?;
        match unlock(&answer.ok_or(Error::NoPassphrase { key })?) {
            Err(Error::WrongPassphrase { .. }) => {}
            other => return other,
        }
    }
    Err(Error::TooManyTries { key, tries: MAX_TRIES })
}

impl SecretKey {
    /// Unlocks the key, asking for its passphrase if it has one, at most [`MAX_TRIES`] times.
    ///
    /// # Errors
    ///
    /// Those of [`unlock_asking`] and [`SecretKey::unlock`].
    pub fn unlock_asking(&self, ask: &mut dyn Ask) -> Result<Unlocked> {
        if !self.protection().is_locked() {
            return self.unlock_plain();
        }
        unlock_asking(&self.name(), ask, |passphrase| self.unlock(passphrase))
    }

    /// Returns the description of the key for questions.
    pub fn name(&self) -> KeyName {
        KeyName::from(&self.key())
    }
}
