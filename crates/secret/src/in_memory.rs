//! A store of secret keys in memory, which ends with the process.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cert::{Facts, Fingerprint};

use crate::keys::{Name, SecretKeys, Stored, StoredKey, replaces};
use crate::{Ask, Error, OpenKey, Passphrase, Question, Result, SecretKey};

/// Secret keys in memory.
#[derive(Debug, Default)]
pub struct MemoryKeys(Mutex<BTreeMap<Fingerprint, SecretKey>>);

impl MemoryKeys {
    fn keys(&self) -> MutexGuard<'_, BTreeMap<Fingerprint, SecretKey>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the keys with a name; placeholders come last.
    fn named(&self, name: &Name) -> Vec<SecretKey> {
        let keys = self.keys();
        let mut named: Vec<SecretKey> = match name {
            Name::Fingerprint(fingerprint) => keys.get(fingerprint).cloned().into_iter().collect(),
            Name::Keygrip(keygrip) => {
                keys.values().filter(|key| key.keygrip() == Some(*keygrip)).cloned().collect()
            }
        };
        named.sort_by_key(|key| !key.protection().has_secret());
        named
    }
}

fn described(key: &SecretKey) -> StoredKey {
    StoredKey {
        fingerprint: key.fingerprint(),
        keygrip: key.keygrip(),
        role: key.role(),
        protection: key.protection().clone(),
    }
}

impl SecretKeys for MemoryKeys {
    fn list(&self) -> Result<Vec<StoredKey>> {
        Ok(self.keys().values().map(described).collect())
    }

    fn of_certificate(&self, certificate: &Facts) -> Result<Vec<StoredKey>> {
        let mut stored = self.list()?;
        stored.retain(|stored| certificate.keys().any(|key| key.fingerprint == stored.fingerprint));
        Ok(stored)
    }

    fn names(&self) -> Result<Vec<Name>> {
        Ok(self.keys().keys().copied().map(Name::Fingerprint).collect())
    }

    fn find(&self, name: &Name) -> Result<Option<StoredKey>> {
        Ok(self.named(name).first().map(described))
    }

    fn open(&self, name: &Name, ask: &mut dyn Ask) -> Result<Box<dyn OpenKey>> {
        Ok(Box::new(self.export(name, ask)?.unlock_asking(ask)?))
    }

    fn store(&self, key: &SecretKey) -> Result<Stored> {
        let mut keys = self.keys();
        let stored = match keys.get(&key.fingerprint()).map(SecretKey::protection) {
            None => Stored::New,
            Some(stored) if replaces(key.protection(), stored) => Stored::InsteadOfStub,
            Some(_) => return Ok(Stored::Kept),
        };
        keys.insert(key.fingerprint(), key.clone());
        Ok(stored)
    }

    fn delete(&self, name: &Name) -> Result<bool> {
        let named = self.named(name);
        let mut keys = self.keys();
        Ok(named.iter().filter(|key| keys.remove(&key.fingerprint()).is_some()).count() > 0)
    }

    fn export(&self, name: &Name, _ask: &mut dyn Ask) -> Result<SecretKey> {
        let found = self.named(name).into_iter().next();
        found.ok_or_else(|| Error::Missing { key: name.to_string() })
    }

    fn relock(
        &self,
        name: &Name,
        ask: &mut dyn Ask,
        renew: &mut dyn FnMut(&Question<'_>) -> Result<Passphrase>,
    ) -> Result<()> {
        let old = self.export(name, ask)?;
        let unlocked = old.unlock_asking(ask)?;
        let new = unlocked.locked_anew(&renew(&Question::New { key: &old.name() })?)?;
        self.keys().insert(new.fingerprint(), new);
        Ok(())
    }
}
