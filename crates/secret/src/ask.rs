//! Where passphrases come from.

use cert::Fingerprint;
use cert::key::Key;
use verify::PublicKeyAlgorithm;

use crate::{Error, Passphrase, Result, SecretKey, Unlocked};

/// How often a passphrase is asked for before it is given up.
pub const TRIES: u8 = 3;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question<'a> {
    /// The passphrase that a key is locked with.
    Unlock {
        /// The key.
        key: &'a KeyName,
        /// How many passphrases were wrong already.
        wrong: u8,
    },
    /// A passphrase to lock keys with, to be asked twice where it is typed; an empty one means none.
    New {
        /// The key, or the first of them.
        key: &'a KeyName,
    },
}

/// What a question calls a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyName {
    /// Its fingerprint.
    pub fingerprint: Fingerprint,
    /// Its algorithm.
    pub algorithm: PublicKeyAlgorithm,
    /// Its size in bits.
    pub bits: u32,
}

impl From<&Key<'_>> for KeyName {
    fn from(key: &Key<'_>) -> Self {
        Self { fingerprint: key.fingerprint(), algorithm: key.algorithm, bits: key.bits() }
    }
}

/// Who is asked for passphrases.
pub trait Ask {
    /// Asks; `None` if there is nobody to be asked, or no answer.
    ///
    /// # Errors
    ///
    /// [`Error::Asking`] if asking fails.
    fn passphrase(&mut self, question: &Question<'_>) -> Result<Option<Passphrase>>;

    /// Returns a passphrase that may fit since it did for another key; trying it is no try of [`TRIES`].
    fn known(&mut self) -> Option<Passphrase> {
        None
    }
}

/// Nobody: a locked key stays locked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Ask for Nobody {
    fn passphrase(&mut self, _question: &Question<'_>) -> Result<Option<Passphrase>> {
        Ok(None)
    }
}

impl SecretKey {
    /// Unlocks the key, asking for its passphrase if it has one, at most [`TRIES`] times.
    ///
    /// # Errors
    ///
    /// [`Error::NoPassphrase`] if there is no answer, [`Error::TooManyTries`] if every answer is wrong, and the other
    /// errors of [`SecretKey::unlock`].
    pub fn unlock_asking(&self, ask: &mut dyn Ask) -> Result<Unlocked> {
        if !self.protection().is_locked() {
            return self.unlock_plain();
        }
        let name = self.name();
        let key = name.fingerprint;
        if let Some(known) = ask.known() {
            match self.unlock(&known) {
                Err(Error::WrongPassphrase { .. }) => {}
                other => return other,
            }
        }
        for wrong in 0..TRIES {
            let answer = ask.passphrase(&Question::Unlock { key: &name, wrong })?;
            let passphrase = answer.ok_or(Error::NoPassphrase { key })?;
            match self.unlock(&passphrase) {
                Err(Error::WrongPassphrase { .. }) => {}
                other => return other,
            }
        }
        Err(Error::TooManyTries { key, tries: TRIES })
    }

    /// Returns what a question calls the key.
    pub fn name(&self) -> KeyName {
        KeyName::from(&self.key())
    }
}
